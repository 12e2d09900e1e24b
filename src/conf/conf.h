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

/* One "key = value" of an instance that belongs to its plugin, still text. */
struct conf_option {
    char *key, *value; /* value NULL: it was no text; see conf_load_all */
    const char *file;  /* as line; NULL: that of the configuration */
    int line;
    const char *dir; /* that relative paths begin at; NULL: the working directory */
    bool resolved;   /* of a secret: the value is the secret itself */
};
/* The option of that key in a list that ends with a NULL key, or NULL. The list may be NULL. */
const struct conf_option *conf_option_find(const struct conf_option *options, const char *key);

/* What each process of an agent may use; 0: what the host may. */
struct conf_limits {
    int64_t memory_mb; /* data: heap and what else is its own and written to */
    int64_t processes; /* of its user, threads included */
    int64_t files;     /* open at once */
    int64_t cpu_s;
};

/* How long an agent gets to end by itself. */
struct conf_grace {
    int64_t exit_ms; /* from the outcome to the first signal */
    int64_t term_ms; /* from SIGTERM to SIGKILL */
};

/* Somebody the system knows. */
struct conf_user {
    char *name, *home, *shell;
    uid_t uid;
    gid_t gid, *groups; /* groups: all of them */
    size_t n_groups;
};

/* What becomes of a call that an agent asks leave for. */
enum conf_action { CONF_ASK, CONF_ALLOW, CONF_DENY };

#define CONF_PLACE_HTTP "http" /* no instance can be called that */

/* Where a question is asked: in a conversation of an instance, or in all that it has; over HTTP, or
 * for one of its keys. */
struct conf_place {
    const char *instance; /* or CONF_PLACE_HTTP, then chat is the name of a key; NULL ends a list */
    const char *chat, *thread; /* or NULL */
};

/* One rule of an agent's approvals; the first that fits decides. */
struct conf_rule {
    enum conf_action action;
    const char *tool; /* its name, or a glob */
    const char
        *argument; /* the name of the one that is looked at; NULL: the main one of the tool */
    enum conf_match { CONF_ANY, CONF_EXACT, CONF_PREFIX, CONF_GLOB } match;
    const char *pattern;         /* NULL of CONF_ANY */
    const struct conf_place *to; /* NULL: wherever the turn is shown */
    bool four_eyes;              /* whoever asked for the turn may not approve */
    const char *file;
    int line;
};

#define CONF_CHOICES_MAX 20  /* values of models, of cwds, of agent_choices */
#define CONF_MODEL "{model}" /* placeholder; without a model its argument is left out */

/* Where the switches of agents and the sessions of conversations are kept. */
struct conf_store {
    enum conf_store_kind { CONF_SQLITE, CONF_REDIS } kind;
    const char *host, *path; /* of the Redis server: one of them is NULL */
    int64_t port;
    const char *prefix;   /* of all its keys */
    const char *password; /* or NULL */
    int64_t database;
    int64_t session_ttl_s; /* 0: for ever */
    int64_t lock_s;        /* for which a conversation is locked; 0: it is not */
    int64_t lock_wait_s;   /* for which a message waits for a server that is away */
    char *stream_config;   /* directory of agenticore's files of switches; or NULL */
};

/* Where the events of an agent come from, instead of its standard output. */
struct conf_transport {
    enum conf_transport_kind {
        CONF_TRANSPORT_NONE,
        CONF_TRANSPORT_REDIS,
        CONF_TRANSPORT_SSE,
        CONF_TRANSPORT_NATS
    } kind;
    const struct conf_nats *nats; /* of CONF_TRANSPORT_NATS, else NULL */
    struct conf_store redis;      /* its server and prefix */
    struct conf_service {         /* of CONF_TRANSPORT_SSE */
        const char *agent;        /* the kind of service: "turncast" */
        char *url;
        char *remote_agent; /* which of the service's agents; or NULL: its default */
        char *ca_file;      /* or NULL */
        const char *secret; /* "Name: value" lines, the headers of each request; or NULL */
        int64_t outage_ms;
    } service;
};

/* What a conversation may choose instead of the agent's own: lists, or NULL. */
struct conf_choices {
    char **models, **cwds;
};

/* An agent with one of its choices (conf_agent_choose). */
struct conf_variant {
    char *model;    /* NULL: the agent's own */
    char *sessions; /* with another cwd: in place of the name, for sessions; or NULL */
};

/* Where an agent runs. */
struct conf_runners {
    char **hosts;  /* on the bus, that may run it; none: this one alone */
    int64_t slots; /* turns that this host runs at once before it takes no more of others */
};

/* How an agent is run. Lists are NULL-terminated and never NULL. */
struct conf_agent {
    char *name;
    char **prefix; /* argv in front of command: a wrapper that runs it; same placeholders */
    char *
        *command; /* argv; {session_id}, {conversation}, {model} as arguments, or as --option={…} */
    char **resume; /* appended when a session is resumed; same placeholders */
    struct conf_transport transport;
    char *dialect; /* "claude" */
    char *mode;    /* how freely it may act, in its own word; or NULL: as it is */
    char *cwd;     /* or NULL */
    struct conf_choices choices;
    struct conf_variant variant;
    char **env_pass;        /* names passed on from the host's environment, beside the basic ones */
    char **env_set;         /* "K=V" */
    struct conf_user *user; /* whom it runs as; NULL: as the host */
    struct conf_limits limits;
    int64_t turn_timeout_ms;       /* 0: none */
    int64_t idle_timeout_ms;       /* silence on stdout; 0: none */
    int64_t background_timeout_ms; /* from an answer, while background work is open; 0: none */
    enum conf_background { CONF_WAIT, CONF_FOLLOW } background; /* of turns of connectors */
    enum conf_running { CONF_QUEUE, CONF_STEER, CONF_INTERRUPT } while_running; /* of a message */
    int64_t keep_alive_ms; /* how long its process waits for the next message; 0: it ends */
    struct conf_grace grace;
    int64_t max_line;       /* bytes */
    int64_t attempts;       /* of a turn whose error may pass: rate limit, network, context */
    int64_t ask_timeout_ms; /* a question that nobody answered is denied; 0: never */
    bool four_eyes;         /* of all approvals: whoever asked for the turn may not approve */
    struct conf_runners runners;
    const struct conf_rule *rules;
    size_t n_rules;
    const char *file;
    int line;
};

/* What an instance, or who has a key of the HTTP server, may ask of the host. */
enum { CONF_SUBMIT = 1, CONF_CANCEL = 2, CONF_WATCH = 4, CONF_ANSWER = 8 };
/* One of them as the configuration names it; NULL: there is no such grant. */
const char *conf_grant_name(unsigned grant);

/* What goes wrong in an instance, for tests. */
enum conf_chaos_act {
    CHAOS_NOTHING, /* ends a list of rules */
    CHAOS_ERROR,   /* instead of the callback */
    CHAOS_DELAY,   /* and below: before it */
    CHAOS_HANG,
    CHAOS_CRASH,
    CHAOS_ABORT,
    CHAOS_EXIT,
    CHAOS_LEAK,
    CHAOS_CLOSE,
    CHAOS_GARBAGE,
};

/* One rule: of the callbacks that it is about, each, each N-th, or some by chance. */
struct conf_chaos {
    enum conf_chaos_act what;
    const char *callback; /* "on_final", "init"…; NULL: any but init and teardown */
    const char *text;     /* in the event's line; NULL: any, and what is no event */
    const char *trigger;  /* only while this file is there; or NULL */
    int64_t every;        /* 0: see rate */
    double rate;          /* negative: always */
    int64_t seed;
    int64_t delay_ms, bytes; /* of CHAOS_DELAY, of CHAOS_LEAK */
};

/* Which turns an instance is told of (conf_scope.h). */
struct conf_scope {
    char **agents;        /* only turns of these; NULL: of all */
    char **conversations; /* only turns of these: keys, or beginnings of keys with a * behind; NULL:
                             of all */
    enum conf_turns { CONF_TURNS_DEFAULT, CONF_TURNS_OWN, CONF_TURNS_ALL } turns;
    /* On a bus: one host runs the instance for all; default: what speaks to a service at a pace of
     * its own.
     */
    enum conf_lead { CONF_LEAD_DEFAULT, CONF_LEAD_ONE, CONF_LEAD_EACH } lead;
    const char *agents_file, *conversations_file;
    int agents_line, conversations_line;
};

/* What runs in a conversation of an instance instead of its own agent. Each but chat may be NULL.
 */
struct conf_binding {
    const char *chat, *thread; /* thread NULL: all of the chat */
    const char *agent, *model, *cwd;
    const char *file;
    int line; /* 0 ends a list */
};

/* What people may do in the chats of an instance. */
struct conf_chat {
    enum language language; /* of what the host says there */
    char *
        *agents; /* agent_choices: that a conversation may choose beside the instance's; or NULL */
    const struct conf_binding *bindings; /* or NULL */
    bool pairing;                        /* a stranger gets a code to be let in */
    char **transcribe;                   /* program and arguments for files of sounds; or NULL */
};

struct conf_instance {
    char *name;
    char *plugin; /* a plugin's name, or the path of a .so; NULL: see conf_load_all */
    bool enabled;
    char *agent;                 /* that its messages go to; NULL: the default one */
    unsigned grants;             /* CONF_… */
    char **allow;                /* ids of people who may; NULL or empty: nobody */
    char **allow_chats;          /* ids of chats in which they may; NULL: all */
    char **approvers;            /* those of allow who may answer questions; NULL: all of them */
    bool sees_all, sees_all_set; /* visibility = "all" | "agent"; else the plugin's own default */
    char *audience;              /* or NULL: the plugin's */
    struct conf_scope scope;
    struct conf_chat chat;
    bool wants_state, wants_raw; /* wants = ["state", "raw"] */
    int64_t queue_events, queue_bytes;
    int64_t init_ms, callback_ms; /* deadlines of init and of one callback; 0: the defaults */
    enum conf_isolation { CONF_ISOLATION_DEFAULT, CONF_PROCESS, CONF_THREAD } isolation;
    /* Of one with a process of its own: */
    int64_t *ports;      /* TCP ports it may connect to; ends with 0; NULL: none */
    char **paths;        /* folders it may write to; or NULL */
    int64_t memory_mb;   /* with more it starts anew */
    int64_t cpu_percent; /* of one processor, over half a minute; beyond it is slowed down */
    int64_t threads;     /* with more it is killed, as with the next */
    int64_t disk_mb;     /* in its folder in the state directory */
    struct conf_option *options; /* ends with a NULL key */
    struct conf_chaos *chaos;    /* or NULL */
    const char *file;            /* as line; NULL: that of the configuration */
    int line;
};

/* How messages of people become turns. */
struct conf_conversations {
    int64_t queue;       /* messages that may wait in one conversation */
    int64_t debounce_ms; /* a burst ends with so long a silence */
    int64_t max_turns;   /* at once in the host */
    int64_t max_warm;    /* agents that wait for a message, or work in the background */
    int64_t max_warm_mb; /* memory of all of those together; 0: no limit */
    int64_t per_user;    /* at once of one person */
    int64_t drain_ms;    /* what running turns get when the host is asked to end */
};

/* What a budget of one day limits: the whole host, or each agent, conversation, person, or key of
 * the HTTP server. */
enum conf_budget_scope {
    CONF_BUDGET_HOST,
    CONF_BUDGET_AGENT,
    CONF_BUDGET_CONVERSATION,
    CONF_BUDGET_PERSON,
    CONF_BUDGET_KEY,
};
#define CONF_BUDGET_SCOPES 5
/* As the configuration, the journal and metrics name it. */
const char *conf_budget_scope_name(enum conf_budget_scope scope);

/* 0: no limit. */
struct conf_budget {
    int64_t micros; /* millionths of a US dollar */
    int64_t tokens; /* input, with caches, and output */
};

struct conf_budgets {
    bool utc; /* days begin at midnight UTC, not of the local time zone */
    struct conf_budget scopes[CONF_BUDGET_SCOPES];
};

/* How long the journal keeps what is over, and how much of it. */
struct conf_retention {
    int64_t turns_days; /* turns that have ended, ids of their messages */
    int64_t results_mb; /* answers for GET /turns/ID; beyond it the oldest are dropped */
    int64_t undelivered_hours, undelivered, undelivered_mb; /* beyond: dead letters */
    int64_t dead_days, dead_letters, dead_mb;               /* beyond: the oldest are deleted */
    int64_t usage_days;                                     /* sums of usage */
    int64_t conversations_days; /* session and usage of a conversation without turns; 0: for ever */
};

/* Who may use the HTTP server. */
struct conf_http_key {
    char *name;         /* of the principal */
    char *source;       /* where the secret comes from, as secret_resolve takes it */
    const char *secret; /* NULL before conf_resolve_keys */
    unsigned grants;    /* CONF_… */
    bool shares;        /* shared_conversations: with all keys that have this, and agenticore */
    const char *file;
    int line;
};

/* Lists are NULL-terminated and never NULL. */
struct conf_http {
    char *listen;      /* "ADDRESS:PORT", or NULL: there is no server */
    bool allow_remote; /* the address may be another than a loopback one */
    bool remote;       /* and is */
    char **hosts;      /* names it answers to beside its address, without port; "*": any */
    char **origins;    /* web pages that may ask, "https://example.org" */
    struct conf_http_key *keys;
    size_t n_keys; /* 0: whoever reaches it may do everything */
    bool sees_all; /* visibility = "all" | "agent": of a turn's events */
    bool
        continue_disconnected; /* on_disconnect = "continue" | "cancel": a turn whose client left */
    bool repeats_final;        /* final_text = "repeated" | "once": of a streamed chat completion */
    int64_t disconnect_grace_ms; /* a client may come back before its turn is cancelled */
    int64_t max_body;            /* bytes of a request's body */
};

/* The way to services: of the host's HTTP requests and websockets. */
struct conf_proxy {
    const char *url;         /* "http://HOST:PORT", https:, socks5:, socks5h:; or NULL: none */
    const char *credentials; /* "USER:PASSWORD", a secret; or NULL */
    char **no_proxy;         /* hosts and domains that are reached without it */
};

#define CONF_HOST_NAME_MAX 32

/* Runs that other programs ask for through the bus, as tirea's gateway takes them. */
struct conf_bus_runs {
    const char *key; /* of http.keys, on whose behalf they are; NULL: none are taken */
    bool ag_ui;      /* of AG-UI clients */
    bool ai_sdk;     /* of clients of the AI SDK */
    int64_t max;     /* at the same time on this host */
    char **replies;  /* subjects that may be replied to: "PREFIX.>"; NULL-terminated */
    const char *file;
    int line;
};

/* The NATS servers that several hosts share. */
struct conf_bus {
    char **urls; /* "nats://HOST:PORT", "tls://HOST:PORT"; NULL: there is no bus */
    const char *prefix;
    int64_t replicas;        /* of streams and buckets: 1, 3 or 5 */
    const char *credentials; /* "USER:PASSWORD", a secret; or NULL */
    const char *creds_file;  /* path of a NATS credentials file; or NULL */
    const char *ca;          /* path of certificates; NULL: those of the system */
    const char *cert, *key;  /* paths of the host's own certificate and its key; or NULL */
    bool tls;                /* the connection is encrypted */
    bool insecure;           /* it need not be, to other machines */
    bool is_gateway;         /* gives its turns to other hosts, where agents.*.hosts says so */
    bool is_runner;          /* runs agents, also for other hosts */
    int64_t lost_after_ms;   /* a host that is not there for so long has lost its turns */
    int64_t move_after_ms;   /* … its conversations go on at another one */
    enum conf_bus_loss {
        CONF_LOSS_FINISH,
        CONF_LOSS_KILL
    } on_loss; /* of turns of other hosts, when this one is without the bus for lost_after_ms */
    struct conf_bus_runs runs;
    const char *file;
    int line;
};

/* Where an agent is that is run through NATS. */
struct conf_nats {
    struct conf_bus servers; /* how they are reached; the rest of it is not used */
    const char *subject;     /* where its runs are asked for */
    const char *agent;       /* its name there; or NULL: the default one */
};

struct conf {
    const struct conf_agent *variants; /* of agents: each choice of model and cwd */
    size_t n_variants;
    unsigned refs; /* beside the one of who loaded it */
    char *file;    /* path, or "(built in)" */
    struct conf_agent *agents;
    size_t n_agents;
    char *default_agent; /* or NULL: the only one, else "default" */
    char **plugin_dirs;  /* NULL-terminated */
    bool autoload;       /* load what lies in the directories without an instance */
    struct conf_instance *instances;
    size_t n_instances;
    signed char show[5]; /* visibility defaults in the order of visibility_key; -1 unset */
    char *state_dir;
    struct conf_conversations conversations;
    struct conf_budgets budgets;
    struct conf_retention retention;
    struct conf_http http;
    struct conf_store store;
    struct conf_proxy proxy;
    struct conf_bus bus;
    char *host_name; /* on the bus; NULL: there is none, and the file names no host */
    enum log_level log_level;
    enum log_format log_format;
};

/* Whether this host may run the agent. */
bool conf_agent_runs_here(const struct conf *c, const struct conf_agent *agent);
/* Whether this host may give turns of the agent to others. */
bool conf_agent_is_shared(const struct conf *c, const struct conf_agent *agent);
/* Reads a file, with the files of conf.d (conf_merge.h); NULL with err. `path` NULL: the built-in
 * configuration (the cli plugin, no agent). The file is refused when others may write to it. A file
 * without plugins.instances gets the instance cli. */
struct conf *conf_load(const char *path, struct tc_err *err);
/* The same for a check: adds all errors to the findings, and returns what could be read. Then
 * members may have their defaults, an agent no command, an instance no plugin, a key no source and
 * an option no value. NULL: the file is no configuration at all. */
struct conf *conf_load_all(const char *path, struct findings *findings);
/* The file to use when none is named: $TURNCAST_CONFIG, the user's, the system's; NULL: none
 * exists. Owned. */
char *conf_default_path(void);
/* Where a configuration of this user belongs: $TURNCAST_CONFIG, or the user's. Owned. */
char *conf_user_path(void);
/* Whoever keeps something of it keeps it; the last one frees it. Not thread safe. NULL is fine. */
const struct conf *conf_ref(const struct conf *c);
void conf_unref(const struct conf *c);
/* Reads the secrets of the keys, which only the host that serves needs. -1 with err: one cannot be
 * read, is too short, or is that of another key. */
int conf_resolve_keys(struct conf *c, struct tc_err *err) MUST_CHECK;
int conf_check_keys(struct conf *c, struct findings *findings); /* all errors */
/* -1 with err ("file:line"): the agent is to run as somebody whom only root can become, and this
 * process is not root. */
int conf_check_agent_user(const struct conf *c, const struct conf_agent *a,
                          struct tc_err *err) MUST_CHECK;
/* "FILE:LINE" of an object, or the name of its file alone if the line is 0. `file` NULL: that of
 * the configuration. Owned. */
char *conf_format_place(const struct conf *c, const char *file, int line);
/* What is executed for it. */
const char *conf_agent_program(const struct conf_agent *a);
/* Where the placeholder of an argument begins: at its front or behind its first =; NULL: it has
 * none. */
const char *conf_find_placeholder(const char *arg);
/* NULL: no such agent (name NULL: the default one). Borrowed. */
const struct conf_agent *conf_agent_find(const struct conf *c, const char *name);
/* The agent as it is with that model and working directory (NULL: its own). NULL: one of them is
 * not in its lists. Borrowed. */
const struct conf_agent *conf_agent_choose(const struct conf *c, const struct conf_agent *agent,
                                           const char *model, const char *cwd);
/* The same choice in another configuration; without what is not in its lists any more. NULL: there
 * is no such agent. */
const struct conf_agent *conf_agent_find_again(const struct conf *c,
                                               const struct conf_agent *agent);
/* Name under which its sessions are kept: one session belongs to one working directory. */
const char *conf_agent_session_name(const struct conf_agent *agent);
/* What the configuration binds to the conversation of that key (inbound_make_key); the first that
 * fits. NULL: nothing. */
const struct conf_binding *conf_binding_find(const struct conf_instance *inst, const char *key);
/* Whether a conversation of the instance may choose that agent. */
bool conf_chat_allows_agent(const struct conf *c, const struct conf_instance *inst,
                            const struct conf_agent *agent);
/* For an error about a name that nothing has: ' (did you mean "NAME"?)', or ' (configured: …)'. */
void conf_add_agent_hint(const struct conf *c, const char *name, struct buf *out);
void conf_add_instance_hint(const struct conf *c, const char *name, struct buf *out);
/* Appends the names of the agents, separated by commas; "none" if there are none. */
void conf_add_agent_names(const struct conf *c, struct buf *out);
/* NULL: no such instance. Borrowed. */
const struct conf_instance *conf_instance_find(const struct conf *c, const char *name);
/* The host's own key i of every instance, beside the plugin's options; NULL behind the last. */
const char *conf_instance_key_at(size_t i);
/* All keys are the same that an instance is started with; others (agent, grants, allow,
 * allow_chats, approvers, its scope) are looked up when they are needed. */
bool conf_instance_equal(const struct conf_instance *a, const struct conf_instance *b);
/* Forgets the file's instances: --plugin stands in their place. */
void conf_remove_instances(struct conf *c);
/* "NAME|FILE.so[,key=value…]" of --plugin, as an instance appended to c; a comma in a value is
 * written as \, and the second instance of a plugin is called NAME-2. */
int conf_add_plugin(struct conf *c, const char *spec, struct tc_err *err) MUST_CHECK;

#endif
