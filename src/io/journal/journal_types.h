/* SPDX-License-Identifier: MIT
 * Types of stored data: turns, their outcomes, and outbound rows. Texts are borrowed for the call
 * in both directions. */
#ifndef IO_JOURNAL_JOURNAL_TYPES_H
#define IO_JOURNAL_JOURNAL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define JOURNAL_MAX_KEY 512                   /* limit of an id, a connector, a lane, a reason */
#define JOURNAL_MAX_PROMPT ((size_t)1 << 20)  /* limit of the texts that a turn needs, together */
#define JOURNAL_MAX_RESULT ((size_t)2 << 20)  /* limit of a turn's stored result */
#define JOURNAL_MAX_BODY ((size_t)16 << 20)   /* limit of a row */
#define JOURNAL_MAX_MEMORY ((size_t)4 << 10)  /* limit of a connector's memory of a turn */
#define JOURNAL_MAX_VALUE ((size_t)256 << 10) /* limit of a value of kv */
#define JOURNAL_MAX_CRASHES 3 /* in flight at this many crashes: poison, becomes a dead letter */

enum journal_status {
    JOURNAL_DONE,
    JOURNAL_NO_CHANGE, /* duplicate, ended already, or unknown: see the function */
    JOURNAL_REFUSED,   /* not permitted for the existing record: see the function */
    JOURNAL_TOO_BIG,   /* a limit was exceeded: nothing was written */
    JOURNAL_DISK_FULL, /* disk full: nothing was written */
    JOURNAL_FAILED,    /* nothing was written; logged */
};

struct journal_turn {
    const char *id, *agent, *conv, *source;
    const char *msg_id, *also; /* optional: ids of its message in `source` */
    bool waiting;              /* waiting behind the running turn of its conversation */
    /* optional: data to run or report the turn after a restart */
    const char *prompt, *route, *files;
    const char *seen;      /* optional: instances that receive it, names separated by newlines */
    const char *instances; /* optional, the same form: instances named by the client */
    /* optional, of the agent: to find it after a crash of the host */
    const char *boot_id, *cgroup;
    int64_t agent_pid, agent_start;
    const char *owner;  /* optional: the API client that owns it */
    const char *person; /* optional: who asked, "INSTANCE/USER" */
    /* Set when a turn is read. Times are Unix milliseconds, 0: not yet. */
    const char *state; /* waiting running final error merged cancelled */
    const char *code;  /* of an error; for a merged turn, the id of the turn that absorbed it; or
                        * NULL */
    int64_t admitted_ms, began_ms, ended_ms;
    struct str result; /* record_outcome.result of a turn with an owner; or none */
};

/* A connector that must deliver the outcome of a turn. */
struct journal_target {
    const char *conn;
    const char *lane; /* name of the place, for people */
    struct str body;
};

/* Usage of turns, as reported by their agents. */
struct journal_spent {
    int64_t day;           /* day of the sum: 20261127 */
    int64_t turns;         /* number of ended turns */
    int64_t counted;       /* turns whose agent reported tokens */
    int64_t input, output; /* tokens; input includes cache reads and writes */
    int64_t priced;        /* turns whose agent reported a cost */
    int64_t micros;        /* cost in millionths of a US dollar */
};

/* Owner of a day's sum: the "host" (name ""), an "agent", a "conversation" by its key, a "person"
 * (journal_turn.person), a "key" of the HTTP server (journal_turn.owner). */
struct journal_spent_row {
    const char *scope, *name;
    struct journal_spent spent;
};

struct journal_outcome {
    const char *turn;
    const char *error; /* error code; NULL: final */
    const struct journal_target *targets;
    size_t n;
    struct str result; /* optional; stored if the turn has an owner, for later queries */
    const struct journal_spent *spent; /* optional; added to the sums of the turn's payers */
};

/* A remembered approval. */
struct journal_approval {
    int64_t id, at; /* at: Unix milliseconds */
    const char *agent;
    const char *conv;  /* "": in every conversation */
    const char *key;   /* digest of agent, tool and argument, for comparison */
    const char *tool;  /* the following members are for people */
    const char *shown; /* the argument, without secrets, shortened */
    const char *by;
};

/* Selection of approvals: 0 and NULL match any. */
struct journal_approval_filter {
    int64_t id;
    const char *agent, *conv;
};

/* A request of an agent to people, and its decision. Times are Unix milliseconds. */
struct journal_question {
    const char *turn, *id, *agent;
    const char *tool;  /* or its kind */
    const char *shown; /* subject, without secrets, shortened */
    int64_t asked_at;
    const char *decision, *by; /* NULL: it is open */
    int64_t decided_at;
};

/* An outbound request. */
struct journal_request {
    const char *turn, *lane;
    int priority;       /* of the connector, returned to it */
    int64_t max_age_ms; /* 0: the journal's limit, a day */
    struct str body;    /* any bytes */
};

enum record_kind {
    JOURNAL_OUTCOME, /* an outcome for which the connector has not sent requests yet */
    JOURNAL_REQUEST,
};

/* A row of the outbox, as it is read. */
struct journal_row {
    int64_t seq; /* its number: increasing, and never reused */
    enum record_kind kind;
    const char *conn, *lane, *turn;
    int priority;
    int64_t attempts, age_ms;
    int64_t left_ms; /* expiry time */
    bool in_doubt;   /* an earlier attempt may have been executed */
    struct str body;
};

enum journal_result {
    JOURNAL_SENT,
    JOURNAL_RETRY, /* keeps the row; new rows follow it */
    JOURNAL_FAIL,  /* becomes a dead letter, unless new rows replace it */
};

struct journal_settlement {
    enum journal_result verdict;
    bool in_doubt;                          /* RETRY: this attempt may have been executed */
    const char *reason;                     /* FAIL: reason of the dead letter; or NULL */
    const struct journal_request *requests; /* replacements of the row, in this order */
    size_t n;
};

#endif
