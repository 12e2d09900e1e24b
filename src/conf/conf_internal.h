/* SPDX-License-Identifier: MIT
 * Parsers of the configuration sections, one file each. */
#ifndef CONF_CONF_INTERNAL_H
#define CONF_CONF_INTERNAL_H

#include "base/attr.h"
#include "conf/conf.h"
#include "conf/parse/conf_row.h"

/* Fills *agent from its group, after the defaults. */
int conf_agent_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                     struct conf_agent *agent) MUST_CHECK;
/* Reads the approval rules of the struct conf_agent at `target`. */
int conf_rule_parse_all(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target) MUST_CHECK;
/* Fills *inst from its group, after the defaults; keys unknown to the host become options. */
int conf_instance_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                        struct conf_instance *inst) MUST_CHECK;
/* Parses "PLUGIN[,key=value…]"; the instance gets the plugin's name. */
int conf_instance_parse_spec(const struct conf_row_ctx *r, const char *spec,
                             struct conf_instance *inst) MUST_CHECK;
/* Reads the chaos rules of the struct conf_instance at `target`. */
int conf_chaos_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                     const struct conf_row *row, void *target) MUST_CHECK;
bool conf_chaos_equal(const struct conf_chaos *a, const struct conf_chaos *b);
/* Reads the keys agents and conversations: a list, or a single string; `row` limits the number. */
int conf_scope_read_agents(const struct conf_row_ctx *r, const struct conf_node *n,
                           const struct conf_row *row, void *target) MUST_CHECK;
int conf_scope_read_conversations(const struct conf_row_ctx *r, const struct conf_node *n,
                                  const struct conf_row *row, void *target) MUST_CHECK;
/* Call it when the whole file is read: checks that its agents, and the instances of its
 * conversations, exist. -1: an error was added for each missing one. */
int conf_scope_check(const struct conf_row_ctx *r, const struct conf *c,
                     const struct conf_instance *inst);
/* Reads the list `bindings` of the struct conf_instance at `target`. */
int conf_chat_read_bindings(const struct conf_row_ctx *r, const struct conf_node *n,
                            const struct conf_row *row, void *target) MUST_CHECK;
/* Reads the lists models and cwds of an agent, whose values become arguments. */
int conf_variant_read(const struct conf_row_ctx *r, const struct conf_node *n,
                      const struct conf_row *row, void *target) MUST_CHECK;
/* Call it when all agents are read. */
void conf_variant_make_all(struct arena *a, struct conf *c);
/* Call it when the whole file is read: checks that all choices of chats exist. -1: an error was
 * added for each missing one. */
int conf_chat_check(const struct conf_row_ctx *r, const struct conf *c,
                    const struct conf_instance *inst);
/* An instance of that name and plugin with default settings. Strings are borrowed. */
struct conf_instance conf_instance_make_default(char *name, char *plugin);
/* Call it when the plugin is known. The user at the terminal runs the host, so the terminal needs
 * no list of users who may answer. */
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
/* The group `http.keys` of the struct conf_http at `target`. */
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
/* Reads "USER:PASSWORD", a secret, at the row's offset. */
int conf_proxy_read_credentials(const struct conf_row_ctx *r, const struct conf_node *n,
                                const struct conf_row *row, void *target) MUST_CHECK;
/* A list of host names. */
int conf_bus_read_names(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target);
/* The group `host`: the name of this host, at the row's offset. */
int conf_bus_parse_host(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target) MUST_CHECK;
/* The group `sessions`: the shared directory, at the row's offset. */
int conf_bus_parse_sessions(const struct conf_row_ctx *r, const struct conf_node *n,
                            const struct conf_row *row, void *target) MUST_CHECK;
/* The group `bus`, filled at the row's offset. */
extern const struct conf_bus conf_bus_default;
int conf_bus_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                   const struct conf_row *row, void *target) MUST_CHECK;
/* The group `tls`: a struct conf_tls at the row's offset. */
int conf_tls_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                   const struct conf_row *row, void *target) MUST_CHECK;
/* Stores the path of a file that only its owner may read, at the row's offset. Returns the first
 * line; NULL after adding an error: unreadable, or readable by others. */
const char *conf_tls_read_private_file(const struct conf_row_ctx *r, const struct conf_node *n,
                                       const struct conf_row *row, void *target);
/* Keys of NATS servers for the struct conf_bus at `target`: url, credentials,
 * token, credentials_file.
 * conf_bus_finish_servers, called when they are read, checks dependent keys, and that a connection
 * to another machine is encrypted. */
int conf_bus_read_urls(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target) MUST_CHECK;
int conf_bus_read_credentials(const struct conf_row_ctx *r, const struct conf_node *n,
                              const struct conf_row *row, void *target) MUST_CHECK;
int conf_bus_read_token(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target) MUST_CHECK;
int conf_bus_read_creds_file(const struct conf_row_ctx *r, const struct conf_node *n,
                             const struct conf_row *row, void *target) MUST_CHECK;
int conf_bus_finish_servers(const struct conf_row_ctx *r, const struct conf_node *n,
                            struct conf_bus *bus) MUST_CHECK;
/* A secret of one line: the text, or what `env:` or `file:` names. In the arena. NULL: an error was
 * added. */
const char *conf_transport_read_secret(const struct conf_row_ctx *r, const struct conf_node *n);
/* A transport of kind nats. */
int conf_transport_nats_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                              struct conf_transport *transport) MUST_CHECK;
/* The group `bus.runs`, filled at the row's offset. */
int conf_bus_runs_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target) MUST_CHECK;
/* Checks that events of runs cannot be published to subjects of other hosts. */
int conf_bus_runs_check_replies(const struct conf_row_ctx *r, const struct conf_node *n,
                                const struct conf_bus *bus) MUST_CHECK;
/* Call it when the whole file is read: checks that the key for runs may submit. Adds errors. */
void conf_bus_runs_check(const struct conf_row_ctx *r, const struct conf *c);
/* Call it when the whole file is read: a bus requires a host name, by default the system's. */
void conf_bus_check(const struct conf_row_ctx *r, struct conf *c);
/* Reads the user of an agent, by name, into a struct conf_user *. */
int conf_user_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                    const struct conf_row *row, void *target) MUST_CHECK;
/* Names of agents, instances and keys: letters, digits, - and _. */
int conf_check_name(const struct conf_row_ctx *r, const struct conf_node *n) MUST_CHECK;

/* conf_scope.c: name of a source of turns that is not an instance; reserved. */
bool conf_scope_is_reserved(const char *name);

#endif
