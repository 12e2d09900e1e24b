/* SPDX-License-Identifier: MIT
 * Asynchronous interface of the journal for the loop's thread: every call returns at once, and is
 * executed by a separate thread, in the order of the calls. io/journal/journal.h documents the
 * operations; arguments are copied. Loop thread only.
 *
 * A row is sent in three steps: start, the request, settle. Each may be called as soon as the
 * previous one was; but the request may be sent only when its start is DONE. If start is UNCHANGED,
 * the row is gone (a limit was reached: it is a dead letter), and nothing is sent. */
#ifndef IO_JOURNAL_JOURNAL_ASYNC_H
#define IO_JOURNAL_JOURNAL_ASYNC_H

#include "base/bytes/buf.h"
#include "base/sys/err.h"
#include "io/journal/journal_types.h"
#include "io/loop/loop.h"

struct journal_async;
struct journal_limits;

/* Called once, on the loop's thread; never before the call has returned. `text`: see the operation;
 * otherwise NULL. The function may be NULL. */
typedef void journal_done_fn(void *ctx, enum journal_status status, const char *text);

/* Recovers the previous state: rows in flight become in doubt; rows that are too old or poison
 * become dead letters. `limits` NULL: default. NULL with err; in_use (or NULL) becomes true if
 * another process has the directory. */
struct journal_async *journal_async_open(struct loop *loop, const char *dir,
                                         const struct journal_limits *limits, bool *in_use,
                                         struct tc_err *err);
/* Applies other limits (journal.h). */
void journal_async_set_limits(struct journal_async *l, const struct journal_limits *limits);
/* Completes pending operations, including all `done`. NULL is allowed. */
void journal_async_close(struct journal_async *l);

/* ---- for the start: these functions wait for the disk, and for earlier operations */

/* The turns that have not ended, the oldest first: waiting ones are to be run, the others ended
 * (host_restart) together with their agents. Call it before journal_async_list_open_list_rows,
 * because ending them adds rows. `each` must not call the journal. */
enum journal_status
journal_async_list_open_turns(struct journal_async *l,
                              void (*each)(void *ctx, const struct journal_turn *t), void *ctx);
/* The rows of a connector, in sending order. Call journal_async_start_attempt before an outcome is
 * delivered again, so that an outcome that crashes its connector is detected. */
enum journal_status journal_async_list_open_list_rows(struct journal_async *l, const char *conn,
                                                      void (*each)(void *ctx,
                                                                   const struct journal_row *row),
                                                      void *ctx);
/* A known turn, ended or not: calls `each` once. UNCHANGED: unknown. */
enum journal_status
journal_async_list_open_find_turn(struct journal_async *l, const char *turn,
                                  void (*each)(void *ctx, const struct journal_turn *t), void *ctx);
/* All remembered approvals, the oldest first. */
enum journal_status journal_async_list_open_list_approvals(
    struct journal_async *l, void (*each)(void *ctx, const struct journal_approval *a), void *ctx);
/* The sums of that day. */
enum journal_status
journal_async_list_spent(struct journal_async *l, int64_t day,
                         void (*each)(void *ctx, const struct journal_spent_row *row), void *ctx);
/* Calls `each` for every key that begins with `prefix`, in order, with its value. `each` must not
 * call the journal. */
enum journal_status
journal_async_kv_each(struct journal_async *l, const char *prefix,
                      void (*each)(void *ctx, const char *key, const char *value), void *ctx);
/* Appends the connector's memory of the turn. UNCHANGED: none. */
enum journal_status journal_async_get(struct journal_async *l, const char *conn, const char *turn,
                                      struct buf *text);

/* ---- turns */

/* UNCHANGED: one of its two ids is known; text: the turn of that message. Acknowledge the message
 * to its service only after DONE or UNCHANGED. */
void journal_async_admit_turn(struct journal_async *l, const struct journal_turn *t,
                              journal_done_fn *done, void *ctx);
/* A waiting turn starts, and the instances in `seen` receive it (see turn_record.h; or NULL); the
 * `n` waiting turns in `merged` are merged into it. UNCHANGED: it was not waiting. */
void journal_async_begin(struct journal_async *l, const char *turn, const char *seen,
                         const char *const *merged, size_t n, journal_done_fn *done, void *ctx);
/* Adds an instance to the receivers of a running turn. UNCHANGED: it does not run. */
void journal_async_add_seen(struct journal_async *l, const char *turn, const char *instance,
                            journal_done_fn *done, void *ctx);
/* Merges a waiting turn into a running one. UNCHANGED: it was not waiting. */
void journal_async_merge(struct journal_async *l, const char *turn, const char *into,
                         journal_done_fn *done, void *ctx);
/* Withdraws a waiting turn. UNCHANGED: it was not waiting. */
void journal_async_cancel(struct journal_async *l, const char *turn, journal_done_fn *done,
                          void *ctx);
/* Deletes a waiting turn with the ids of its message, which may be admitted again. UNCHANGED: it
 * was not waiting. */
void journal_async_delete_waiting_turn(struct journal_async *l, const char *turn,
                                       journal_done_fn *done, void *ctx);
/* Stores the agent process of the turn t->id: boot_id, agent_pid, agent_start, cgroup. UNCHANGED:
 * the turn does not run. */
void journal_async_set_agent_process(struct journal_async *l, const struct journal_turn *t,
                                     journal_done_fn *done, void *ctx);
/* Ends a running turn and adds one row per target, at most one per connector. UNCHANGED: it does
 * not run, so it has an outcome. If this fails, the caller delivers the outcome all the same, and
 * the journal stores the end of the turn, without rows, as soon as possible. */
void journal_async_end_turn(struct journal_async *l, const struct journal_outcome *o,
                            journal_done_fn *done, void *ctx);

/* journal_list_untold. text: the ids; NULL: there are none. */
void journal_async_list_untold(struct journal_async *l, const char *source, journal_done_fn *done,
                               void *ctx);
/* journal_remove_turn */
void journal_async_remove_turn(struct journal_async *l, const char *turn, journal_done_fn *done,
                               void *ctx);

/* journal_add_spent */
void journal_async_add_spent(struct journal_async *l, const char *turn,
                             const struct journal_spent *spent);
/* journal_set_late_result */
void journal_async_set_late_result(struct journal_async *l, const char *turn, struct str result,
                                   journal_done_fn *done, void *ctx);
/* Looks up a turn, ended or not. `turn` is set when the status is DONE, and valid during the call.
 * UNCHANGED: unknown turn. */
void journal_async_look_up(struct journal_async *l, const char *turn,
                           void (*found)(void *ctx, enum journal_status status,
                                         const struct journal_turn *turn),
                           void *ctx);

/* ---- outbound requests. They are numbered in their order: the first number is returned; the
 * numbers are valid when the operation is DONE. */

/* Adds rows after all others. */
int64_t journal_async_add_requests(struct journal_async *l, const char *conn,
                                   const struct journal_request *requests, size_t n,
                                   journal_done_fn *done, void *ctx);
/* Replaces the outcome row of that turn by the requests, possibly none. UNCHANGED: no such row (any
 * more), and nothing was added. */
int64_t journal_async_expand(struct journal_async *l, const char *conn, const char *turn,
                             const struct journal_request *requests, size_t n,
                             journal_done_fn *done, void *ctx);
/* The connector cannot deliver the outcome of that turn, which becomes a dead letter. UNCHANGED: no
 * such row (any more). */
void journal_async_fail_outcome(struct journal_async *l, const char *conn, const char *turn,
                                const char *reason, journal_done_fn *done, void *ctx);
/* Stores an event (its line) as a dead letter, because it crashed the connector `attempts`
 * times. */
void journal_async_add_dead_event(struct journal_async *l, const char *conn, const char *turn,
                                  struct str line, int64_t attempts, journal_done_fn *done,
                                  void *ctx);
/* Records the start of an attempt. UNCHANGED: no such row, or it is in flight already. */
void journal_async_start_attempt(struct journal_async *l, int64_t seq, journal_done_fn *done,
                                 void *ctx);
/* Queues the rows that the previous process of a connector left in flight again, in doubt. Call it
 * before listing the rows for the next process. UNCHANGED: there were none. */
void journal_async_take_over(struct journal_async *l, const char *conn, journal_done_fn *done,
                             void *ctx);
/* Ends a row, in flight or waiting (journal_settle_row). UNCHANGED: no such row, and nothing was
 * added. */
int64_t journal_async_settle_row(struct journal_async *l, int64_t seq,
                                 const struct journal_settlement *s, journal_done_fn *done,
                                 void *ctx);

/* journal_memory_put */
void journal_async_memory_put(struct journal_async *l, const char *conn, const char *turn,
                              const char *text, journal_done_fn *done, void *ctx);

/* ---- remembered approvals; the caller chooses the id, above every earlier one. Deleting returns
 * UNCHANGED if there was none. */

void journal_async_put_approval(struct journal_async *l, const struct journal_approval *a,
                                journal_done_fn *done, void *ctx);
void journal_async_delete_approvals(struct journal_async *l,
                                    const struct journal_approval_filter *which,
                                    journal_done_fn *done, void *ctx);

/* journal_put_question; the journal sets the time. */
void journal_async_put_question(struct journal_async *l, const struct journal_question *q,
                                journal_done_fn *done, void *ctx);

/* ---- for operators */

struct journal_stats;
/* `stats` is valid if the status is DONE. */
void journal_async_stats(struct journal_async *l,
                         void (*done)(void *ctx, enum journal_status status,
                                      const struct journal_stats *stats),
                         void *ctx);
/* Moves a dead letter to the end of the outbox, and returns its number there; text: its connector.
 * UNCHANGED: no such letter. REFUSED: it is an event. */
int64_t journal_async_retry_dead(struct journal_async *l, int64_t id, journal_done_fn *done,
                                 void *ctx);

#define JOURNAL_RETRY_MAX 50
/* Moves the dead letters of that turn in that lane, at most JOURNAL_RETRY_MAX, to the end of the
 * outbox; returns the number of the first; text: their number. UNCHANGED: there are none. */
int64_t journal_async_retry_turn(struct journal_async *l, const char *conn, const char *turn,
                                 const char *lane, journal_done_fn *done, void *ctx);

/* ---- key-value pairs; value NULL deletes */

void journal_async_kv_put(struct journal_async *l, const char *key, const char *value,
                          journal_done_fn *done, void *ctx);
/* text: the value. UNCHANGED: none. */
void journal_async_kv_get(struct journal_async *l, const char *key, journal_done_fn *done,
                          void *ctx);

#endif
