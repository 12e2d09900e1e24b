/* SPDX-License-Identifier: MIT
 * The journal: which turns were admitted, how each ended, and what has still to be told to whom.
 *
 * A turn exists once journal_admit returned; it ends once, in the transaction that also lays the
 * messages about its end into the outbox. So whatever kills the host, every admitted turn gets
 * one outcome and every destination is told it, or it is a dead letter. The decision is made
 * exactly once; a delivery is repeated only when the request was on the wire as the host or the
 * connection died, and such a row is marked `in_doubt`.
 *
 * A lane is a destination: connector and conversation. One row of a lane is in flight at a time,
 * outcomes first, then notices, then live ones, each in the order they came; a row that waits to
 * be repeated holds those behind it. One thread at a time. */
#ifndef IO_JOURNAL_H
#define IO_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

#define JOURNAL_MAX_KEY 512           /* bytes of an id, a connector, a conversation… */
#define JOURNAL_MAX_BODY (256 * 1024) /* of a body and of a value of kv */
#define JOURNAL_MAX_DELAY_MS (3600 * 1000)
#define JOURNAL_MAX_CRASHES 3 /* in flight at so many crashes: poison, a dead letter */

struct journal;
struct sql;

enum journal_status {
    JOURNAL_DONE,
    JOURNAL_UNCHANGED, /* a duplicate, over already, nothing due, not there: see the function */
    JOURNAL_TOO_BIG,   /* a key or a body above its cap: nothing was written */
    JOURNAL_DISK_FULL, /* nothing was written */
    JOURNAL_FAILED,    /* nothing was written; logged */
};

/* Ages in milliseconds; 0 keeps for ever. */
struct journal_limits {
    int64_t outcome_age; /* undelivered outcomes and notices; older: dead letters */
    int64_t live_age;    /* undelivered live rows; older: dropped */
    int64_t keep_age;    /* delivered rows, ended turns, the window of duplicates */
    int64_t dead_age;    /* dead letters; older: dropped, logged */
    int64_t rows, bytes; /* of the undelivered; above: the oldest become dead letters */
    int64_t dead_rows;   /* above: the oldest are dropped, logged */
};
extern const struct journal_limits journal_default_limits;

struct journal_spec {
    const char *dir;
    const struct journal_limits *limits; /* or NULL: the default */
    /* Tests only, or NULL: told each named point (store.h). */
    void (*point)(void *ctx, struct sql *db, const char *name);
    void *ctx;
};

/* What was in flight when the last host died is due again, in doubt. */
struct journal *journal_open(const struct journal_spec *spec, struct tc_err *err);
/* NULL is fine. */
void journal_close(struct journal *j);

/* ---- turns (journal_turn.c) */

/* All texts borrowed; NULL where optional. */
struct journal_turn {
    const char *id, *agent, *conv, *source;
    const char *msg_id;             /* optional: the service's id of the message */
    const char *route, *prompt_ref; /* optional */
    /* optional, of the agent: to find it again after the host's death */
    const char *boot_id, *cgroup;
    int64_t agent_pid, agent_start;
};

/* Durable. UNCHANGED: (source, msg_id) is known already; its turn's id goes to first (or NULL).
 * Only after DONE or UNCHANGED may the message be acknowledged to its service. */
enum journal_status journal_admit(struct journal *j, const struct journal_turn *t,
                                  struct buf *first) MUST_CHECK;
/* Notes the process: boot_id, agent_pid, agent_start, cgroup of t, by its id. */
enum journal_status journal_note_agent(struct journal *j, const struct journal_turn *t) MUST_CHECK;

struct journal_target {
    const char *conn, *conv;
    struct str body;
};

struct journal_outcome {
    const char *turn;
    const char *error; /* its code; NULL: final */
    const struct journal_target *targets;
    size_t n;
};

/* Durable; spends the store's reserve on a full disk. Ends the turn, lays one row per target,
 * and drops its live rows that are not on the wire. UNCHANGED: it has an outcome already. */
enum journal_status journal_end_turn(struct journal *j, const struct journal_outcome *o) MUST_CHECK;

/* At start: ends every turn that is open with `host_restart`, told to the targets `who` gives
 * (borrowed until it is called again). `who` also ends the agent, if it still lives. Returns how
 * many, or -1. */
int64_t journal_end_open_turns(struct journal *j,
                               size_t (*who)(void *ctx, const struct journal_turn *t,
                                             const struct journal_target **targets),
                               void *ctx) MUST_CHECK;

/* ---- the outbox (journal_outbox.c) */

/* In the order of delivery. */
enum journal_slot { JOURNAL_FINAL, JOURNAL_ERROR, JOURNAL_NOTICE, JOURNAL_LIVE };

/* Lays or replaces the notice or live row of a turn there: the newest body counts. UNCHANGED:
 * the same body again, or a live row of a turn that is over. */
enum journal_status journal_put(struct journal *j, enum journal_slot slot, const char *turn,
                                const struct journal_target *t) MUST_CHECK;

/* A row in flight. */
struct journal_row {
    int64_t seq, gen, attempts;
    int64_t at; /* Unix milliseconds, when it was laid */
    enum journal_slot slot;
    bool in_doubt;                        /* an earlier attempt may have arrived */
    char *conn, *conv, *turn, *remote_id; /* owned; remote_id (or NULL) of an earlier sending */
    char *live_id;                        /* owned, or NULL: remote_id of the turn's live row */
    struct buf body;
};

/* Takes the next row that is due: of one lane, or (conv NULL) of any idle lane of the connector.
 * The attempt is on record before it returns. UNCHANGED: nothing is due. */
enum journal_status journal_claim(struct journal *j, const char *conn, const char *conv,
                                  struct journal_row *row) MUST_CHECK;
void journal_row_fini(struct journal_row *row);

enum journal_verdict {
    JOURNAL_SENT,
    JOURNAL_RETRY,   /* not before delay_ms */
    JOURNAL_REJECT,  /* for good: a dead letter (a live row is dropped) */
    JOURNAL_CRASHED, /* whoever sent it died over it */
};
/* What a service may ask to wait, beside the row. */
enum journal_hold { JOURNAL_HOLD_NOTHING, JOURNAL_HOLD_LANE, JOURNAL_HOLD_CONN };

struct journal_answer {
    enum journal_verdict verdict;
    enum journal_hold hold; /* for delay_ms */
    int64_t delay_ms;       /* at most JOURNAL_MAX_DELAY_MS */
    bool in_doubt;          /* JOURNAL_RETRY: it may have arrived */
    const char *remote_id;  /* or NULL; one above JOURNAL_MAX_KEY is not kept */
    const char *reason;     /* or NULL; of a dead letter */
};

/* UNCHANGED: the row is not in flight. */
enum journal_status journal_record(struct journal *j, const struct journal_row *row,
                                   const struct journal_answer *a) MUST_CHECK;

/* ---- dead letters (journal_dead.c) */

struct journal_dead {
    int64_t id, attempts, at; /* at: Unix milliseconds */
    const char *conn, *conv, *turn, *slot, *reason;
    struct str body; /* absent in a list */
};

/* Oldest first; conn NULL: of all. Texts are borrowed for the call; `each` must not call the
 * journal. */
enum journal_status journal_dead_list(struct journal *j, const char *conn,
                                      void (*each)(void *ctx, const struct journal_dead *d),
                                      void *ctx) MUST_CHECK;
/* With its body. UNCHANGED, here and below: no such dead letter. */
enum journal_status journal_dead_show(struct journal *j, int64_t id,
                                      void (*each)(void *ctx, const struct journal_dead *d),
                                      void *ctx) MUST_CHECK;
/* Back into the outbox, due at once. */
enum journal_status journal_dead_retry(struct journal *j, int64_t id) MUST_CHECK;
enum journal_status journal_dead_drop(struct journal *j, int64_t id) MUST_CHECK;

/* ---- keys and values (journal_kv.c): offsets, latches. "pause:…" is the journal's own. */

/* value.p NULL removes. */
enum journal_status journal_kv_put(struct journal *j, const char *key, struct str value) MUST_CHECK;
/* Appends. UNCHANGED: no such key. */
enum journal_status journal_kv_get(struct journal *j, const char *key,
                                   struct buf *value) MUST_CHECK;

/* ---- upkeep (journal_prune.c) */

/* Applies the limits: once a minute is enough. */
enum journal_status journal_prune(struct journal *j) MUST_CHECK;
/* When nothing else is to do. */
void journal_tidy(struct journal *j);

struct journal_stats {
    int64_t running;            /* turns */
    int64_t waiting, in_flight; /* rows of the outbox */
    int64_t bytes;              /* of both */
    int64_t oldest_ms;          /* age of the oldest of both; 0 without one */
    int64_t dead;
};
enum journal_status journal_stats(struct journal *j, struct journal_stats *stats) MUST_CHECK;

#endif
