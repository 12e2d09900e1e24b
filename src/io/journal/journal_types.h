/* SPDX-License-Identifier: MIT
 * What is kept on disk, as it is given and read: turns, their outcomes, and the rows of what has
 * still to be told. Texts are borrowed for the call in both directions. */
#ifndef IO_JOURNAL_JOURNAL_TYPES_H
#define IO_JOURNAL_JOURNAL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define JOURNAL_MAX_KEY 512                   /* bytes of an id, a connector, a lane, a reason */
#define JOURNAL_MAX_PROMPT ((size_t)1 << 20)  /* of the texts that a turn needs, together */
#define JOURNAL_MAX_RESULT ((size_t)2 << 20)  /* of what is kept of a turn's outcome */
#define JOURNAL_MAX_BODY ((size_t)16 << 20)   /* of a row */
#define JOURNAL_MAX_MEMORY ((size_t)4 << 10)  /* of what a connector remembers of a turn */
#define JOURNAL_MAX_VALUE ((size_t)256 << 10) /* of a value of kv */
#define JOURNAL_MAX_CRASHES 3 /* in flight at so many crashes: poison, a dead letter */

enum journal_status {
    JOURNAL_DONE,
    JOURNAL_NO_CHANGE, /* a duplicate, over already, not there: see the function */
    JOURNAL_REFUSED,   /* what is there is nothing that this can be done to: see the function */
    JOURNAL_TOO_BIG,   /* something above its cap: nothing was written */
    JOURNAL_DISK_FULL, /* nothing was written */
    JOURNAL_FAILED,    /* nothing was written; logged */
};

struct journal_turn {
    const char *id, *agent, *conv, *source;
    const char *msg_id, *also; /* optional: ids of its message in `source` */
    bool waiting;              /* behind the running turn of its conversation */
    /* optional: what it needs to run, or to be told of, after a restart */
    const char *prompt, *route, *files;
    const char *seen;      /* optional: the instances it is cast to, a newline between two names */
    const char *instances; /* optional, the same: those that who began it named */
    /* optional, of the agent: to find it again after the host's death */
    const char *boot_id, *cgroup;
    int64_t agent_pid, agent_start;
    const char *owner;  /* optional: the API client that it belongs to */
    const char *person; /* optional: who asked, "INSTANCE/USER" */
    /* Set when a turn is read. Times are Unix milliseconds, 0: not yet. */
    const char *state; /* waiting running final error merged cancelled */
    const char *code;  /* of an error; of a merged one the turn that took it; or NULL */
    int64_t admitted_ms, began_ms, ended_ms;
    struct str result; /* record_outcome.result of one that has an owner; or none */
};

/* One connector that has to be told how a turn ended. */
struct journal_target {
    const char *conn;
    const char *lane; /* where: for people */
    struct str body;
};

/* What turns used, as their agents reported it. */
struct journal_spent {
    int64_t day;           /* on which it counts: 20261127 */
    int64_t turns;         /* that ended */
    int64_t counted;       /* of these: whose agent reported tokens */
    int64_t input, output; /* tokens; input: with what was read from and written to caches */
    int64_t priced;        /* whose agent reported a cost */
    int64_t micros;        /* cost in millionths of a US dollar */
};

/* The sum of a day of: the "host" (name ""), an "agent", a "conversation" by its key, a "person"
 * (journal_turn.person), a "key" of the HTTP server (journal_turn.owner). */
struct journal_spent_row {
    const char *scope, *name;
    struct journal_spent spent;
};

struct journal_outcome {
    const char *turn;
    const char *error; /* its code; NULL: final */
    const struct journal_target *targets;
    size_t n;
    struct str result; /* optional; stored if the turn has an owner, for later GET requests */
    const struct journal_spent *spent; /* optional; added to the sums of those the turn is of */
};

/* What a person allowed for longer than once. */
struct journal_approval {
    int64_t id, at; /* at: Unix milliseconds */
    const char *agent;
    const char *conv;  /* "": in every conversation */
    const char *key;   /* what is compared: of agent, tool and argument */
    const char *tool;  /* for people, as the rest */
    const char *shown; /* the argument, without secrets, cut */
    const char *by;
};

/* Which of them: 0 and NULL mean any. */
struct journal_approval_filter {
    int64_t id;
    const char *agent, *conv;
};

/* What an agent asked people, and who decided. Times are Unix milliseconds. */
struct journal_question {
    const char *turn, *id, *agent;
    const char *tool;  /* or its kind */
    const char *shown; /* what it is about, without secrets, cut */
    int64_t asked_at;
    const char *decision, *by; /* NULL: it is open */
    int64_t decided_at;
};

/* A request to be made. */
struct journal_request {
    const char *turn, *lane;
    int priority;       /* kept for the caller */
    int64_t max_age_ms; /* 0: the journal's bound, a day */
    struct str body;    /* any bytes */
};

enum record_kind {
    JOURNAL_OUTCOME, /* the connector has still to say what it wants to send */
    JOURNAL_REQUEST,
};

/* A row of the outbox, as it is read. */
struct journal_row {
    int64_t seq; /* its number: rises, and is never given again */
    enum record_kind kind;
    const char *conn, *lane, *turn;
    int priority;
    int64_t attempts, age_ms;
    int64_t left_ms; /* until it is too old */
    bool in_doubt;   /* an earlier attempt may have been done */
    struct str body;
};

enum journal_result {
    JOURNAL_SENT,
    JOURNAL_RETRY, /* it stays; what is laid comes behind it */
    JOURNAL_FAIL,  /* a dead letter, unless others take its place */
};

struct journal_settlement {
    enum journal_result verdict;
    bool in_doubt;                          /* RETRY: this attempt may have been done */
    const char *reason;                     /* FAIL: of the dead letter; or NULL */
    const struct journal_request *requests; /* in the row's place, in this order */
    size_t n;
};

#endif
