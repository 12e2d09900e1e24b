/* SPDX-License-Identifier: MIT
 * The configuration as a tree of plain structs, read from a libconfig file. Every error names
 * file:line; an unknown key names the nearest known one. */
#ifndef CONF_CONF_H
#define CONF_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/language.h"
#include "base/sys/err.h"
#include "base/sys/finding.h"
#include "base/sys/log.h"

/* All strings and lists live as long as their struct conf. */

/* A "key = value" of an instance for its plugin, still text. */
struct conf_option {
    char *key, *value; /* value NULL: not a valid text; see conf_load_all */
    const char *file;  /* file of `line`; NULL: that of the configuration */
    int line;
    const char *dir; /* base of relative paths; NULL: the working directory */
    bool resolved;   /* the value is the text of a secret, already resolved */
};
/* The option of that key in a list (or NULL) that ends with a NULL key; NULL: none. */
const struct conf_option *conf_option_find(const struct conf_option *options, const char *key);

/* Resource limits of each process of an agent; 0: as for the host. */
struct conf_limits {
    int64_t memory_mb; /* data: heap and other private writable memory */
    int64_t processes; /* processes of its user, including threads */
    int64_t files;     /* open files */
    int64_t cpu_s;
};

/* Grace periods for ending an agent. */
struct conf_grace {
    int64_t exit_ms; /* from the outcome to the first signal */
    int64_t term_ms; /* from SIGTERM to SIGKILL */
};

/* A system user. */
struct conf_user {
    char *name, *home, *shell;
    uid_t uid;
    gid_t gid, *groups; /* groups: supplementary groups */
    size_t n_groups;
};

/* Action for a tool call that needs approval. */
enum conf_action { CONF_ASK, CONF_ALLOW, CONF_DENY };

#define CONF_PLACE_HTTP "http" /* reserved: not a valid name of an instance */

/* Place where a request may be answered: a conversation of an instance, or all of its
 * conversations; over HTTP, or with one API key. */
struct conf_place {
    const char *instance;      /* or CONF_PLACE_HTTP, where chat is the name of a key; NULL ends a
                                * list */
    const char *chat, *thread; /* or NULL */
};

/* An approval rule of an agent; the first matching one decides. */
struct conf_rule {
    enum conf_action action;
    const char *tool;     /* tool name, or a glob */
    const char *argument; /* name of the matched argument; NULL: the main argument of the tool */
    enum conf_match { CONF_ANY, CONF_EXACT, CONF_PREFIX, CONF_GLOB } match;
    const char *pattern;         /* NULL for CONF_ANY */
    const struct conf_place *to; /* NULL: wherever the turn is shown */
    bool four_eyes;              /* the person who asked for the turn may not approve */
    const char *file;
    int line;
};

#define CONF_CHOICES_MAX 20  /* limit of values in models, cwds, agent_choices */
#define CONF_MODEL "{model}" /* placeholder; without a model, its argument is left out */

/* Where visibility and sessions are stored. */
struct conf_store {
    enum conf_store_kind { CONF_SQLITE, CONF_REDIS } kind;
    const char *host, *path; /* of the Redis server; one of both is NULL */
    int64_t port;
    const char *prefix;   /* prefix of all its keys */
    const char *password; /* or NULL */
    int64_t database;
    int64_t session_ttl_s; /* 0: no expiry */
    int64_t lock_s;        /* lease time of a conversation's lock; 0: no locks */
    int64_t lock_wait_s;   /* how long a message waits for an unavailable server */
    char *stream_config;   /* directory of agenticore's visibility files; or NULL */
};

/* What connections with TLS use, in PEM form. */
struct conf_tls {
    const char *ca;         /* path of certificates of authorities; NULL: those of the system */
    const char *cert, *key; /* paths of the own certificate and its key; or both NULL */
};

/* Source of an agent's events, instead of its standard output. */
struct conf_transport {
    enum conf_transport_kind {
        CONF_TRANSPORT_NONE,
        CONF_TRANSPORT_REDIS,
        CONF_TRANSPORT_SSE,
        CONF_TRANSPORT_NATS
    } kind;
    const struct conf_nats *nats; /* for CONF_TRANSPORT_NATS, otherwise NULL */
    struct conf_store redis;      /* its server and prefix */
    struct conf_service {         /* for CONF_TRANSPORT_SSE */
        const char *agent;        /* kind of service: "turncast" */
        char *url;
        char *remote_agent; /* name of the service's agent; or NULL: its default */
        struct conf_tls tls;
        const char *secret; /* "Name: value" lines: headers of each request; or NULL */
        int64_t outage_ms;
    } service;
};

/* Choices of conversations instead of the agent's own values: lists, or NULL. */
struct conf_choices {
    char **models, **cwds;
};

/* A variant of an agent with a choice (conf_agent_choose). */
struct conf_variant {
    char *model;    /* NULL: the agent's own value */
    char *sessions; /* with another cwd: replaces the agent's name for sessions; or NULL */
};

/* Where an agent may run. */
struct conf_runners {
    char **hosts;  /* hosts on the bus that may run it; empty: only this one */
    int64_t slots; /* limit of turns that this host runs for others and itself before it takes no
                    * more */
};

/* Configuration of an agent. Lists are NULL-terminated and never NULL. */
struct conf_agent {
    char *name;
    char **prefix; /* wrapper command before `command`; same placeholders */
    char *
        *command; /* argv; {session_id}, {conversation}, {model} as arguments, or as --option={…} */
    char **resume; /* arguments appended for a resumed session; same placeholders */
    struct conf_transport transport;
    char *dialect; /* "claude" */
    char *mode;    /* permission mode in the agent's own terms; or NULL: default */
    char *cwd;     /* or NULL */
    struct conf_choices choices;
    struct conf_variant variant;
    char **env_pass;        /* names passed from the host's environment, in addition to the basic
                             * ones */
    char **env_set;         /* "K=V" */
    struct conf_user *user; /* user to run as; NULL: the user of the host */
    struct conf_limits limits;
    int64_t turn_timeout_ms;       /* 0: none */
    int64_t idle_timeout_ms;       /* limit of silence on stdout; 0: none */
    int64_t background_timeout_ms; /* limit of background work after an answer; 0: none */
    enum conf_background { CONF_WAIT, CONF_FOLLOW } background; /* of turns of connectors */
    enum conf_running { CONF_QUEUE, CONF_STEER, CONF_INTERRUPT } while_running; /* of a message */
    int64_t keep_alive_ms; /* how long its process waits for the next message; 0: it ends */
    struct conf_grace grace;
    int64_t max_line;       /* bytes */
    int64_t attempts;       /* after temporary errors: rate limit, network, context */
    int64_t ask_timeout_ms; /* an unanswered request is denied after this time; 0: never */
    bool four_eyes;         /* for all approvals: the person who asked for the turn may not
                             * approve */
    struct conf_runners runners;
    const struct conf_rule *rules;
    size_t n_rules;
    const char *file;
    int line;
};

/* Grants of an instance, or of an API key. */
enum { CONF_SUBMIT = 1, CONF_CANCEL = 2, CONF_WATCH = 4, CONF_ANSWER = 8 };
/* Parses a grant's name; NULL: unknown. */
const char *conf_grant_name(unsigned grant);

/* Injected faults, for tests. */
enum conf_chaos_act {
    CHAOS_NOTHING, /* ends a list of rules */
    CHAOS_ERROR,   /* instead of the callback */
    CHAOS_DELAY,   /* this and the following: before the callback */
    CHAOS_HANG,
    CHAOS_CRASH,
    CHAOS_ABORT,
    CHAOS_EXIT,
    CHAOS_LEAK,
    CHAOS_CLOSE,
    CHAOS_GARBAGE,
};

/* A rule: applies to each matching callback, each N-th, or a random part. */
struct conf_chaos {
    enum conf_chaos_act what;
    const char *callback; /* "on_final", "init"…; NULL: all except init and teardown */
    const char *text;     /* text in the event's line; NULL: any, including calls without an
                           * event */
    const char *trigger;  /* only while this file exists; or NULL */
    int64_t every;        /* 0: see rate */
    double rate;          /* negative: always */
    int64_t seed;
    int64_t delay_ms, bytes; /* for CHAOS_DELAY, for CHAOS_LEAK */
};

/* Scope of an instance: the turns that it receives (conf_scope.h). */
struct conf_scope {
    char **agents;        /* only turns of these agents; NULL: all */
    char **conversations; /* only turns of these conversations: keys, or prefixes of keys followed
                           * by *; NULL: all */
    enum conf_turns { CONF_TURNS_DEFAULT, CONF_TURNS_OWN, CONF_TURNS_ALL } turns;
    /* On a bus: whether only one host runs the instance; default: yes for a connector of a service
     * with rate limits. ⏎ */
    enum conf_lead { CONF_LEAD_DEFAULT, CONF_LEAD_ONE, CONF_LEAD_EACH } lead;
    const char *agents_file, *conversations_file;
    int agents_line, conversations_line;
};

/* Binding of a conversation of an instance to another agent, model or directory. Each member except
 * chat may be NULL. ⏎ */
struct conf_binding {
    const char *chat, *thread; /* thread NULL: the whole chat */
    const char *agent, *model, *cwd;
    const char *file;
    int line; /* 0 ends a list */
};

/* Options of chats of an instance. */
struct conf_chat {
    enum language language; /* language of the host's texts there */
    char **agents;          /* agent_choices: agents that a conversation may choose; or NULL */
    const struct conf_binding *bindings; /* or NULL */
    bool pairing;                        /* an unknown person gets a pairing code */
    char **transcribe;                   /* program and arguments that transcribe sound files; or
                                          * NULL */
};

struct conf_instance {
    char *name;
    char *plugin; /* name of a plugin, or path of a .so; NULL: see conf_load_all */
    bool enabled;
    char *agent;                 /* agent for its messages; NULL: the default one */
    unsigned grants;             /* CONF_… */
    char **allow;                /* ids of permitted people; NULL or empty: none */
    char **allow_chats;          /* ids of permitted chats; NULL: all */
    char **approvers;            /* people of `allow` who may answer requests; NULL: all of them */
    bool sees_all, sees_all_set; /* visibility = "all" | "agent"; otherwise the plugin's default */
    char *audience;              /* or NULL: the plugin's */
    struct conf_scope scope;
    struct conf_chat chat;
    bool wants_state, wants_raw; /* wants = ["state", "raw"] */
    int64_t queue_events, queue_bytes;
    int64_t init_ms, callback_ms; /* deadlines of init and of one callback; 0: the defaults */
    enum conf_isolation { CONF_ISOLATION_DEFAULT, CONF_PROCESS, CONF_THREAD } isolation;
    /* For an instance with a process: */
    int64_t *ports;      /* TCP ports to which it may connect; ends with 0; NULL: none */
    char **paths;        /* writable directories; or NULL */
    int64_t memory_mb;   /* restarted above this */
    int64_t cpu_percent; /* of one processor, within half a minute; above this, its priority is
                          * lowered */
    int64_t threads;     /* killed above this, and above the next */
    int64_t disk_mb;     /* in its directory below the state directory */
    struct conf_option *options; /* ends with a NULL key */
    struct conf_chaos *chaos;    /* or NULL */
    const char *file;            /* file of `line`; NULL: that of the configuration */
    int line;
};

/* Limits for turns of messages. */
struct conf_conversations {
    int64_t queue;       /* queued messages in a conversation */
    int64_t debounce_ms; /* a burst ends after this silence */
    int64_t max_turns;   /* concurrent turns of the host */
    int64_t max_warm;    /* agents that wait for a message, or work in the background */
    int64_t max_warm_mb; /* memory of all of them together; 0: no limit */
    int64_t per_user;    /* concurrent turns of one person */
    int64_t drain_ms;    /* time for running turns at shutdown */
};

/* Scope of a daily budget: the whole host, or each agent, conversation, person, or API key. */
enum conf_budget_scope {
    CONF_BUDGET_HOST,
    CONF_BUDGET_AGENT,
    CONF_BUDGET_CONVERSATION,
    CONF_BUDGET_PERSON,
    CONF_BUDGET_KEY,
};
#define CONF_BUDGET_SCOPES 5
/* Name in the configuration, the journal and metrics. */
const char *conf_budget_scope_name(enum conf_budget_scope scope);

/* 0: no limit. */
struct conf_budget {
    int64_t micros; /* millionths of a US dollar */
    int64_t tokens; /* input, including caches, and output */
};

struct conf_budgets {
    bool utc; /* days are UTC days, not local ones */
    struct conf_budget scopes[CONF_BUDGET_SCOPES];
};

/* Retention of the journal: times and numbers. */
struct conf_retention {
    int64_t turns_days; /* ended turns, ids of their messages */
    int64_t results_mb; /* results for GET /turns/ID; above, the oldest are deleted */
    int64_t undelivered_hours, undelivered, undelivered_mb; /* above: become dead letters */
    int64_t dead_days, dead_letters, dead_mb;               /* above: the oldest are deleted */
    int64_t usage_days;                                     /* usage sums */
    int64_t conversations_days; /* session and usage of a conversation without turns; 0: for ever */
};

/* An API key of the HTTP server. */
struct conf_http_key {
    char *name;         /* name of the principal */
    char *source;       /* source of the secret, for secret_resolve */
    const char *secret; /* NULL before conf_resolve_keys */
    unsigned grants;    /* CONF_… */
    bool shares;        /* shared_conversations: shares conversations with other keys that have
                         * this, and with agenticore */
    const char *file;
    int line;
};

/* Lists are NULL-terminated and never NULL. */
struct conf_http {
    char *listen;      /* "ADDRESS:PORT", or NULL: no server */
    bool allow_remote; /* the address need not be a loopback one */
    bool remote;       /* the address is not a loopback one */
    char **hosts;      /* further host names of the server, without port; "*": any */
    char **origins;    /* permitted origins of web pages, "https://example.org" */
    struct conf_http_key *keys;
    size_t n_keys;              /* 0: every client may do everything */
    bool sees_all;              /* visibility = "all" | "agent": of events of turns */
    bool continue_disconnected; /* on_disconnect = "continue" | "cancel": for a turn whose client
                                 * disconnected */
    bool repeats_final; /* final_text = "repeated" | "once": in a streamed chat completion */
    int64_t disconnect_grace_ms; /* grace period for a client to return before its turn is
                                  * cancelled */
    int64_t max_body;            /* limit of a request body */
};

/* Proxy for outbound HTTP requests and websockets. */
struct conf_proxy {
    const char *url;         /* "http://HOST:PORT", https:, socks5:, socks5h:; or NULL: none */
    const char *credentials; /* "USER:PASSWORD", a secret; or NULL */
    char **no_proxy;         /* hosts and domains reached without it */
};

#define CONF_HOST_NAME_MAX 32

/* Runs that other programs request over NATS with the protocol of tirea's gateway. */
struct conf_bus_runs {
    const char *key; /* API key of http.keys, on whose behalf they run; NULL: disabled */
    bool ag_ui;      /* subject for AG-UI clients */
    bool ai_sdk;     /* subject for clients of the AI SDK */
    int64_t max;     /* limit of concurrent runs on this host */
    char **replies;  /* permitted reply subjects: "PREFIX.>"; NULL-terminated */
    const char *file;
    int line;
};

/* The NATS servers that several hosts share. */
struct conf_bus {
    char **urls; /* "nats://HOST:PORT", "tls://HOST:PORT"; NULL: no bus */
    const char *prefix;
    int64_t replicas;        /* replicas of streams and buckets: 1, 3 or 5 */
    const char *credentials; /* "USER:PASSWORD", a secret; or NULL */
    const char *token;       /* a secret; or NULL */
    const char *creds_file;  /* path of a NATS credentials file; or NULL */
    struct conf_tls tls;
    bool is_encrypted;     /* requires an encrypted connection */
    bool insecure;         /* permits an unencrypted connection to another machine */
    bool is_gateway;       /* role: gives turns to other hosts, as agents.*.hosts says */
    bool is_runner;        /* role: runs agents, also for other hosts */
    int64_t lost_after_ms; /* a host absent for this time has lost its turns */
    int64_t move_after_ms; /* … and its conversations move to another host */
    enum conf_bus_loss {
        CONF_LOSS_FINISH,
        CONF_LOSS_KILL
    } on_loss; /* of turns of other hosts, when this one is without the bus for lost_after_ms */
    struct conf_bus_runs runs;
    const char *file;
    int line;
};

/* Location of an agent that runs over NATS. */
struct conf_nats {
    struct conf_bus servers; /* connection of its servers; the other members are unused */
    const char *subject;     /* subject for its runs */
    const char *agent;       /* its name there; or NULL: the default one */
};

struct conf {
    const struct conf_agent *variants; /* variants of agents: one for each choice of model and
                                        * cwd */
    size_t n_variants;
    unsigned refs; /* references in addition to the loader's */
    char *file;    /* path, or "(built in)" */
    struct conf_agent *agents;
    size_t n_agents;
    char *default_agent; /* or NULL: the only one, otherwise "default" */
    char **plugin_dirs;  /* NULL-terminated */
    bool autoload;       /* load plugins in the directories that no instance names */
    struct conf_instance *instances;
    size_t n_instances;
    signed char show[5]; /* default visibility in the order of visibility_key; -1 unset */
    char *state_dir;
    struct conf_conversations conversations;
    struct conf_budgets budgets;
    struct conf_retention retention;
    struct conf_http http;
    struct conf_store store;
    struct conf_proxy proxy;
    struct conf_bus bus;
    char *sessions_shared; /* directory of the agents' sessions that all hosts have; or NULL */
    char *host_name;       /* name of this host on the bus; NULL: no bus, and no name in the file */
    enum log_level log_level;
    enum log_format log_format;
};

/* Whether this host may run the agent. */
bool conf_agent_runs_here(const struct conf *c, const struct conf_agent *agent);
/* Whether this host may give turns of the agent to other hosts. */
bool conf_agent_is_shared(const struct conf *c, const struct conf_agent *agent);
/* Reads a file, with the files of conf.d (conf_merge.h); NULL with err. `path` NULL: the built-in
 * configuration (the cli plugin, no agent). The file is refused if other users may write to it. A
 * file without plugins.instances gets the instance cli. */
struct conf *conf_load(const char *path, struct tc_err *err);
/* The same for a check: adds all errors to the findings, and returns the readable part, in which
 * invalid members have their defaults, and an agent's command, an instance's plugin, a key's source
 * or an option's value may be missing. NULL: the file could not be parsed. */
struct conf *conf_load_all(const char *path, struct findings *findings);
/* Path of the configuration to use by default: $TURNCAST_CONFIG, the user's, the system's; NULL:
 * none exists. Owned. */
char *conf_default_path(void);
/* Path at which this user's configuration belongs: $TURNCAST_CONFIG, or the user's. Owned. */
char *conf_user_path(void);
/* References: a user of any part of the configuration must hold one; releasing the last one frees
 * it. Not thread-safe. NULL is allowed. */
const struct conf *conf_ref(const struct conf *c);
void conf_unref(const struct conf *c);
/* Reads the secrets of API keys, which only a serving host needs. -1 with err: one is unreadable,
 * too short, or used by two keys. */
int conf_resolve_keys(struct conf *c, struct tc_err *err) MUST_CHECK;
int conf_check_keys(struct conf *c, struct findings *findings); /* adds all errors */
/* -1 with err ("file:line"): the agent has a user, and this process is not root. */
int conf_check_agent_user(const struct conf *c, const struct conf_agent *a,
                          struct tc_err *err) MUST_CHECK;
/* "FILE:LINE" of an object, or only the file name if the line is 0. `file` NULL: that of the
 * configuration. Owned. */
char *conf_format_place(const struct conf *c, const char *file, int line);
/* The executed program of the agent. */
const char *conf_agent_program(const struct conf_agent *a);
/* Start of the placeholder in an argument: at its start, or behind its first =; NULL: none. */
const char *conf_find_placeholder(const char *arg);
/* NULL: unknown agent (name NULL: the default one). Borrowed. */
const struct conf_agent *conf_agent_find(const struct conf *c, const char *name);
/* The variant of the agent with that model and working directory (NULL: its own). NULL: not in its
 * lists. Borrowed. */
const struct conf_agent *conf_agent_choose(const struct conf *c, const struct conf_agent *agent,
                                           const char *model, const char *cwd);
/* The same variant in another configuration, without values that are no longer in its lists. NULL:
 * the agent no longer exists. */
const struct conf_agent *conf_agent_find_again(const struct conf *c,
                                               const struct conf_agent *agent);
/* Name under which its sessions are stored: a session belongs to one working directory. */
const char *conf_agent_session_name(const struct conf_agent *agent);
/* The first binding of the configuration for the conversation of that key (inbound_make_key). NULL:
 * none. */
const struct conf_binding *conf_binding_find(const struct conf_instance *inst, const char *key);
/* Whether a conversation of the instance may choose that agent. */
bool conf_chat_allows_agent(const struct conf *c, const struct conf_instance *inst,
                            const struct conf_agent *agent);
/* Suffix of an error about an unknown name: ' (did you mean "NAME"?)', or ' (configured: …)'. */
void conf_add_agent_hint(const struct conf *c, const char *name, struct buf *out);
void conf_add_instance_hint(const struct conf *c, const char *name, struct buf *out);
/* Appends the names of the agents, separated by commas; "none" if there are none. */
void conf_add_agent_names(const struct conf *c, struct buf *out);
/* NULL: unknown instance. Borrowed. */
const struct conf_instance *conf_instance_find(const struct conf *c, const char *name);
/* Key i of the host for every instance, in addition to the plugin's options; NULL behind the
 * last. */
const char *conf_instance_key_at(size_t i);
/* Whether all keys that need a restart are equal; others (agent, grants, allow, allow_chats,
 * approvers, scope) are looked up when needed. */
bool conf_instance_equal(const struct conf_instance *a, const struct conf_instance *b);
/* Removes the instances of the file, which --plugin replaces. */
void conf_remove_instances(struct conf *c);
/* Parses "NAME|FILE.so[,key=value…]" of --plugin, and appends an instance to c; a comma in a value
 * is written as \, and the second instance of a plugin is named NAME-2. */
int conf_add_plugin(struct conf *c, const char *spec, struct tc_err *err) MUST_CHECK;

#endif
