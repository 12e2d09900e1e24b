/* SPDX-License-Identifier: MIT
 * The journal: which turns were admitted, how each ended, and what has still to be told to whom.
 *
 * A turn exists once journal_admit_turn returned; it ends once, in the transaction that also lays
 * an outcome row for each instance that has to be told. A connector sends requests for its outcome;
 * they take its place in one transaction, and so does what follows from the answer to a request. So
 * whatever kills the host, every admitted turn gets one outcome, and every destination is told all
 * of it, or what is missing is a dead letter. The decision is made exactly once; a request is
 * repeated only when it was on the wire as the host or the connection died, and such a row is
 * marked `in_doubt`.
 *
 * The pace, the holds and the order of attempts are not kept here: io/send/sender.h has them. One
 * thread at a time. */
#ifndef IO_JOURNAL_JOURNAL_H
#define IO_JOURNAL_JOURNAL_H

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/sys/err.h"
#include "io/journal/journal_types.h"

struct journal;
struct sql;

/* Ages in milliseconds; 0 keeps for ever, and is no bound of a number. */
struct journal_limits {
    int64_t age;          /* of rows without a bound of their own; older: dead letters */
    int64_t keep_age;     /* ended turns, the window of duplicates */
    int64_t rows, bytes;  /* of the outbox; above: the oldest become dead letters */
    int64_t result_bytes; /* of results; above: the oldest are dropped, their turns stay */
    int64_t dead_age, dead_rows, dead_bytes; /* above: the oldest are dropped, logged */
    int64_t spent_age;                       /* of sums of usage */
    int64_t conversation_age; /* of values of a conversation that nobody has written since */
};
extern const struct journal_limits journal_default_limits;

struct journal_spec {
    const char *dir;
    const struct journal_limits *limits; /* or NULL: the default */
    bool beside;  /* a host has it: for dead letters alone, to be listed, shown and dropped */
    bool *in_use; /* or NULL, see store.h */
    /* Tests only, or NULL: told each named point (store.h). */
    void (*point)(void *ctx, struct sql *db, const char *name);
    void *ctx;
};

/* Requests that were in flight when the last host died are queued again, in doubt; those that are
 * too old or have failed too often become dead letters. */
struct journal *journal_open(const struct journal_spec *spec, struct tc_err *err);
/* NULL is fine. */
void journal_close(struct journal *j);

/* ---- the whole state directory in one file (journal_backup.c, io/store/backup.h) */

struct backup_result;
int journal_backup(const char *dir, const char *file, struct backup_result *r,
                   struct tc_err *err) MUST_CHECK;
int journal_restore(const char *file, const char *dir, struct backup_result *r,
                    struct tc_err *err) MUST_CHECK;

/* ---- turns (journal_turn.c) */

/* Durable. UNCHANGED: one of its ids is known in its source already; its turn goes to first (or
 * NULL). Only after DONE or UNCHANGED may the message be acknowledged to its service. */
enum journal_status journal_admit_turn(struct journal *j, const struct journal_turn *t,
                                       struct buf *first) MUST_CHECK;
/* A waiting turn begins to run and is told to the instances in `seen` (see turn_record.h; or NULL).
 * The waiting turns in `merged` end as merged into it. UNCHANGED: it did not wait. */
enum journal_status journal_begin_turn(struct journal *j, const char *turn, const char *seen,
                                       const char *const *merged, size_t n) MUST_CHECK;
/* Adds an instance to those that are told of a running turn. UNCHANGED: it does not run, or has no
 * such list. */
enum journal_status journal_add_seen(struct journal *j, const char *turn,
                                     const char *instance) MUST_CHECK;
/* A waiting turn ends as merged into one that runs. UNCHANGED: it did not wait. */
enum journal_status journal_merge(struct journal *j, const char *turn, const char *into) MUST_CHECK;
/* A waiting turn ends without an outcome. UNCHANGED: it does not wait. */
enum journal_status journal_cancel_turn(struct journal *j, const char *turn) MUST_CHECK;
/* A waiting turn and the ids of its message are removed, as if it had never been admitted: the same
 * message is taken again. UNCHANGED: it does not wait. */
enum journal_status journal_forget_turn(struct journal *j, const char *turn) MUST_CHECK;
/* Stores the agent process of the turn t->id: boot_id, agent_pid, agent_start, cgroup. */
enum journal_status journal_set_agent_process(struct journal *j,
                                              const struct journal_turn *t) MUST_CHECK;
/* Durable; spends the store's reserve on a full disk. Ends a running turn and lays one row per
 * target, numbered from seq. UNCHANGED: it does not run. */
enum journal_status journal_end_turn(struct journal *j, const struct journal_outcome *o,
                                     int64_t seq) MUST_CHECK;
/* Replaces the result of a turn that has ended and has an owner. UNCHANGED: it has not ended, or
 * has no owner. */
enum journal_status journal_note_result(struct journal *j, const char *turn,
                                        struct str result) MUST_CHECK;
/* Adds usage that the agent reported after the outcome. UNCHANGED: unknown turn. */
enum journal_status journal_add_spent(struct journal *j, const char *turn,
                                      const struct journal_spent *spent) MUST_CHECK;
/* The sums of the days from `first` to `last`; within a day, the highest costs first. */
enum journal_status journal_list_spent(struct journal *j, int64_t first, int64_t last,
                                       void (*each)(void *ctx, const struct journal_spent_row *row),
                                       void *ctx) MUST_CHECK;
/* The turns that have not ended, oldest first. Here and below, turns are given without the ids of
 * their messages, and `each` must not call the journal. */
enum journal_status journal_list_open_turns(struct journal *j,
                                            void (*each)(void *ctx, const struct journal_turn *t),
                                            void *ctx) MUST_CHECK;

/* One turn, with its route while the journal still has it. UNCHANGED: unknown turn. */
enum journal_status journal_find_turn(struct journal *j, const char *id,
                                      void (*each)(void *ctx, const struct journal_turn *t),
                                      void *ctx) MUST_CHECK;

/* ---- the outbox (journal_outbox.c). The caller numbers new rows, above every earlier number. */

/* The highest number ever used. */
int64_t journal_last_seq(struct journal *j);
/* Adds rows after all others. */
enum journal_status journal_add_requests(struct journal *j, const char *conn,
                                         const struct journal_request *requests, size_t n,
                                         int64_t seq) MUST_CHECK;
/* An attempt is on record before it is made. UNCHANGED: no such row, or it is in flight. */
enum journal_status journal_start_attempt(struct journal *j, int64_t seq) MUST_CHECK;
/* Ends a row, in flight or not. The new rows of the settlement take its place and have numbers from
 * `first`.
 * Durable when it makes a dead letter. UNCHANGED: no such row. */
enum journal_status journal_settle_row(struct journal *j, int64_t seq,
                                       const struct journal_settlement *s,
                                       int64_t first) MUST_CHECK;
/* The same for the outcome row of an instance and a turn; new rows are added after all others. */
enum journal_status journal_settle_outcome(struct journal *j, const char *conn, const char *turn,
                                           const struct journal_settlement *s,
                                           int64_t first) MUST_CHECK;
/* Rows of a connector that its previous process left in flight become queued and in doubt, as
 * journal_open does for all of them. Nothing may be in flight for that connector any more.
 * UNCHANGED: there was none. */
enum journal_status journal_take_over(struct journal *j, const char *conn) MUST_CHECK;
/* The rows of a connector in their order. */
enum journal_status journal_list_rows(struct journal *j, const char *conn,
                                      void (*each)(void *ctx, const struct journal_row *row),
                                      void *ctx) MUST_CHECK;

/* ---- dead letters (journal_dead.c) */

struct journal_dead {
    int64_t id, attempts, at; /* at: Unix milliseconds */
    const char *conn, *lane, *turn, *kind, *reason;
    struct str body; /* absent in a list */
};

/* Oldest first; conn NULL: of all. */
enum journal_status journal_dead_list(struct journal *j, const char *conn,
                                      void (*each)(void *ctx, const struct journal_dead *d),
                                      void *ctx) MUST_CHECK;
/* With its body. UNCHANGED, here and below: no such dead letter. */
enum journal_status journal_dead_get(struct journal *j, int64_t id,
                                     void (*each)(void *ctx, const struct journal_dead *d),
                                     void *ctx) MUST_CHECK;
/* An event that its connector never survives, on record: conn, turn, attempts, reason, body count.
 */
enum journal_status journal_dead_add(struct journal *j, const struct journal_dead *d) MUST_CHECK;
/* Back into the outbox, behind all others, under the number seq. REFUSED: it was an event, which is
 * of no use outside of its turn. */
enum journal_status journal_dead_retry(struct journal *j, int64_t id, int64_t seq) MUST_CHECK;
/* The requests of that turn in that lane, or in one that begins with it and a colon, at most `most`
 * of them, numbered from seq; *count: how many. UNCHANGED: there is none. */
enum journal_status journal_dead_retry_turn(struct journal *j, const struct journal_dead *which,
                                            int64_t seq, int64_t most, int64_t *count) MUST_CHECK;
enum journal_status journal_dead_drop(struct journal *j, int64_t id) MUST_CHECK;

/* ---- what was allowed for longer (journal_approval.c) */

/* In the place of one with the same key and conversation. The id is the caller's, above all. */
enum journal_status journal_approval_put(struct journal *j,
                                         const struct journal_approval *a) MUST_CHECK;
/* Oldest first. */
enum journal_status journal_approval_list(struct journal *j,
                                          const struct journal_approval_filter *which,
                                          void (*each)(void *ctx, const struct journal_approval *a),
                                          void *ctx) MUST_CHECK;
/* Durable. UNCHANGED: there are none. */
enum journal_status journal_approval_delete(struct journal *j,
                                            const struct journal_approval_filter *which) MUST_CHECK;

/* ---- what agents asked people (journal_question.c) */

/* Stores a question, or with `decision` its result; the first decision stays. Questions that are
 * open when a journal is resumed are cancelled by "host_restart". */
enum journal_status journal_put_question(struct journal *j,
                                         const struct journal_question *q) MUST_CHECK;
/* Oldest first. */
enum journal_status
journal_list_questions(struct journal *j, void (*each)(void *ctx, const struct journal_question *q),
                       void *ctx) MUST_CHECK;

/* ---- small texts (journal_kv.c) */

/* value.p NULL removes. */
enum journal_status journal_kv_put(struct journal *j, const char *key, struct str value) MUST_CHECK;
/* Appends. UNCHANGED: no such key. */
enum journal_status journal_kv_get(struct journal *j, const char *key,
                                   struct buf *value) MUST_CHECK;

/* Each key that begins with `prefix`, in their order, with its value. */
enum journal_status journal_kv_each(struct journal *j, const char *prefix,
                                    void (*each)(void *ctx, const char *key, const char *value),
                                    void *ctx) MUST_CHECK;

/* Stores what a connector remembers of a turn (tc_remember); text NULL removes it. It is deleted
 * with the turn; that of the turn "" stays. */
enum journal_status journal_memory_put(struct journal *j, const char *conn, const char *turn,
                                       const char *text) MUST_CHECK;
/* Appends the text. UNCHANGED: there is none. */
enum journal_status journal_memory_get(struct journal *j, const char *conn, const char *turn,
                                       struct buf *text) MUST_CHECK;

/* ---- upkeep (journal_prune.c) */

/* Applies the limits to so many rows that it is done within milliseconds: once a minute is enough,
 * and again at once while journal_has_more_to_prune. */
enum journal_status journal_prune(struct journal *j) MUST_CHECK;
bool journal_has_more_to_prune(const struct journal *j);
/* Counts from the next journal_prune on. */
void journal_set_limits(struct journal *j, const struct journal_limits *limits);
/* When nothing else is to do. */
void journal_checkpoint(struct journal *j);

struct journal_stats {
    int64_t running, waiting;  /* turns */
    int64_t queued, in_flight; /* rows of the outbox */
    int64_t bytes;             /* of both */
    int64_t oldest_ms;         /* age of the oldest of both; 0 without one */
    int64_t dead;
};
enum journal_status journal_read_stats(struct journal *j, struct journal_stats *stats) MUST_CHECK;

#endif
