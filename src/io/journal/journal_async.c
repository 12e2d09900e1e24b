/* SPDX-License-Identifier: MIT
 * Owns the journal's thread, and passes operations to it and results back: each call becomes an
 * order with copies of its arguments. */
#include "io/journal/journal_async_internal.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/sys/clock.h"

#define PRUNE_MS (60 * 1000)

/* An order: filled by the loop's thread, executed by the worker's, completed on the loop's. Each
 * operation uses the members that it needs. */
struct journal_op {
    struct journal_async *journal;
    enum journal_status (*run)(struct journal *j, struct journal_op *o);
    journal_done_fn *done; /* or NULL */
    void (*told)(void *ctx, enum journal_status status, const struct journal_stats *stats);
    void *ctx;
    enum journal_status status;
    struct buf text;     /* the result, if there is one */
    struct arena memory; /* owns the texts below */
    const char *key, *turn, *value, *seen;
    const char *const *merged;
    const char *into;
    size_t n; /* number of merged turns, or of requests */
    const struct journal_request *requests;
    struct str line;
    int64_t attempts;
    int64_t seq, first; /* the row concerned; the number of the first new row */
    struct journal_turn record;
    struct journal_outcome outcome;
    struct journal_settlement settlement;
    struct journal_spent spent; /* of the outcome */
    struct journal_stats stats;
    struct journal_approval approval;
    struct journal_approval_filter approvals;
    struct journal_question question;
};

/* ---- submission and completion */

static struct journal_op *journal_async_new_op(struct journal_async *l,
                                               enum journal_status (*run)(struct journal *j,
                                                                          struct journal_op *o),
                                               journal_done_fn *done, void *ctx)
{
    struct journal_op *const o = xcalloc(1, sizeof *o);
    o->journal = l;
    o->run = run;
    o->done = done;
    o->ctx = ctx;
    return o;
}

static void journal_async_run_op(void *arg)
{
    struct journal_op *const o = arg;
    journal_async_end_again(o->journal);
    o->status = o->run(o->journal->journal, o);
}

static void journal_async_complete(void *arg)
{
    struct journal_op *const o = arg;
    if (o->done)
        o->done(o->ctx, o->status, o->text.p);
    if (o->told)
        o->told(o->ctx, o->status, &o->stats);
    buf_fini(&o->text);
    arena_fini(&o->memory);
    free(o);
}

/* Pruning runs after other operations, because only writes need it: so no timer is required. */
static void journal_async_post(struct journal_op *o)
{
    struct journal_async *const l = o->journal;
    worker_submit(l->worker, journal_async_run_op, journal_async_complete, o);
    const int64_t now = clock_mono_ms();
    if (now - l->pruned_ms < PRUNE_MS)
        return;
    l->pruned_ms = now;
    journal_async_schedule_pruning(l, NULL);
}

static const char *journal_async_copy(struct journal_op *o, const char *text)
{
    return arena_strdup(&o->memory, text);
}

static struct str journal_async_copy_bytes(struct journal_op *o, struct str s)
{
    char *const bytes = arena_alloc_bytes(&o->memory, s.len);
    if (s.len)
        memcpy(bytes, s.p, s.len);
    return (struct str){bytes, s.len};
}

/* Also assigns their numbers; returns the first. */
static int64_t journal_async_copy_requests(struct journal_op *o,
                                           const struct journal_request *requests, size_t n)
{
    struct journal_request *const copies = arena_alloc(&o->memory, n * sizeof *copies);
    for (size_t i = 0; i < n; i++) {
        copies[i] = requests[i];
        copies[i].turn = journal_async_copy(o, requests[i].turn);
        copies[i].lane = journal_async_copy(o, requests[i].lane);
        copies[i].body = journal_async_copy_bytes(o, requests[i].body);
    }
    o->requests = copies;
    o->n = n;
    o->first = o->journal->next_seq;
    o->journal->next_seq += (int64_t)n;
    return o->first;
}

static struct journal_turn journal_async_copy_turn(struct journal_op *o,
                                                   const struct journal_turn *t)
{
    return (struct journal_turn){
        .id = journal_async_copy(o, t->id),
        .agent = journal_async_copy(o, t->agent),
        .conv = journal_async_copy(o, t->conv),
        .source = journal_async_copy(o, t->source),
        .msg_id = journal_async_copy(o, t->msg_id),
        .also = journal_async_copy(o, t->also),
        .waiting = t->waiting,
        .prompt = journal_async_copy(o, t->prompt),
        .route = journal_async_copy(o, t->route),
        .files = journal_async_copy(o, t->files),
        .seen = journal_async_copy(o, t->seen),
        .instances = journal_async_copy(o, t->instances),
        .boot_id = journal_async_copy(o, t->boot_id),
        .cgroup = journal_async_copy(o, t->cgroup),
        .agent_pid = t->agent_pid,
        .agent_start = t->agent_start,
        .owner = journal_async_copy(o, t->owner),
        .person = journal_async_copy(o, t->person),
    };
}

static struct journal_outcome journal_async_copy_outcome(struct journal_op *o,
                                                         const struct journal_outcome *what)
{
    struct journal_target *const targets = arena_alloc(&o->memory, what->n * sizeof *targets);
    for (size_t i = 0; i < what->n; i++)
        targets[i] = (struct journal_target){
            .conn = journal_async_copy(o, what->targets[i].conn),
            .lane = journal_async_copy(o, what->targets[i].lane),
            .body = journal_async_copy_bytes(o, what->targets[i].body),
        };
    o->first = o->journal->next_seq;
    o->journal->next_seq += (int64_t)what->n;
    o->spent = what->spent ? *what->spent : (struct journal_spent){0};
    return (struct journal_outcome){
        .turn = journal_async_copy(o, what->turn),
        .error = journal_async_copy(o, what->error),
        .result = journal_async_copy_bytes(o, what->result),
        .spent = what->spent ? &o->spent : NULL,
        .targets = targets,
        .n = what->n,
    };
}

/* ---- turns */

static enum journal_status journal_async_run_admit(struct journal *j, struct journal_op *o)
{
    return journal_admit_turn(j, &o->record, &o->text);
}

void journal_async_admit_turn(struct journal_async *l, const struct journal_turn *t,
                              journal_done_fn *done, void *ctx)
{
    struct journal_op *const o = journal_async_new_op(l, journal_async_run_admit, done, ctx);
    o->record = journal_async_copy_turn(o, t);
    journal_async_post(o);
}

static enum journal_status journal_async_run_begin(struct journal *j, struct journal_op *o)
{
    return journal_begin_turn(j, o->turn, o->seen, o->merged, o->n);
}

void journal_async_begin(struct journal_async *l, const char *turn, const char *seen,
                         const char *const *merged, size_t n, journal_done_fn *done, void *ctx)
{
    struct journal_op *const o = journal_async_new_op(l, journal_async_run_begin, done, ctx);
    const char **const copies = arena_alloc(&o->memory, n * sizeof *copies);
    for (size_t i = 0; i < n; i++)
        copies[i] = journal_async_copy(o, merged[i]);
    o->turn = journal_async_copy(o, turn);
    o->seen = journal_async_copy(o, seen);
    o->merged = copies;
    o->n = n;
    journal_async_post(o);
}

static enum journal_status journal_async_run_cancel(struct journal *j, struct journal_op *o)
{
    return journal_cancel_turn(j, o->turn);
}

static enum journal_status journal_async_run_merge(struct journal *j, struct journal_op *o)
{
    return journal_merge(j, o->turn, o->into);
}

void journal_async_merge(struct journal_async *l, const char *turn, const char *into,
                         journal_done_fn *done, void *ctx)
{
    struct journal_op *const o = journal_async_new_op(l, journal_async_run_merge, done, ctx);
    o->turn = journal_async_copy(o, turn);
    o->into = journal_async_copy(o, into);
    journal_async_post(o);
}

void journal_async_cancel(struct journal_async *l, const char *turn, journal_done_fn *done,
                          void *ctx)
{
    struct journal_op *const o = journal_async_new_op(l, journal_async_run_cancel, done, ctx);
    o->turn = journal_async_copy(o, turn);
    journal_async_post(o);
}

static enum journal_status journal_async_run_delete_waiting(struct journal *j, struct journal_op *o)
{
    return journal_delete_waiting_turn(j, o->turn);
}

void journal_async_delete_waiting_turn(struct journal_async *l, const char *turn,
                                       journal_done_fn *done, void *ctx)
{
    struct journal_op *const o =
        journal_async_new_op(l, journal_async_run_delete_waiting, done, ctx);
    o->turn = journal_async_copy(o, turn);
    journal_async_post(o);
}

static enum journal_status journal_async_run_set_agent_process(struct journal *j,
                                                               struct journal_op *o)
{
    return journal_set_agent_process(j, &o->record);
}

void journal_async_set_agent_process(struct journal_async *l, const struct journal_turn *t,
                                     journal_done_fn *done, void *ctx)
{
    struct journal_op *const o =
        journal_async_new_op(l, journal_async_run_set_agent_process, done, ctx);
    o->record = journal_async_copy_turn(o, t);
    journal_async_post(o);
}

static enum journal_status journal_async_run_end_turn(struct journal *j, struct journal_op *o)
{
    const enum journal_status status = journal_end_turn(j, &o->outcome, o->first);
    if (!journal_async_is_done(status))
        journal_async_add_unrecorded_end(o->journal, &o->outcome);
    return status;
}

void journal_async_end_turn(struct journal_async *l, const struct journal_outcome *what,
                            journal_done_fn *done, void *ctx)
{
    struct journal_op *const o = journal_async_new_op(l, journal_async_run_end_turn, done, ctx);
    o->outcome = journal_async_copy_outcome(o, what);
    journal_async_post(o);
}

/* ---- outbox */

static enum journal_status journal_async_run_add_requests(struct journal *j, struct journal_op *o)
{
    return journal_add_requests(j, o->key, o->requests, o->n, o->first);
}

int64_t journal_async_add_requests(struct journal_async *l, const char *conn,
                                   const struct journal_request *requests, size_t n,
                                   journal_done_fn *done, void *ctx)
{
    struct journal_op *const o = journal_async_new_op(l, journal_async_run_add_requests, done, ctx);
    o->key = journal_async_copy(o, conn);
    const int64_t first = journal_async_copy_requests(o, requests, n);
    journal_async_post(o);
    return first;
}

static enum journal_status journal_async_run_settle_outcome(struct journal *j, struct journal_op *o)
{
    return journal_settle_outcome(j, o->key, o->turn, &o->settlement, o->first);
}

int64_t journal_async_expand(struct journal_async *l, const char *conn, const char *turn,
                             const struct journal_request *requests, size_t n,
                             journal_done_fn *done, void *ctx)
{
    struct journal_op *const o =
        journal_async_new_op(l, journal_async_run_settle_outcome, done, ctx);
    const int64_t first = journal_async_copy_requests(o, requests, n);
    o->key = journal_async_copy(o, conn);
    o->turn = journal_async_copy(o, turn);
    o->settlement =
        (struct journal_settlement){.verdict = JOURNAL_SENT, .requests = o->requests, .n = n};
    journal_async_post(o);
    return first;
}

void journal_async_fail_outcome(struct journal_async *l, const char *conn, const char *turn,
                                const char *reason, journal_done_fn *done, void *ctx)
{
    struct journal_op *const o =
        journal_async_new_op(l, journal_async_run_settle_outcome, done, ctx);
    o->key = journal_async_copy(o, conn);
    o->turn = journal_async_copy(o, turn);
    o->settlement = (struct journal_settlement){.verdict = JOURNAL_FAIL,
                                                .reason = journal_async_copy(o, reason)};
    journal_async_post(o);
}

static enum journal_status journal_async_run_start_attempt(struct journal *j, struct journal_op *o)
{
    return journal_start_attempt(j, o->seq);
}

void journal_async_start_attempt(struct journal_async *l, int64_t seq, journal_done_fn *done,
                                 void *ctx)
{
    struct journal_op *const o =
        journal_async_new_op(l, journal_async_run_start_attempt, done, ctx);
    o->seq = seq;
    journal_async_post(o);
}

static enum journal_status journal_async_run_take_over(struct journal *j, struct journal_op *o)
{
    return journal_take_over(j, o->key);
}

void journal_async_take_over(struct journal_async *l, const char *conn, journal_done_fn *done,
                             void *ctx)
{
    struct journal_op *const o = journal_async_new_op(l, journal_async_run_take_over, done, ctx);
    o->key = journal_async_copy(o, conn);
    journal_async_post(o);
}

static enum journal_status journal_async_run_settle_row(struct journal *j, struct journal_op *o)
{
    return journal_settle_row(j, o->seq, &o->settlement, o->first);
}

int64_t journal_async_settle_row(struct journal_async *l, int64_t seq,
                                 const struct journal_settlement *s, journal_done_fn *done,
                                 void *ctx)
{
    struct journal_op *const o = journal_async_new_op(l, journal_async_run_settle_row, done, ctx);
    const int64_t first = journal_async_copy_requests(o, s->requests, s->n);
    o->seq = seq;
    o->settlement = *s;
    o->settlement.reason = journal_async_copy(o, s->reason);
    o->settlement.requests = o->requests;
    journal_async_post(o);
    return first;
}

static enum journal_status journal_async_run_memory_put(struct journal *j, struct journal_op *o)
{
    return journal_memory_put(j, o->key, o->turn, o->value);
}

void journal_async_memory_put(struct journal_async *l, const char *conn, const char *turn,
                              const char *text, journal_done_fn *done, void *ctx)
{
    struct journal_op *const o = journal_async_new_op(l, journal_async_run_memory_put, done, ctx);
    o->key = journal_async_copy(o, conn);
    o->turn = journal_async_copy(o, turn);
    o->value = journal_async_copy(o, text);
    journal_async_post(o);
}

/* ---- approvals */

static enum journal_status journal_async_store_approval(struct journal *j, struct journal_op *o)
{
    return journal_approval_put(j, &o->approval);
}

void journal_async_put_approval(struct journal_async *l, const struct journal_approval *a,
                                journal_done_fn *done, void *ctx)
{
    struct journal_op *const o = journal_async_new_op(l, journal_async_store_approval, done, ctx);
    o->approval = (struct journal_approval){
        .id = a->id,
        .agent = journal_async_copy(o, a->agent),
        .conv = journal_async_copy(o, a->conv),
        .key = journal_async_copy(o, a->key),
        .tool = journal_async_copy(o, a->tool),
        .shown = journal_async_copy(o, a->shown),
        .by = journal_async_copy(o, a->by),
    };
    journal_async_post(o);
}

static enum journal_status journal_async_run_delete_approvals(struct journal *j,
                                                              struct journal_op *o)
{
    return journal_approval_delete(j, &o->approvals);
}

void journal_async_delete_approvals(struct journal_async *l,
                                    const struct journal_approval_filter *which,
                                    journal_done_fn *done, void *ctx)
{
    struct journal_op *const o =
        journal_async_new_op(l, journal_async_run_delete_approvals, done, ctx);
    o->approvals = (struct journal_approval_filter){which->id, journal_async_copy(o, which->agent),
                                                    journal_async_copy(o, which->conv)};
    journal_async_post(o);
}

static enum journal_status journal_async_run_put_question(struct journal *j, struct journal_op *o)
{
    return journal_put_question(j, &o->question);
}

void journal_async_put_question(struct journal_async *l, const struct journal_question *q,
                                journal_done_fn *done, void *ctx)
{
    struct journal_op *const o = journal_async_new_op(l, journal_async_run_put_question, done, ctx);
    o->question = (struct journal_question){
        .turn = journal_async_copy(o, q->turn),
        .id = journal_async_copy(o, q->id),
        .agent = journal_async_copy(o, q->agent),
        .tool = journal_async_copy(o, q->tool),
        .shown = journal_async_copy(o, q->shown),
        .decision = journal_async_copy(o, q->decision),
        .by = journal_async_copy(o, q->by),
    };
    journal_async_post(o);
}

/* ---- for operators */

static enum journal_status journal_async_run_stats(struct journal *j, struct journal_op *o)
{
    return journal_read_stats(j, &o->stats);
}

void journal_async_stats(struct journal_async *l,
                         void (*done)(void *ctx, enum journal_status status,
                                      const struct journal_stats *stats),
                         void *ctx)
{
    struct journal_op *const o = journal_async_new_op(l, journal_async_run_stats, NULL, ctx);
    o->told = done;
    journal_async_post(o);
}

static void journal_async_copy_connector(void *ctx, const struct journal_dead *d)
{
    buf_add_str(&((struct journal_op *)ctx)->text, d->conn);
}

static enum journal_status journal_async_run_add_dead_event(struct journal *j, struct journal_op *o)
{
    return journal_dead_add(j, &(struct journal_dead){
                                   .attempts = o->attempts,
                                   .conn = o->key,
                                   .turn = o->turn,
                                   .reason = "the connector crashed while handling the event",
                                   .body = o->line,
                               });
}

void journal_async_add_dead_event(struct journal_async *l, const char *conn, const char *turn,
                                  struct str line, int64_t attempts, journal_done_fn *done,
                                  void *ctx)
{
    struct journal_op *const o =
        journal_async_new_op(l, journal_async_run_add_dead_event, done, ctx);
    o->key = journal_async_copy(o, conn);
    o->turn = journal_async_copy(o, turn);
    o->line = (struct str){arena_memdup(&o->memory, line.p, line.len), line.len};
    o->attempts = attempts;
    journal_async_post(o);
}

static enum journal_status journal_async_run_retry_dead(struct journal *j, struct journal_op *o)
{
    const enum journal_status found = journal_dead_get(j, o->seq, journal_async_copy_connector, o);
    return found == JOURNAL_DONE ? journal_dead_retry(j, o->seq, o->first) : found;
}

int64_t journal_async_retry_dead(struct journal_async *l, int64_t id, journal_done_fn *done,
                                 void *ctx)
{
    struct journal_op *const o = journal_async_new_op(l, journal_async_run_retry_dead, done, ctx);
    o->seq = id;
    o->first = l->next_seq++;
    journal_async_post(o);
    return o->first;
}

static enum journal_status journal_async_run_kv_put(struct journal *j, struct journal_op *o)
{
    return journal_kv_put(j, o->key, (struct str){o->value, o->value ? strlen(o->value) : 0});
}

void journal_async_kv_put(struct journal_async *l, const char *key, const char *value,
                          journal_done_fn *done, void *ctx)
{
    struct journal_op *const o = journal_async_new_op(l, journal_async_run_kv_put, done, ctx);
    o->key = journal_async_copy(o, key);
    o->value = journal_async_copy(o, value);
    journal_async_post(o);
}

static enum journal_status journal_async_run_kv_get(struct journal *j, struct journal_op *o)
{
    return journal_kv_get(j, o->key, &o->text);
}

void journal_async_kv_get(struct journal_async *l, const char *key, journal_done_fn *done,
                          void *ctx)
{
    struct journal_op *const o = journal_async_new_op(l, journal_async_run_kv_get, done, ctx);
    o->key = journal_async_copy(o, key);
    journal_async_post(o);
}

struct journal_async *journal_async_open(struct loop *loop, const char *dir,
                                         const struct journal_limits *limits, bool *in_use,
                                         struct tc_err *err)
{
    struct journal *const j =
        journal_open(&(struct journal_spec){.dir = dir, .limits = limits, .in_use = in_use}, err);
    if (!j)
        return NULL;
    const int64_t last = journal_last_seq(j);
    if (last < 0) {
        err_set(err, dir, "cannot read the journal");
        journal_close(j);
        return NULL;
    }
    struct journal_async *const l = xcalloc(1, sizeof *l);
    *l = (struct journal_async){
        .worker = worker_new(loop),
        .next_seq = last + 1,
        .pruned_ms = clock_mono_ms() - PRUNE_MS, /* the first pending order does it */
        .journal = j,
    };
    return l;
}

void journal_async_close(struct journal_async *l)
{
    if (!l)
        return;
    l->closing = true;
    worker_submit(l->worker, journal_async_end_again, NULL, l);
    worker_free(l->worker);
    journal_async_free_unended(l);
    journal_close(l->journal);
    free(l);
}
