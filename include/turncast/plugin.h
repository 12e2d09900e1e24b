/* SPDX-License-Identifier: MIT
 * The contract between turncast and its connector plugins; the header they include.
 *
 * A plugin is a .so that exports one constant, made by TURNCAST_PLUGIN(). No code of it runs
 * when it is loaded. The host calls it, one callback per kind of event, on the instance's own
 * thread; callbacks of one turn are serial. A callback may block: it delays its own instance
 * only. Return 0, or -1 when the event could not be shown: the host counts and logs it, and
 * goes on. See turncast-plugin(3) for the life of an instance and turncast-events(7) for the
 * meaning of every field.
 *
 * What every turn promises, whatever the agent does:
 *  1. start comes first and done last, each exactly once.
 *  2. final, error and usage{scope turn} at most once; final or error always.
 *  3. final comes after the narration of the same text, usage{turn} after it, then done.
 *  4. Events arrive in the order the translator made them, meta->seq rising from 1.
 *  5. A tool_result follows its tool_call; open calls, steps and requests are closed first.
 *  6. Text is valid UTF-8 and NUL-terminated. Pointers are valid until the callback returns.
 *  7. A connector that errs, blocks or crashes never delays or changes what another one gets.
 *  8. Visibility is decided once, in the host: a connector never filters.
 *  9. Callbacks of one turn are serial; what one blocks is its own turn's lane only.
 *
 * Conventions of all event structs: a string that the source did not give is NULL where the
 * member is marked "or NULL", else "". A number that it did not give is negative. Members
 * marked JSON hold one valid JSON value as compact text. Tokens are counted, durations are in
 * milliseconds, money in US dollars unless a currency stands beside it, percent is 0 to 100.
 */
#ifndef TURNCAST_PLUGIN_H
#define TURNCAST_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Members, types and macros that are newer than TURNCAST_API_MINOR are not declared: a plugin that
 * compiles uses nothing that a host of that minor lacks. */
#define TURNCAST_API_MAJOR 1
#define TURNCAST_API_LATEST 3 /* the newest minor this header knows */
#ifndef TURNCAST_API_MINOR    /* define it before the include to run on older hosts */
#define TURNCAST_API_MINOR TURNCAST_API_LATEST
#elif TURNCAST_API_MINOR > TURNCAST_API_LATEST
#error "turncast/plugin.h is older than the TURNCAST_API_MINOR you ask for"
#endif

#include <turncast/service.h>

#if defined(__GNUC__)
#define TC_PRINTF(fmt, args) __attribute__((__format__(__printf__, fmt, args)))
#define TC_EXPORT __attribute__((__visibility__("default")))
#else
#define TC_PRINTF(fmt, args)
#define TC_EXPORT
#endif

/* The sixteen kinds of event. Numbers are for ever; new kinds are appended. */
enum tc_kind {
    TC_NARRATION,
    TC_THINKING,
    TC_MESSAGE,
    TC_FINAL,
    TC_TOOL_CALL,
    TC_PROGRESS,
    TC_TOOL_RESULT,
    TC_REQUEST,
    TC_START,
    TC_STEP,
    TC_ERROR,
    TC_DONE,
    TC_USAGE,
    TC_NOTICE,
    TC_STATE,
    TC_RAW,
};
#define TC_KINDS 16

/* What is known of any event. */
struct tc_meta {
    uint64_t seq;    /* 1, 2, 3… in the turn, before visibility: gaps are hidden events */
    double ts;       /* unix seconds: the source's clock if it gave one, else arrival */
    const char *src; /* dialect the event was read from */
    const char *correlation_id; /* the turn */
    const char *session_id;     /* the agent's session, "" until known */
    const char *id;             /* the source's own event id, or NULL */
    const char *agent;          /* sub-agent that produced it, or NULL */
    const char *parent_id;      /* tool_use_id of the call that spawned that sub-agent, or NULL */
    const char *audience;       /* "user", "internal", "dashboard", "operator", or NULL (user) */
    const char *x;              /* JSON object of source fields without a canonical home, or NULL */
    bool hidden;                /* the agent's visibility hides it; only visibility="all" sees it */
};

/* Assistant text between tool calls, told as it streams. Never empty. */
struct tc_narration {
    const struct tc_meta *meta;
    const char *text;
    size_t text_len;
    const char *message_id; /* or NULL */
};

/* Reasoning text. Empty only when `encrypted` is given. */
struct tc_thinking {
    const struct tc_meta *meta;
    const char *text;
    size_t text_len;
    const char *message_id; /* or NULL */
    const char *encrypted;  /* or NULL: opaque reasoning of the provider */
    const char *entity_id;  /* or NULL: what `encrypted` belongs to */
    const char *entity;     /* or NULL: "message" or "tool-call" */
};

/* A message is complete; nothing new to display. */
struct tc_message {
    const struct tc_meta *meta;
    const char *role;
    const char *message_id; /* or NULL */
    const char *text;       /* or NULL: the whole text, already told as narration */
    size_t text_len;
    const char *reasoning; /* or NULL: removed where thinking is hidden */
    size_t reasoning_len;
    const char *name; /* or NULL */
    bool persisted;
};

/* The answer of the turn. */
struct tc_final {
    const struct tc_meta *meta;
    const char *text;
    size_t text_len;
    const char *message_id; /* or NULL */
    bool synthesized;       /* the agent gave none: the text is empty or the host's */
};

/* The agent invoked a tool: once per tool_use_id, arguments complete. */
struct tc_tool_call {
    const struct tc_meta *meta;
    const char *name;
    const char *args; /* JSON object; {"_raw": text} when the agent's JSON was broken */
    size_t args_len;
    const char *tool_use_id;
    const char *args_raw; /* or NULL: the argument text as it came */
    size_t args_raw_len;
    int read_only;          /* 1, 0, or -1 unknown */
    const char *message_id; /* or NULL */
};

/* Bookkeeping around a call, or (no tool_use_id) around the turn. */
struct tc_progress {
    const struct tc_meta *meta;
    const char *tool_use_id; /* or NULL */
    const char *name;        /* or NULL */
    const char *phase;       /* or NULL: preparing args running done failed cancelled */
    const char *message;     /* or NULL */
    double percent, loaded, total;
    const char *args_delta; /* or NULL: piece of the argument text */
    size_t args_delta_len;
    int64_t arg_chars;
    const char *output; /* or NULL: piece of the tool's output */
    size_t output_len;
    const char *node_id;        /* or NULL */
    const char *parent_node_id; /* or NULL */
};

/* What a tool returned: once per tool_use_id, after its tool_call. */
struct tc_tool_result {
    const struct tc_meta *meta;
    const char *tool_use_id;
    const char *content;
    size_t content_len;
    bool is_error;
    const char *name;    /* or NULL */
    const char *outcome; /* or NULL: succeeded failed denied cancelled */
    double duration_ms;
    bool truncated;
    const char *structured; /* JSON or NULL */
    const char *message_id; /* or NULL */
    const char *patch;      /* JSON or NULL */
    const char *diff;       /* or NULL */
    int64_t added, removed;
};

/* The agent waits for a person (open), or no longer does (resolved). */
struct tc_request {
    const struct tc_meta *meta;
    const char *request_id;
    const char *kind;        /* approval ask credential input */
    const char *state;       /* open resolved */
    const char *tool_use_id; /* or NULL */
    const char *tool;        /* or NULL */
    const char *subject;     /* or NULL */
    const char *args;        /* JSON or NULL */
    const char *reason;      /* or NULL */
    const char *message;     /* or NULL */
    const char *questions;   /* JSON array of {id, header?, prompt, options, multi} or NULL */
    const char *schema;      /* JSON or NULL */
    int64_t expires_ms;      /* unix milliseconds */
    bool blocking;
    const char *decision; /* or NULL: allow deny answered cancelled timeout */
    const char *answers;  /* JSON or NULL */
    const char *by;       /* or NULL: who decided */
#if TURNCAST_API_MINOR >= 1
    /* Since 1.1. What tc_answer takes, as a JSON array of {id, label}, the harmless last; NULL: it
     * cannot be answered here. */
    const char *choices;
    const char
        *to; /* or NULL: JSON array of INSTANCE or INSTANCE:CHAT[:THREAD]; asked only there */
#endif
#if TURNCAST_API_MINOR >= 2
    /* Since 1.2. What is asked for, whole, for people: the subject and all arguments that it does
     * not tell. In preview, tool, subject, message, reason and questions of an open request what
     * cannot be seen is spelled out; args are as the agent sent them. Or NULL. */
    const char *preview;
#endif
};

/* The turn begins. */
struct tc_start {
    const struct tc_meta *meta;
    const char *run_id, *thread_id, *parent_run_id; /* each or NULL */
    const char *provider, *model, *source, *task;   /* each or NULL */
    const char *input;                              /* JSON or NULL */
    const char *trace_id;                           /* or NULL */
    bool resumed;                                   /* this connector saw part of the turn before */
};

/* A step of the turn, or (kind "agent") one sub-agent invocation. */
struct tc_step {
    const struct tc_meta *meta;
    const char *state;          /* start end mark */
    const char *kind;           /* or NULL (step): step agent */
    const char *name;           /* or NULL */
    int64_t index, max;         /* index from 0 */
    const char *message_id;     /* or NULL */
    const char *step_id;        /* or NULL */
    const char *outcome;        /* or NULL */
    const char *error, *result; /* JSON or NULL */
};

/* The turn failed. */
struct tc_error {
    const struct tc_meta *meta;
    const char *message;
    const char *code; /* or NULL */
};

/* The turn is over. */
struct tc_done {
    const struct tc_meta *meta;
    const char *reason; /* completed cancelled suspended stopped refused error lost */
    const char *code;   /* or NULL */
    const char *detail; /* or NULL */
    int64_t turns;
    const char *result;   /* JSON or NULL */
    const char *trace_id; /* or NULL */
};

/* Tokens and money, of one model call or of the turn. */
struct tc_usage {
    const struct tc_meta *meta;
    const char *scope; /* call turn */
    int64_t input_tokens, output_tokens, total_tokens;
    int64_t cache_read_tokens, cache_write_tokens, cache_miss_tokens, reasoning_tokens;
    int cache_counted; /* 1: input_tokens include cache tokens, 0: they do not, -1 unknown */
    double cost_usd;
    double cost;          /* in `currency` */
    const char *currency; /* or NULL */
    double duration_ms;
    const char *model, *provider, *source; /* each or NULL */
    const char *session;                   /* JSON or NULL: totals of the session */
    const char *stop_reason;               /* or NULL */
    int is_error;                          /* 1, 0, or -1 not said */
};

/* Something a person may want to know; never ends the turn. */
struct tc_notice {
    const struct tc_meta *meta;
    const char *level; /* info warn error */
    const char *text;
    const char *code;       /* or NULL */
    const char *detail;     /* or NULL */
    const char *message_id; /* or NULL: of the narration or thinking that code "retracted" takes
                               back, all of it */
};

/* State of the agent's application. */
struct tc_state {
    const struct tc_meta *meta;
    const char *scope;         /* state messages activity context */
    const char *op;            /* snapshot delta */
    const char *value;         /* JSON or NULL (snapshot) */
    const char *patch;         /* JSON or NULL (delta, RFC 6902) */
    const char *key;           /* or NULL */
    const char *activity_type; /* or NULL */
    int replace;               /* 1, 0, or -1 not said (as 1) */
};

/* A source event without a canonical form, verbatim. */
struct tc_raw {
    const struct tc_meta *meta;
    const char *dialect;
    const char *event; /* JSON */
    size_t event_len;
    const char *name; /* or NULL */
};

/* Any event, for relays and logs: the typed payload and the canonical JSON line. */
struct tc_event {
    const struct tc_meta *meta;
    enum tc_kind kind;
    const char *name;    /* of the kind: "narration"… */
    const void *payload; /* struct tc_<name> */
    const char *line;    /* canonical JSON, no newline */
    size_t line_len;
};

struct tc_host;
struct tc_turn;

enum tc_level { TC_ERR = 3, TC_WARN = 4, TC_INFO = 6, TC_DEBUG = 7 }; /* syslog numbers */

/* One configured use of a plugin. Owned by the host, read-only for the plugin. */
struct tc_instance {
    const struct tc_host *host;
    const char *name; /* as the config names it */
    const void *conf; /* the plugin's option struct, filled and checked; NULL without options */
    void *state;      /* state_size bytes, zeroed before init, freed by the host */
    struct tc_turn *lobby; /* what belongs to no turn; see service.h */
};

/* One turn as one instance sees it, from on_start to its end: on_done has returned and none of
 * its requests is under way. */
struct tc_turn {
    struct tc_instance *inst;
    void *state;    /* turn_size bytes, zeroed before on_start, freed by the host; lobby: NULL */
    const char *id; /* correlation_id; "" of the lobby */
    const char *agent;
    const char *conversation; /* or NULL */
    const char *route;        /* or NULL: no message of this instance began it; see tc_inbound */
    const char *memory; /* or NULL; after a restart of host or instance: what tc_remember kept */
};

/* The callbacks. All optional: NULL does nothing. The eight of the ProgressSink come first. */
struct tc_sink {
    size_t size;
    int (*on_narration)(struct tc_turn *, const struct tc_narration *);
    int (*on_final)(struct tc_turn *, const struct tc_final *);
    int (*on_tool_call)(struct tc_turn *, const struct tc_tool_call *);
    int (*on_tool_result)(struct tc_turn *, const struct tc_tool_result *);
    int (*on_thinking)(struct tc_turn *, const struct tc_thinking *); /* text is never empty */
    int (*on_usage)(struct tc_turn *, const struct tc_usage *);       /* scope turn and call */
    int (*on_error)(struct tc_turn *, const struct tc_error *);
    int (*on_done)(struct tc_turn *, const struct tc_done *);
    int (*on_message)(struct tc_turn *, const struct tc_message *);
    int (*on_progress)(struct tc_turn *, const struct tc_progress *);
    int (*on_request)(struct tc_turn *, const struct tc_request *);
    int (*on_start)(struct tc_turn *, const struct tc_start *);
    int (*on_step)(struct tc_turn *, const struct tc_step *);
    int (*on_notice)(struct tc_turn *, const struct tc_notice *);
    int (*on_state)(struct tc_turn *, const struct tc_state *);
    int (*on_raw)(struct tc_turn *, const struct tc_raw *);
    int (*on_event)(struct tc_turn *,
                    const struct tc_event *); /* every event, after the typed one */
    int (*on_idle)(struct tc_instance *);     /* the queue ran empty: flush what you buffered */
    /* What came of a request; see service.h. */
    int (*on_reply)(struct tc_turn *, const struct tc_reply *, struct tc_verdict *);
    int (*on_wake)(struct tc_turn *); /* the time set by tc_wake is there */
    /* A request to a route, answered when this returns; headers have been checked by the host. */
    int (*on_hit)(struct tc_turn *lobby, const struct tc_hit *, struct tc_answer *);
    int (*on_frame)(struct tc_turn *lobby, const struct tc_frame *);
};

enum tc_type { TC_T_STR, TC_T_INT, TC_T_BOOL, TC_T_REAL };
enum { TC_REQUIRED = 1, TC_SECRET = 2 }; /* flags of an option */

/* One key of an instance's config. The host parses, checks and stores it at `offset`. */
struct tc_option {
    const char *key;
    enum tc_type type;
    size_t offset;
    const char *dflt; /* as text; NULL: NULL, 0 or false */
    uint32_t flags;
    const char *help;
};

/* Flags of a plugin. */
enum {
    TC_SEES_ALL =
        1, /* visibility "all" unless the config says otherwise: for logs, not for people */
    TC_DELIVERS = 2, /* its outcomes are noted on disk until it has shown them, see service.h */
};

struct tc_plugin {
    uint32_t size, major, minor, flags;
    const char *name, *version, *summary;
    size_t conf_size, state_size, turn_size; /* allocated zeroed and freed by the host */
    const struct tc_option *options;         /* ends with a row whose key is NULL; or NULL */
    int (*init)(struct tc_instance *);       /* -1 (after tc_log) disables this instance only */
    void (*teardown)(struct tc_instance *);
    const struct tc_sink *sink;
    uint32_t pace_ms; /* narration and thinking come merged, at most this often; 0: as they are */
    const char *audience;        /* whose events it shows; NULL: "user" */
    const struct tc_rate *rates; /* ends with a row whose count is 0; or NULL */
};

/* Another system's wire format for a turn's events. Made by TC_FORMAT. */
struct tc_format {
    size_t size;
    const char *name;     /* "reasonix"…; see turncast-jsonl(7) */
    const char *protocol; /* version of it, or NULL: what every reader takes */
    bool frames;          /* server-sent events instead of lines */
};

/* What the host does for a plugin. Use the macros below. NULL means out of memory or bad input,
 * which the host has logged. Call them on the instance's thread only, log from any. Memory: see
 * service.h. */
struct tc_host {
    size_t size;
    uint32_t major, minor;
    void (*log)(struct tc_instance *, enum tc_level, const char *, ...) TC_PRINTF(3, 4);
    void *(*alloc)(struct tc_turn *, size_t); /* zeroed */
    char *(*sprint)(struct tc_turn *, const char *, ...)TC_PRINTF(2, 3);
    char *(*json)(struct tc_turn *, const char *, ...);
    char *(*json_get)(struct tc_turn *, const char *, const char *);
    size_t (*redact)(struct tc_instance *, const char *, size_t, char *, size_t);
    bool (*has_format)(struct tc_instance *, const char *);
    const char *(*encode)(struct tc_turn *, const struct tc_format *, size_t *);
    char *(*keep)(struct tc_turn *, const char *);
    int (*http)(struct tc_turn *, const struct tc_http *);
    void (*wake)(struct tc_turn *, int64_t);
    int (*remember)(struct tc_turn *, const char *);
    const struct tc_piece *(*pieces)(struct tc_turn *, const struct tc_text *, size_t *);
    size_t (*settled)(struct tc_turn *, const char *, size_t);
    enum tc_accepted (*submit)(struct tc_turn *, const struct tc_inbound *, struct tc_receipt *);
    enum tc_accepted (*cancel)(struct tc_turn *, const char *, const char *, struct tc_receipt *);
    bool (*may_submit)(struct tc_turn *, const char *, const char *);
    int (*route)(struct tc_instance *, const char *);
    int64_t (*socket_open)(struct tc_instance *, const struct tc_socket *);
    int (*socket_send)(struct tc_instance *, int64_t, const char *, size_t);
    void (*socket_close)(struct tc_instance *, int64_t);
#if TURNCAST_API_MINOR >= 1
    /* Since 1.1. */
    const char *(*ticket)(struct tc_turn *, const char *);
    enum tc_accepted (*answer)(struct tc_turn *, const struct tc_decision *, struct tc_receipt *);
#endif
#if TURNCAST_API_MINOR >= 2
    /* Since 1.2. */
    bool (*knows)(struct tc_turn *, const char *, const char *);
#endif
};

/* Logs one line, prefixed with instance name; secrets are masked. */
#define tc_log(inst, ...) ((inst)->host->log((inst), __VA_ARGS__))
/* Zeroed memory of the turn; it ends with the turn. */
#define tc_alloc(turn, n) ((turn)->inst->host->alloc((turn), (n)))
/* A formatted string. */
#define tc_sprint(turn, ...) ((turn)->inst->host->sprint((turn), __VA_ARGS__))
/* JSON text from a jansson pack format: tc_json(turn, "{s:s, s:i}", "a", "b", "n", 1). */
#define tc_json(turn, ...) ((turn)->inst->host->json((turn), __VA_ARGS__))
/* The value at an RFC 6901 pointer: a string's text, else compact JSON; NULL if absent. */
#define tc_json_get(turn, j, ptr) ((turn)->inst->host->json_get((turn), (j), (ptr)))
/* JSON text with the secrets in its strings masked, for records that outlive the turn. As
 * snprintf: at most cap bytes go to out, NUL among them; the whole length is returned. */
#define tc_redact(inst, json, len, out, cap)                                                       \
    ((inst)->host->redact((inst), (json), (len), (out), (cap)))

/* Whether the host writes a format of that name; for init. */
#define tc_has_format(inst, name) ((inst)->host->has_format((inst), (name)))
/* The event of the running callback in another format: none, one or several whole messages,
 * valid until the callback returns; their bytes in *len. One format per turn, asked for at every
 * event of it, as what is written depends on what came before. NULL: it cannot be done. */
#define tc_encode(turn, format, len) ((turn)->inst->host->encode((turn), (format), (len)))

/* A copy of the text, of the turn. */
#define tc_keep(turn, text) ((turn)->inst->host->keep((turn), (text)))
/* Sends a request when it is its turn; tc_http(turn, TC_HTTP(.url = …, .body = …)). 0, or -1: it is
 * not valid, or the turn has too many under way; logged. */
#define tc_http(turn, request) ((turn)->inst->host->http((turn), (request)))
/* on_wake in so many milliseconds; one time per turn, the newest call counts; negative: none. */
#define tc_wake(turn, ms) ((turn)->inst->host->wake((turn), (ms)))
/* Text (at most 4 KiB; NULL: none) that is in tc_turn.memory when host or instance died and the
 * turn is given again: what has been shown so far. */
#define tc_remember(turn, text) ((turn)->inst->host->remember((turn), (text)))
/* Markdown as messages of a service: their number in *count. NULL: nothing is to be seen of it. */
#define tc_pieces(turn, text, count) ((turn)->inst->host->pieces((turn), (text), (count)))
/* How many bytes of Markdown that still grows are settled: what follows cannot change them. */
#define tc_settled(turn, text, len) ((turn)->inst->host->settled((turn), (text), (len)))
/* Hands a person's message to the agent. Returns when it is on disk. Needs the grant "submit". */
#define tc_submit(lobby, inbound, receipt)                                                         \
    ((lobby)->inst->host->submit((lobby), (inbound), (receipt)))
/* Whether that person may submit in that chat (ids of the service): before what comes with a
 * message is fetched. */
#define tc_may_submit(lobby, user, chat) ((lobby)->inst->host->may_submit((lobby), (user), (chat)))
#if TURNCAST_API_MINOR >= 2
/* Whether that conversation (thread: NULL or of the chat) has a session of the agent on disk, or a
 * turn that runs or waits: also after a restart. Since 1.2. */
#define tc_knows(lobby, chat, thread) ((lobby)->inst->host->knows((lobby), (chat), (thread)))
#endif
/* A person (user: the service's id) asks for the end of the turn of that id. TC_COMMAND, TC_DENIED,
 * or TC_KNOWN: it is over already. Needs the grant "cancel". */
#define tc_cancel(lobby, turn_id, user, receipt)                                                   \
    ((lobby)->inst->host->cancel((lobby), (turn_id), (user), (receipt)))
#if TURNCAST_API_MINOR >= 1
/* Since 1.1. What stands for an open request of this turn in what a service gives back (a button):
 * at most 32 letters, digits, - and _, the same each time, of this instance alone. NULL: it is not
 * open. */
#define tc_ticket(turn, request_id) ((turn)->inst->host->ticket((turn), (request_id)))
/* Since 1.1. Hands over what a person decided. TC_COMMAND: it counts; TC_KNOWN: too late, `answer`
 * says why; TC_DENIED: not this person, or not from there, or no such choice: `answer` says so when
 * it is for that person to know. Needs the grant "answer". */
#define tc_answer(lobby, decision, receipt)                                                        \
    ((lobby)->inst->host->answer((lobby), (decision), (receipt)))
#endif
/* Requests to "/hooks/INSTANCE" + path of the host's HTTP server go to on_hit. From init; -1 when
 * the server is off; logged. */
#define tc_route(inst, path) ((inst)->host->route((inst), (path)))
/* A websocket: its number, above 0; what happens on it comes to on_frame, at last CLOSED. -1: the
 * URL is not valid; logged. */
#define tc_socket_open(inst, socket) ((inst)->host->socket_open((inst), (socket)))
/* A text frame. -1: there is no such socket, it is not open, or too much waits. */
#define tc_socket_send(inst, socket, text, len)                                                    \
    ((inst)->host->socket_send((inst), (socket), (text), (len)))
#define tc_socket_close(inst, socket) ((inst)->host->socket_close((inst), (socket)))

#ifndef __cplusplus
#define TC_HTTP(...) (&(const struct tc_http){.size = sizeof(struct tc_http), __VA_ARGS__})
#define TC_TEXT(...) (&(const struct tc_text){.size = sizeof(struct tc_text), __VA_ARGS__})
#define TC_INBOUND(...) (&(const struct tc_inbound){.size = sizeof(struct tc_inbound), __VA_ARGS__})
#if TURNCAST_API_MINOR >= 1 /* since 1.1 */
#define TC_DECISION(...)                                                                           \
    (&(const struct tc_decision){.size = sizeof(struct tc_decision), __VA_ARGS__})
#endif
#define TC_SOCKET(...) (&(const struct tc_socket){.size = sizeof(struct tc_socket), __VA_ARGS__})
#define TC_FORMAT(...) (&(const struct tc_format){.size = sizeof(struct tc_format), __VA_ARGS__})
/* TC_OPTION(struct conf, field, default text or NULL, flags, help): the key is the field's
 * name, its type one of const char *, int64_t, bool, double; any other does not compile. */
#define TC_OPTION(T, field, dflt_, flags_, help_)                                                  \
    {                                                                                              \
#field,                                                                              \
            _Generic(((T *)0)->field, const char *: TC_T_STR, int64_t: TC_T_INT,             \
                     bool: TC_T_BOOL, double: TC_T_REAL),                                    \
            offsetof(T, field), dflt_, flags_, help_             \
    }
#define TC_SINK(...) (&(const struct tc_sink){.size = sizeof(struct tc_sink), __VA_ARGS__})
#define TURNCAST_PLUGIN(...)                                                                       \
    extern const struct tc_plugin turncast_plugin;                                                 \
    TC_EXPORT const struct tc_plugin turncast_plugin = {.size = sizeof(struct tc_plugin),          \
                                                        .major = TURNCAST_API_MAJOR,               \
                                                        .minor = TURNCAST_API_MINOR,               \
                                                        __VA_ARGS__}
#endif

#ifdef __cplusplus
}
#endif
#endif
