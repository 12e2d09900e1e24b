/* SPDX-License-Identifier: MIT
 * The journal: admitted turns, their outcomes, and undelivered messages.
 *
 * A turn exists when journal_admit_turn has returned; it ends once, in the transaction that also
 * adds an outcome row for each instance that must deliver it. The requests that a connector sends
 * for the outcome replace the row in one transaction; so do the requests that follow from a
 * response. So, whatever crash occurs, every admitted turn gets one outcome, and every destination
 * receives all of it, or the missing part is a dead letter. The outcome is decided exactly once; a
 * request is repeated only if it was on the wire when the host or the connection failed, and such a
 * row is marked `in_doubt`.
 *
 * Rate limits, holds and the order of attempts are not stored here: see io/send/sender.h. One
 * thread at a time. */
#ifndef IO_JOURNAL_JOURNAL_H
#define IO_JOURNAL_JOURNAL_H

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/sys/err.h"
#include "io/journal/journal_types.h"

struct journal;
struct sql;

/* Ages in milliseconds; 0 keeps records for ever; 0 is not valid for a number. */
struct journal_limits {
    int64_t age;          /* of rows without an own deadline; older ones become dead letters */
    int64_t keep_age;     /* ended turns, and ids of messages for duplicate detection */
    int64_t rows, bytes;  /* of the outbox; above: the oldest become dead letters */
    int64_t result_bytes; /* of results; above: the oldest results are deleted, but not their
                           * turns */
    int64_t dead_age, dead_rows, dead_bytes; /* above: the oldest are deleted, which is logged */
    int64_t spent_age;                       /* of sums of usage */
    int64_t conversation_age;                /* values of a conversation, since their last write */
};
extern const struct journal_limits journal_default_limits;

struct journal_spec {
    const char *dir;
    const struct journal_limits *limits; /* or NULL: the default */
    bool beside;  /* a host owns it: only dead letters can be listed, shown and deleted */
    bool *in_use; /* or NULL, see store.h */
    /* Tests only, or NULL: called at each named point (store.h). */
    void (*point)(void *ctx, struct sql *db, const char *name);
    void *ctx;
};

/* Rows that were in flight at a crash are queued again, in doubt; those that are too old or have
 * failed too often become dead letters. */
struct journal *journal_open(const struct journal_spec *spec, struct tc_err *err);
/* NULL is allowed. */
void journal_close(struct journal *j);

/* ---- the whole state directory in one file (journal_backup.c, io/store/backup.h) */

struct backup_result;
int journal_backup(const char *dir, const char *file, struct backup_result *r,
                   struct tc_err *err) MUST_CHECK;
int journal_restore(const char *file, const char *dir, struct backup_result *r,
                    struct tc_err *err) MUST_CHECK;

/* ---- turns (journal_turn.c) */

/* Durable. UNCHANGED: one of its ids is known in its source; `first` (or NULL) gets its turn.
 * Acknowledge the message to its service only after DONE or UNCHANGED. */
enum journal_status journal_admit_turn(struct journal *j, const struct journal_turn *t,
                                       struct buf *first) MUST_CHECK;
/* A waiting turn starts, and the instances in `seen` receive it (see turn_record.h; or NULL). The
 * waiting turns in `merged` end as merged into it. UNCHANGED: it was not waiting. */
enum journal_status journal_begin_turn(struct journal *j, const char *turn, const char *seen,
                                       const char *const *merged, size_t n) MUST_CHECK;
/* Adds an instance to the receivers of a running turn. UNCHANGED: it does not run, or has no such
 * list. */
enum journal_status journal_add_seen(struct journal *j, const char *turn,
                                     const char *instance) MUST_CHECK;
/* A waiting turn ends as merged into a running one. UNCHANGED: it was not waiting. */
enum journal_status journal_merge(struct journal *j, const char *turn, const char *into) MUST_CHECK;
/* A waiting turn ends without an outcome. UNCHANGED: it was not waiting. */
enum journal_status journal_cancel_turn(struct journal *j, const char *turn) MUST_CHECK;
/* Deletes a waiting turn and the ids of its message, as if it had never been admitted: the same
 * message is accepted again. UNCHANGED: it was not waiting. */
enum journal_status journal_delete_waiting_turn(struct journal *j, const char *turn) MUST_CHECK;
/* Stores the agent process of the turn t->id: boot_id, agent_pid, agent_start, cgroup. */
enum journal_status journal_set_agent_process(struct journal *j,
                                              const struct journal_turn *t) MUST_CHECK;
/* Durable; uses the store's reserve on a full disk. Ends a running turn and adds one row per
 * target, numbered from seq. UNCHANGED: it does not run. */
enum journal_status journal_end_turn(struct journal *j, const struct journal_outcome *o,
                                     int64_t seq) MUST_CHECK;
/* Replaces the result of a turn that has ended and has an owner. UNCHANGED: it has not ended, or
 * has no owner. */
enum journal_status journal_set_late_result(struct journal *j, const char *turn,
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

/* Appends the ids of the turns of a source that have not ended, or of which the connector of that
 * name must still deliver something, one per line in byte order. Each id is preceded by 'b' if the
 * turn has not ended, by 'o' if its outcome is left, by 'r' if requests with the priority of an
 * outcome are (TC_P_FINAL, which is 0), otherwise by 'l': only later requests are left. */
enum journal_status journal_list_untold(struct journal *j, const char *source,
                                        struct buf *ids) MUST_CHECK;
/* Removes a turn, and everything that the connector from which it comes must still deliver; the ids
 * of its messages are kept. UNCHANGED: unknown turn. */
enum journal_status journal_remove_turn(struct journal *j, const char *turn) MUST_CHECK;

/* One turn, with its route while the journal still has it. UNCHANGED: unknown turn. */
enum journal_status journal_find_turn(struct journal *j, const char *id,
                                      void (*each)(void *ctx, const struct journal_turn *t),
                                      void *ctx) MUST_CHECK;

/* ---- the outbox (journal_outbox.c). The caller numbers new rows, above all earlier numbers. */

/* The highest number ever used. */
int64_t journal_last_seq(struct journal *j);
/* Adds rows after all others. */
enum journal_status journal_add_requests(struct journal *j, const char *conn,
                                         const struct journal_request *requests, size_t n,
                                         int64_t seq) MUST_CHECK;
/* Records an attempt before it is made. UNCHANGED: no such row, or it is in flight. */
enum journal_status journal_start_attempt(struct journal *j, int64_t seq) MUST_CHECK;
/* Ends a row, in flight or not. The new rows of the settlement, numbered from `first`, take its
 * place. Durable if it creates a dead letter. UNCHANGED: no such row. */
enum journal_status journal_settle_row(struct journal *j, int64_t seq,
                                       const struct journal_settlement *s,
                                       int64_t first) MUST_CHECK;
/* The same for the outcome row of an instance and a turn; new rows are added after all others. */
enum journal_status journal_settle_outcome(struct journal *j, const char *conn, const char *turn,
                                           const struct journal_settlement *s,
                                           int64_t first) MUST_CHECK;
/* Rows of a connector that its previous process left in flight become queued and in doubt, as
 * journal_open does for all connectors. No row of that connector may be in flight any more.
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

/* Oldest first; conn NULL: all connectors. */
enum journal_status journal_dead_list(struct journal *j, const char *conn,
                                      void (*each)(void *ctx, const struct journal_dead *d),
                                      void *ctx) MUST_CHECK;
/* Includes the body. UNCHANGED, here and below: no such dead letter. */
enum journal_status journal_dead_get(struct journal *j, int64_t id,
                                     void (*each)(void *ctx, const struct journal_dead *d),
                                     void *ctx) MUST_CHECK;
/* Stores an event that repeatedly crashes its connector: conn, turn, attempts, reason, body
 * count. */
enum journal_status journal_dead_add(struct journal *j, const struct journal_dead *d) MUST_CHECK;
/* Moves it to the end of the outbox, with the number seq. REFUSED: it is an event, which is useless
 * outside of its turn. */
enum journal_status journal_dead_retry(struct journal *j, int64_t id, int64_t seq) MUST_CHECK;
/* The requests of that turn in that lane, or in one that begins with it and a colon, at most `most`
 * of them, numbered from seq; *count: their number. UNCHANGED: there are none. */
enum journal_status journal_dead_retry_turn(struct journal *j, const struct journal_dead *which,
                                            int64_t seq, int64_t most, int64_t *count) MUST_CHECK;
enum journal_status journal_dead_delete(struct journal *j, int64_t id) MUST_CHECK;

/* ---- remembered approvals (journal_approval.c) */

/* Replaces one with the same key and conversation. The caller chooses the id, above all earlier
 * ones. */
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

/* ---- requests of agents to people (journal_question.c) */

/* Stores a request, or with `decision` its result; the first decision is kept. Requests that are
 * open when a journal is resumed are cancelled by "host_restart". */
enum journal_status journal_put_question(struct journal *j,
                                         const struct journal_question *q) MUST_CHECK;
/* Oldest first. */
enum journal_status
journal_list_questions(struct journal *j, void (*each)(void *ctx, const struct journal_question *q),
                       void *ctx) MUST_CHECK;

/* ---- key-value pairs (journal_kv.c) */

/* value.p NULL deletes. */
enum journal_status journal_kv_put(struct journal *j, const char *key, struct str value) MUST_CHECK;
/* Appends. UNCHANGED: no such key. */
enum journal_status journal_kv_get(struct journal *j, const char *key,
                                   struct buf *value) MUST_CHECK;

/* Calls `each` for every key that begins with `prefix`, in order, with its value. */
enum journal_status journal_kv_each(struct journal *j, const char *prefix,
                                    void (*each)(void *ctx, const char *key, const char *value),
                                    void *ctx) MUST_CHECK;

/* Stores a connector's memory of a turn (tc_remember); text NULL deletes it. It is deleted with the
 * turn, except that of the turn "". */
enum journal_status journal_memory_put(struct journal *j, const char *conn, const char *turn,
                                       const char *text) MUST_CHECK;
/* Appends the text. UNCHANGED: none. */
enum journal_status journal_memory_get(struct journal *j, const char *conn, const char *turn,
                                       struct buf *text) MUST_CHECK;

/* ---- maintenance (journal_prune.c) */

/* Applies the limits to as many rows as possible within milliseconds: call it once a minute, and
 * again at once while journal_has_more_to_prune. */
enum journal_status journal_prune(struct journal *j) MUST_CHECK;
bool journal_has_more_to_prune(const struct journal *j);
/* Applies from the next journal_prune on. */
void journal_set_limits(struct journal *j, const struct journal_limits *limits);
/* Call it when idle. */
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
