/* SPDX-License-Identifier: MIT
 * The sixteen kinds of event, as callbacks receive them. Included by <turncast/plugin.h>; do not
 * include it directly.
 *
 * Conventions of all event structs: a string that the agent did not provide is NULL if the member
 * is marked "or NULL", else "". A number that the agent did not provide is negative. Members marked
 * JSON hold one valid JSON value as compact text. Units: tokens; milliseconds; US dollars unless
 * the struct has a currency; percent from 0 to 100. */
#ifndef TURNCAST_EVENT_H
#define TURNCAST_EVENT_H

#ifndef TURNCAST_PLUGIN_H
#error "include <turncast/plugin.h>"
#endif

/* The sixteen kinds of event. Numbers never change; new kinds are appended. */
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

/* Metadata of every event. */
struct tc_meta {
    uint64_t seq;               /* number in the turn: 1, 2, 3…; hidden events leave gaps */
    double ts;                  /* Unix seconds: time given by the agent, else time of arrival */
    const char *src;            /* dialect of the agent's output */
    const char *correlation_id; /* id of the turn */
    const char *session_id;     /* the agent's session, "" until known */
    const char *id;             /* event id given by the agent, or NULL */
    const char *agent;          /* sub-agent that produced the event, or NULL */
    const char *parent_id;      /* tool_use_id of the call that spawned that sub-agent, or NULL */
    const char *audience;       /* "user", "internal", "dashboard", "operator", or NULL (user) */
    const char *x;              /* JSON object of fields without a canonical member, or NULL */
    bool hidden;                /* hidden by the visibility settings; true only for instances with
                                   visibility = "all" */
};

/* Streamed text of the assistant. Never empty. */
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
    const char *encrypted;  /* or NULL: opaque reasoning data of the provider */
    const char *entity_id;  /* or NULL: object to which `encrypted` belongs */
    const char *entity;     /* or NULL: "message" or "tool-call" */
};

/* The agent has completed a message. Contains no new text to display. */
struct tc_message {
    const struct tc_meta *meta;
    const char *role;
    const char *message_id; /* or NULL */
    const char *text;       /* or NULL: complete text, which was delivered before as narration */
    size_t text_len;
    const char *reasoning; /* or NULL: removed if thinking is hidden */
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
    bool synthesized;       /* the agent gave no answer: text is empty or from the host */
};

/* The agent called a tool. Once per tool_use_id, with complete arguments. */
struct tc_tool_call {
    const struct tc_meta *meta;
    const char *name;
    const char *args; /* JSON object; {"_raw": text} if the JSON was invalid */
    size_t args_len;
    const char *tool_use_id;
    const char *args_raw; /* or NULL: argument text as received */
    size_t args_raw_len;
    int read_only;          /* 1, 0, or -1 unknown */
    const char *message_id; /* or NULL */
};

/* Progress of a tool call, or of the turn if there is no tool_use_id. */
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

/* Result of a tool call. Once per tool_use_id, after its tool_call. */
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

/* The agent waits for a person (open) or no longer waits (resolved). */
struct tc_request {
    const struct tc_meta *meta;
    const char *request_id;  /* unique within the turn */
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
    const char *by;       /* or NULL: person or rule that decided */
#if TURNCAST_API_MINOR >= 1
    /* Since 1.1. Choices for tc_answer, as a JSON array of {id, label}, the harmless one last; NULL
     * if this instance cannot answer the request. */
    const char *choices;
    const char *to; /* or NULL: JSON array of INSTANCE or INSTANCE:CHAT[:THREAD]; show only there */
#endif
#if TURNCAST_API_MINOR >= 2
    /* Since 1.2. Complete text of the request for people, or NULL: the subject and all arguments
     * that the subject does not contain. In preview, tool, subject, message, reason and questions
     * of an open request, invisible characters are escaped; args are as the agent sent them. */
    const char *preview;
#endif
};

/* The turn starts. */
struct tc_start {
    const struct tc_meta *meta;
    const char *run_id, *thread_id, *parent_run_id; /* each or NULL */
    const char *provider, *model, *source, *task;   /* each or NULL */
    const char *input;                              /* JSON or NULL */
    const char *trace_id;                           /* or NULL */
    bool resumed; /* this instance has already received a part of the turn */
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

/* The turn has ended. */
struct tc_done {
    const struct tc_meta *meta;
    const char *reason; /* completed cancelled suspended stopped refused error lost */
    const char *code;   /* or NULL */
    const char *detail; /* or NULL */
    int64_t turns;
    const char *result;   /* JSON or NULL */
    const char *trace_id; /* or NULL */
};

/* Tokens and cost of one model call or of the turn. */
struct tc_usage {
    const struct tc_meta *meta;
    const char *scope; /* call turn */
    int64_t input_tokens, output_tokens, total_tokens;
    int64_t cache_read_tokens, cache_write_tokens, cache_miss_tokens, reasoning_tokens;
    int cache_counted; /* input_tokens include cache tokens: 1, 0, or -1 unknown */
    double cost_usd;
    double cost;          /* in `currency` */
    const char *currency; /* or NULL */
    double duration_ms;
    const char *model, *provider, *source; /* each or NULL */
    const char *session;                   /* JSON or NULL: totals of the session */
    const char *stop_reason;               /* or NULL */
    int is_error;                          /* 1, 0, or -1 unknown */
};

/* Information, warning or error that does not end the turn. */
struct tc_notice {
    const struct tc_meta *meta;
    const char *level; /* info warn error */
    const char *text;
    const char *code;       /* or NULL */
    const char *detail;     /* or NULL */
    const char *message_id; /* or NULL; with code "retracted": the message whose narration or
                               thinking is withdrawn */
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
    int replace;               /* 1, 0, or -1 unknown (treat as 1) */
};

/* An event of the agent without a canonical form, verbatim. */
struct tc_raw {
    const struct tc_meta *meta;
    const char *dialect;
    const char *event; /* JSON */
    size_t event_len;
    const char *name; /* or NULL */
};

/* Any event, for relays and logs: typed payload and canonical JSON line. */
struct tc_event {
    const struct tc_meta *meta;
    enum tc_kind kind;
    const char *name;    /* name of the kind: "narration"… */
    const void *payload; /* struct tc_<name> */
    const char *line;    /* canonical JSON, no newline */
    size_t line_len;
};

#endif
