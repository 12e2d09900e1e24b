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

struct ledger;

/* Once, on the loop's thread; never before the call returned. `text`: see the operation; else
 * NULL. A NULL function is fine where nobody asks. */
typedef void ledger_done(void *ctx, enum record_status status, const char *text);

/* Starts at what the last host left: what was in flight is in doubt, what is too old or poison is
 * a dead letter. NULL with err; in_use (or NULL) becomes true when that is because another process
 * has the folder. */
struct ledger *ledger_open(struct loop *loop, const char *dir, bool *in_use, struct tc_err *err);
/* Carries out what was asked for, all `done` included. NULL is fine. */
void ledger_close(struct ledger *l);

/* ---- at the start: these wait for the disk, and for what was asked before them */

/* The turns that have not ended, the oldest first: those that waited are to be run, the others to
 * be ended (host_restart) and their agents with them. Before ledger_load: ending them lays rows.
 * `each` asks nothing of the ledger. */
enum record_status ledger_open_turns(struct ledger *l,
                                     void (*each)(void *ctx, const struct record_turn *t),
                                     void *ctx);
/* The rows of a connector, in the order in which they are to go. An outcome is started
 * (ledger_start) before it is cast again, so that one that kills its connector is found out. */
enum record_status ledger_load(struct ledger *l, const char *conn,
                               void (*each)(void *ctx, const struct record_row *row), void *ctx);
/* A turn that is known, whether it has ended or not: `each` is called once. UNCHANGED: it is not.
 */
enum record_status ledger_find_turn(struct ledger *l, const char *turn,
                                    void (*each)(void *ctx, const struct record_turn *t),
                                    void *ctx);
/* All that was allowed for longer, the oldest first. */
enum record_status ledger_approvals(struct ledger *l,
                                    void (*each)(void *ctx, const struct record_approval *a),
                                    void *ctx);
/* Each key that begins with `prefix`, in their order, with its value. `each` asks nothing of the
 * ledger. */
enum record_status ledger_each_value(struct ledger *l, const char *prefix,
                                     void (*each)(void *ctx, const char *key, const char *value),
                                     void *ctx);
/* Appends what the connector remembered of the turn. UNCHANGED: nothing. */
enum record_status ledger_recall(struct ledger *l, const char *conn, const char *turn,
                                 struct buf *text);

/* ---- turns */

/* UNCHANGED: one of its two ids is known already; text: the turn of that message. Only after DONE
 * or UNCHANGED may the message be acknowledged to its service. */
void ledger_admit(struct ledger *l, const struct record_turn *t, ledger_done *done, void *ctx);
/* A waiting turn runs, cast to those in `seen` (record_turn; or NULL); the `n` others that waited
 * are merged into it. UNCHANGED: it did not wait. */
void ledger_begin(struct ledger *l, const char *turn, const char *seen, const char *const *merged,
                  size_t n, ledger_done *done, void *ctx);
/* A waiting turn is merged into one that runs. UNCHANGED: it does not wait. */
void ledger_merge(struct ledger *l, const char *turn, const char *into, ledger_done *done,
                  void *ctx);
/* A waiting turn is taken back. UNCHANGED: it does not wait. */
void ledger_cancel(struct ledger *l, const char *turn, ledger_done *done, void *ctx);
/* A waiting turn is removed with the ids of its message, which may be admitted again. UNCHANGED: it
 * does not wait. */
void ledger_forget_turn(struct ledger *l, const char *turn, ledger_done *done, void *ctx);
/* boot_id, agent_pid, agent_start, cgroup of t, by its id. UNCHANGED: it does not run. */
void ledger_note_agent(struct ledger *l, const struct record_turn *t, ledger_done *done, void *ctx);
/* Ends a running turn and lays one row per target, at most one for a connector. UNCHANGED: it
 * does not run, so it has its outcome. When it fails, who asked tells the outcome all the same:
 * that the turn is over is written, for nobody, as soon as that is possible. */
void ledger_end_turn(struct ledger *l, const struct record_outcome *o, ledger_done *done,
                     void *ctx);

/* journal_note_result */
void ledger_note_result(struct ledger *l, const char *turn, struct str result, ledger_done *done,
                        void *ctx);
/* One turn, whether it has ended or not. `turn` is valid for the call, and counts when the status
 * is DONE. UNCHANGED: it is not known. */
void ledger_look_up(struct ledger *l, const char *turn,
                    void (*found)(void *ctx, enum record_status status,
                                  const struct record_turn *turn),
                    void *ctx);

/* ---- what has to be told. Requests are numbered by their order: the first number is returned,
 * the others follow; they count once the operation is DONE. */

/* Behind all others. */
int64_t ledger_add(struct ledger *l, const char *conn, const struct record_request *requests,
                   size_t n, ledger_done *done, void *ctx);
/* In the place of the outcome of that turn; none at all is fine. UNCHANGED: there is no such row
 * (any more), and nothing was laid. */
int64_t ledger_expand(struct ledger *l, const char *conn, const char *turn,
                      const struct record_request *requests, size_t n, ledger_done *done,
                      void *ctx);
/* The connector cannot tell it: the outcome of that turn is a dead letter. UNCHANGED: there is no
 * such row (any more). */
void ledger_fail_outcome(struct ledger *l, const char *conn, const char *turn, const char *reason,
                         ledger_done *done, void *ctx);
/* An event (its line) that the connector dies of, each of so many times, is a dead letter. */
void ledger_bury_event(struct ledger *l, const char *conn, const char *turn, struct str line,
                       int64_t attempts, ledger_done *done, void *ctx);
/* An attempt begins. UNCHANGED: there is no such row, or it is in flight already. */
void ledger_start(struct ledger *l, int64_t seq, ledger_done *done, void *ctx);
/* What the previous process of a connector left in flight is queued and in doubt. Before
 * ledger_load for the process that takes its place. UNCHANGED: there was nothing. */
void ledger_take_over(struct ledger *l, const char *conn, ledger_done *done, void *ctx);
/* What came of it, or of waiting. UNCHANGED: there is no such row, and nothing was laid. */
int64_t ledger_settle(struct ledger *l, int64_t seq, const struct record_settlement *s,
                      ledger_done *done, void *ctx);

/* What a connector wants to know of a turn after a death; NULL: nothing. It goes with the turn;
 * that of the turn "" stays. */
void ledger_remember(struct ledger *l, const char *conn, const char *turn, const char *text,
                     ledger_done *done, void *ctx);

/* ---- what was allowed for longer; the id is the caller's, above all. UNCHANGED of forget: there
 * was none. */

void ledger_keep_approval(struct ledger *l, const struct record_approval *a, ledger_done *done,
                          void *ctx);
void ledger_forget_approvals(struct ledger *l, const struct record_approvals *which,
                             ledger_done *done, void *ctx);

/* What an agent asked people, and what came of it; the time is the ledger's. */
void ledger_note_question(struct ledger *l, const struct record_question *q, ledger_done *done,
                          void *ctx);

/* ---- for operators */

struct journal_stats;
/* `stats` counts when the status is DONE. */
void ledger_stats(struct ledger *l,
                  void (*done)(void *ctx, enum record_status status,
                               const struct journal_stats *stats),
                  void *ctx);
/* A dead letter becomes a row behind all others, whose number is returned; text: its connector.
 * UNCHANGED: there is no such letter. REFUSED: it is an event. */
int64_t ledger_retry_dead(struct ledger *l, int64_t id, ledger_done *done, void *ctx);

/* ---- keys and values; value NULL removes */

void ledger_put(struct ledger *l, const char *key, const char *value, ledger_done *done, void *ctx);
/* text: the value. UNCHANGED: none. */
void ledger_get(struct ledger *l, const char *key, ledger_done *done, void *ctx);

#endif
