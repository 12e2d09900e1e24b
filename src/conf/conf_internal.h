/* SPDX-License-Identifier: MIT
 * Parsers of the configuration sections, one file each. */
#ifndef CONF_CONF_INTERNAL_H
#define CONF_CONF_INTERNAL_H

#include "base/attr.h"
#include "conf/conf.h"
#include "conf/parse/conf_row.h"

/* Fills *agent from its group, defaults first. */
int conf_agent_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                     struct conf_agent *agent) MUST_CHECK;
/* The rules of an agent's approvals, into the struct conf_agent that target is. */
int conf_rule_parse_all(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target) MUST_CHECK;
/* Fills *inst from its group, defaults first; keys that are not the host's become options. */
int conf_instance_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                        struct conf_instance *inst) MUST_CHECK;
/* The same from "PLUGIN[,key=value…]"; the name is the plugin's. */
int conf_instance_parse_spec(const struct conf_row_ctx *r, const char *spec,
                             struct conf_instance *inst) MUST_CHECK;
/* The rules of chaos, into the struct conf_instance that target is. */
int conf_chaos_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                     const struct conf_row *row, void *target) MUST_CHECK;
bool conf_chaos_equal(const struct conf_chaos *a, const struct conf_chaos *b);
/* The keys agents and conversations: a list, or one text; `row` says how many. */
int conf_scope_read_agents(const struct conf_row_ctx *r, const struct conf_node *n,
                           const struct conf_row *row, void *target) MUST_CHECK;
int conf_scope_read_conversations(const struct conf_row_ctx *r, const struct conf_node *n,
                                  const struct conf_row *row, void *target) MUST_CHECK;
/* Once all is read: its agents, and the instances of its conversations, are there. -1: an error was
 * added for each that is not. */
int conf_scope_check(const struct conf_row_ctx *r, const struct conf *c,
                     const struct conf_instance *inst);
/* The list `bindings` of the struct conf_instance that target is. */
int conf_chat_read_bindings(const struct conf_row_ctx *r, const struct conf_node *n,
                            const struct conf_row *row, void *target) MUST_CHECK;
/* The lists models and cwds of an agent, whose values are arguments. */
int conf_variant_read(const struct conf_row_ctx *r, const struct conf_node *n,
                      const struct conf_row *row, void *target) MUST_CHECK;
/* Once all agents are read. */
void conf_variant_make_all(struct arena *a, struct conf *c);
/* Once all is read: what chats may choose is there. -1: an error was added for each that is not. */
int conf_chat_check(const struct conf_row_ctx *r, const struct conf *c,
                    const struct conf_instance *inst);
/* An instance of that name and plugin with nothing but defaults. Strings are borrowed. */
struct conf_instance conf_instance_make_default(char *name, char *plugin);
/* Once its plugin is known: who sits at the terminal runs the host, so there nobody has to be named
 * to answer. */
void conf_instance_apply_plugin(struct arena *a, struct conf_instance *inst);
/* The groups `conversations` and `http`, filled at the row's offset. */
int serve_read_conversations(const struct conf_row_ctx *r, const struct conf_node *n,
                             const struct conf_row *row, void *target) MUST_CHECK;
int serve_read_http(const struct conf_row_ctx *r, const struct conf_node *n,
                    const struct conf_row *row, void *target) MUST_CHECK;
/* The group `budgets`, filled at the row's offset. */
int conf_budget_parse_all(const struct conf_row_ctx *r, const struct conf_node *n,
                          const struct conf_row *row, void *target) MUST_CHECK;
/* The group `retention`, filled at the row's offset. */
extern const struct conf_retention conf_retention_default;
int conf_retention_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                         const struct conf_row *row, void *target) MUST_CHECK;
/* The group `http.keys`, of which target is the struct conf_http. */
int conf_http_key_parse_all(const struct conf_row_ctx *r, const struct conf_node *n,
                            const struct conf_row *row, void *target) MUST_CHECK;
int conf_http_key_resolve_all(struct conf_http *http, const char *file, struct arena *a,
                              struct findings *findings) MUST_CHECK;
/* The group `store`. */
int conf_store_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                     const struct conf_row *row, void *target) MUST_CHECK;
/* The group `transport` of an agent, filled at the row's offset. */
int conf_transport_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                         const struct conf_row *row, void *target) MUST_CHECK;
/* The group `proxy`. */
int proxy_read(const struct conf_row_ctx *r, const struct conf_node *n, const struct conf_row *row,
               void *target) MUST_CHECK;
/* "USER:PASSWORD", a secret: its text, at the row's offset. */
int conf_proxy_read_credentials(const struct conf_row_ctx *r, const struct conf_node *n,
                                const struct conf_row *row, void *target) MUST_CHECK;
/* A list of names that hosts can have. */
int conf_bus_read_names(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target);
/* The group `host`: the name, at the row's offset. */
int conf_bus_parse_host(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target) MUST_CHECK;
/* The group `bus`, filled at the row's offset. */
extern const struct conf_bus conf_bus_default;
int conf_bus_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                   const struct conf_row *row, void *target) MUST_CHECK;
/* The keys of NATS servers, of the struct conf_bus that target is: url, credentials_file, the rows
 * of the group tls. Once they are read: what belongs together is there, and a connection to another
 * machine is encrypted. */
int conf_bus_read_urls(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target) MUST_CHECK;
int conf_bus_read_creds_file(const struct conf_row_ctx *r, const struct conf_node *n,
                             const struct conf_row *row, void *target) MUST_CHECK;
extern const struct conf_row conf_bus_tls_rows[];
int conf_bus_finish_servers(const struct conf_row_ctx *r, const struct conf_node *n,
                            struct conf_bus *bus) MUST_CHECK;
/* A transport of kind nats. */
int conf_transport_nats_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                              struct conf_transport *transport) MUST_CHECK;
/* The group `bus.runs`, filled at the row's offset. */
int conf_bus_runs_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target) MUST_CHECK;
/* The events of runs are not published where other hosts take them for their own. */
int conf_bus_runs_check_replies(const struct conf_row_ctx *r, const struct conf_node *n,
                                const struct conf_bus *bus) MUST_CHECK;
/* Once all is read: runs are on behalf of a key that may submit. Adds errors. */
void conf_bus_runs_check(const struct conf_row_ctx *r, const struct conf *c);
/* Once all is read: a bus needs the name of the host, which is the system's by default. */
void conf_bus_check(const struct conf_row_ctx *r, struct conf *c);
/* An agent's user, by name: a struct conf_user *. */
int conf_user_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                    const struct conf_row *row, void *target) MUST_CHECK;
/* Names of agents, instances and keys: letters, digits, - and _. */
int conf_check_name(const struct conf_row_ctx *r, const struct conf_node *n) MUST_CHECK;

/* conf_scope.c: a name of a source of turns that is no instance; no instance can have it. */
bool conf_scope_is_reserved(const char *name);

#endif
