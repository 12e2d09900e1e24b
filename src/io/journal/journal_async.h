/* SPDX-License-Identifier: MIT
 * The journal as the loop's thread sees it: every call returns at once, and is carried out on a
 * thread of its own, in the order of the calls. io/journal/journal.h says what each operation
 * promises; what it needs is copied. Loop thread only.
 *
 * A row that was laid is sent like this: start, the request, settle. Each may be asked for as soon
 * as the one before was; but a request goes out only when its start is DONE. When start is
 * UNCHANGED the row is gone (a bound was reached: it is a dead letter), and nothing is sent. */
#ifndef IO_JOURNAL_JOURNAL_ASYNC_H
#define IO_JOURNAL_JOURNAL_ASYNC_H

#include "base/bytes/buf.h"
#include "base/sys/err.h"
#include "io/journal/journal_types.h"
#include "io/loop/loop.h"

struct journal_async;
struct journal_limits;

/* Once, on the loop's thread; never before the call returned. `text`: see the operation; else
 * NULL. A NULL function is fine where nobody asks. */
typedef void journal_done_fn(void *ctx, enum journal_status status, const char *text);

/* Starts at what the last host left: what was in flight is in doubt, what is too old or poison is
 * a dead letter. `limits` NULL: the default. NULL with err; in_use (or NULL) becomes true when that
 * is because another process has the folder. */
struct journal_async *journal_async_open(struct loop *loop, const char *dir,
                                         const struct journal_limits *limits, bool *in_use,
                                         struct tc_err *err);
/* Applies other limits (journal.h). */
void journal_async_set_limits(struct journal_async *l, const struct journal_limits *limits);
/* Carries out what was asked for, all `done` included. NULL is fine. */
void journal_async_close(struct journal_async *l);

/* ---- at the start: these wait for the disk, and for what was asked before them */

/* The turns that have not ended, the oldest first: those that waited are to be run, the others to
 * be ended (host_restart) and their agents with them. Before journal_async_list_open_list_rows:
 * ending them lays rows. `each` asks nothing of the journal. */
enum journal_status
journal_async_list_open_turns(struct journal_async *l,
                              void (*each)(void *ctx, const struct journal_turn *t), void *ctx);
/* The rows of a connector, in the order in which they are to go. An outcome is started
 * (journal_async_start_attempt) before it is cast again, so that one that kills its connector is
 * found out. */
enum journal_status journal_async_list_open_list_rows(struct journal_async *l, const char *conn,
                                                      void (*each)(void *ctx,
                                                                   const struct journal_row *row),
                                                      void *ctx);
/* A turn that is known, whether it has ended or not: `each` is called once. UNCHANGED: it is not.
 */
enum journal_status
journal_async_list_open_find_turn(struct journal_async *l, const char *turn,
                                  void (*each)(void *ctx, const struct journal_turn *t), void *ctx);
/* All that was allowed for longer, the oldest first. */
enum journal_status journal_async_list_open_list_approvals(
    struct journal_async *l, void (*each)(void *ctx, const struct journal_approval *a), void *ctx);
/* The sums of that day. */
enum journal_status
journal_async_list_spent(struct journal_async *l, int64_t day,
                         void (*each)(void *ctx, const struct journal_spent_row *row), void *ctx);
/* Each key that begins with `prefix`, in their order, with its value. `each` asks nothing of the
 * journal. */
enum journal_status
journal_async_kv_each(struct journal_async *l, const char *prefix,
                      void (*each)(void *ctx, const char *key, const char *value), void *ctx);
/* Appends what the connector remembered of the turn. UNCHANGED: nothing. */
enum journal_status journal_async_get(struct journal_async *l, const char *conn, const char *turn,
                                      struct buf *text);

/* ---- turns */

/* UNCHANGED: one of its two ids is known already; text: the turn of that message. Only after DONE
 * or UNCHANGED may the message be acknowledged to its service. */
void journal_async_admit_turn(struct journal_async *l, const struct journal_turn *t,
                              journal_done_fn *done, void *ctx);
/* A waiting turn begins to run and is told to the instances in `seen` (see turn_record.h; or NULL);
 * the `n` waiting turns in `merged` are merged into it. UNCHANGED: it did not wait. */
void journal_async_begin(struct journal_async *l, const char *turn, const char *seen,
                         const char *const *merged, size_t n, journal_done_fn *done, void *ctx);
/* Adds an instance to those that are told of a running turn. UNCHANGED: it does not run. */
void journal_async_add_seen(struct journal_async *l, const char *turn, const char *instance,
                            journal_done_fn *done, void *ctx);
/* A waiting turn is merged into one that runs. UNCHANGED: it does not wait. */
void journal_async_merge(struct journal_async *l, const char *turn, const char *into,
                         journal_done_fn *done, void *ctx);
/* A waiting turn is taken back. UNCHANGED: it does not wait. */
void journal_async_cancel(struct journal_async *l, const char *turn, journal_done_fn *done,
                          void *ctx);
/* A waiting turn is removed with the ids of its message, which may be admitted again. UNCHANGED: it
 * does not wait. */
void journal_async_forget_turn(struct journal_async *l, const char *turn, journal_done_fn *done,
                               void *ctx);
/* Stores the agent process of the turn t->id: boot_id, agent_pid, agent_start, cgroup. UNCHANGED:
 * the turn does not run. */
void journal_async_note_agent(struct journal_async *l, const struct journal_turn *t,
                              journal_done_fn *done, void *ctx);
/* Ends a running turn and adds one row per target, at most one for a connector. UNCHANGED: it does
 * not run, so it has its outcome. When this fails, the caller tells the outcome all the same, and
 * the journal stores the end of the turn, without rows, as soon as that is possible. */
void journal_async_end_turn(struct journal_async *l, const struct journal_outcome *o,
                            journal_done_fn *done, void *ctx);

/* journal_add_spent */
void journal_async_add_spent(struct journal_async *l, const char *turn,
                             const struct journal_spent *spent);
/* journal_note_result */
void journal_async_note_result(struct journal_async *l, const char *turn, struct str result,
                               journal_done_fn *done, void *ctx);
/* Looks up a turn, ended or not. `turn` is set when the status is DONE, and valid during the call.
 * UNCHANGED: unknown turn. */
void journal_async_look_up(struct journal_async *l, const char *turn,
                           void (*found)(void *ctx, enum journal_status status,
                                         const struct journal_turn *turn),
                           void *ctx);

/* ---- requests to be sent. They are numbered in their order: the first number is returned, the
 * others follow; the numbers are valid once the operation is DONE. */

/* Adds rows after all others. */
int64_t journal_async_add_requests(struct journal_async *l, const char *conn,
                                   const struct journal_request *requests, size_t n,
                                   journal_done_fn *done, void *ctx);
/* Replaces the outcome row of that turn by the requests, possibly none. UNCHANGED: there is no such
 * row (any more), and nothing was added. */
int64_t journal_async_expand(struct journal_async *l, const char *conn, const char *turn,
                             const struct journal_request *requests, size_t n,
                             journal_done_fn *done, void *ctx);
/* The connector cannot deliver the outcome of that turn, which becomes a dead letter. UNCHANGED:
 * there is no such row (any more). */
void journal_async_fail_outcome(struct journal_async *l, const char *conn, const char *turn,
                                const char *reason, journal_done_fn *done, void *ctx);
/* Stores an event (its line) as a dead letter, because the connector died of it `attempts` times.
 */
void journal_async_add_dead_event(struct journal_async *l, const char *conn, const char *turn,
                                  struct str line, int64_t attempts, journal_done_fn *done,
                                  void *ctx);
/* Records that an attempt begins. UNCHANGED: there is no such row, or it is in flight already. */
void journal_async_start_attempt(struct journal_async *l, int64_t seq, journal_done_fn *done,
                                 void *ctx);
/* Queues the rows that the previous process of a connector left in flight again, in doubt. To be
 * called before the rows are listed for the next process. UNCHANGED: there were none. */
void journal_async_take_over(struct journal_async *l, const char *conn, journal_done_fn *done,
                             void *ctx);
/* Ends a row, in flight or waiting (journal_settle_row). UNCHANGED: there is no such row, and
 * nothing was added. */
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
/* `stats` counts when the status is DONE. */
void journal_async_stats(struct journal_async *l,
                         void (*done)(void *ctx, enum journal_status status,
                                      const struct journal_stats *stats),
                         void *ctx);
/* A dead letter becomes a row behind all others, whose number is returned; text: its connector.
 * UNCHANGED: there is no such letter. REFUSED: it is an event. */
int64_t journal_async_retry_dead(struct journal_async *l, int64_t id, journal_done_fn *done,
                                 void *ctx);

#define JOURNAL_RETRY_MAX 50
/* The dead letters of that turn in that lane, at most JOURNAL_RETRY_MAX, become rows behind all
 * others; returned is the number of the first, text: how many. UNCHANGED: there is none. */
int64_t journal_async_retry_turn(struct journal_async *l, const char *conn, const char *turn,
                                 const char *lane, journal_done_fn *done, void *ctx);

/* ---- keys and values; value NULL removes */

void journal_async_kv_put(struct journal_async *l, const char *key, const char *value,
                          journal_done_fn *done, void *ctx);
/* text: the value. UNCHANGED: none. */
void journal_async_kv_get(struct journal_async *l, const char *key, journal_done_fn *done,
                          void *ctx);

#endif
