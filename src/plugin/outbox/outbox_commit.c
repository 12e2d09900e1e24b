/* SPDX-License-Identifier: MIT
 * Commits batches to the journal, one transaction each, and applies them in arrival order. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/log.h"
#include "plugin/outbox/outbox_internal.h"

#define MAX_HOLD_MS ((int64_t)7 * 24 * 3600 * 1000)

/* ---- journal operations ---- */

struct outbox_commit_rows {
    struct journal_request *requests;
    struct buf *bodies;
    size_t n;
};

static bool outbox_commit_is_durable(const struct outbound_request *l)
{
    return l->http.flags & TC_DURABLE;
}

static struct outbox_commit_rows pack_rows(const struct callback_batch *b)
{
    struct outbox_commit_rows rows = {.requests = xcalloc(b->count + 1, sizeof *rows.requests),
                                      .bodies = xcalloc(b->count + 1, sizeof *rows.bodies)};
    for (size_t i = 0; i < b->count; i++) {
        const struct outbound_request *const l = b->requests[i];
        if (!outbox_commit_is_durable(l))
            continue;
        struct buf *const body = &rows.bodies[rows.n];
        outbound_request_pack(body, l);
        rows.requests[rows.n++] = (struct journal_request){
            .turn = l->turn,
            .lane = l->http.lane ? l->http.lane : "",
            .priority = (int)l->http.priority,
            .max_age_ms = l->http.max_age_ms,
            .body = {body->p, body->len},
        };
    }
    return rows;
}

static void rows_fini(struct outbox_commit_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        buf_fini(&rows->bodies[i]);
    free(rows->bodies);
    free(rows->requests);
}

static void outbox_commit_on_committed(void *ctx, enum journal_status status, const char *text);

static void outbox_commit_add(struct outbox_commit *c, const struct outbox_commit_rows *rows)
{
    const struct outbox *const p = c->outbox;
    c->is_pending = true;
    c->is_added = true;
    c->first = journal_async_add_requests(p->spec.journal, p->instance, rows->requests, rows->n,
                                          outbox_commit_on_committed, c);
}

static void outbox_commit_expand_outcome(struct outbox_commit *c,
                                         const struct outbox_commit_rows *rows)
{
    const struct outbox *const p = c->outbox;
    c->is_pending = true;
    if (c->batch->failed && !rows->n) {
        CLEANUP_BUF struct buf reason = {0};
        const char *const said = c->batch->verdict.reason;
        if (said)
            log_redact(&reason, (struct str){said, strlen(said)});
        journal_async_fail_outcome(p->spec.journal, p->instance, c->batch->turn,
                                   said ? reason.p : "the callback failed",
                                   outbox_commit_on_committed, c);
        return;
    }
    c->first = journal_async_expand(p->spec.journal, p->instance, c->batch->turn, rows->requests,
                                    rows->n, outbox_commit_on_committed, c);
}

/* Reason of the dead letter: the plugin's text, or the result of the last attempt. */
static void write_reason(struct buf *out, const struct outbox_commit *c)
{
    const char *const said = c->batch->verdict.reason;
    const char *const text = said ? said : c->answered->error ? c->answered->error : "refused";
    log_redact(out, (struct str){text, strlen(text)});
}

static void outbox_commit_settle_row(struct outbox_commit *c, const struct outbox_commit_rows *rows)
{
    static const enum journal_result verdicts[] = {
        [TC_NEXT_DONE] = JOURNAL_SENT,
        [TC_NEXT_AGAIN] = JOURNAL_RETRY,
        [TC_NEXT_FAIL] = JOURNAL_FAIL,
    };
    const struct outbox *const p = c->outbox;
    CLEANUP_BUF struct buf reason = {0};
    write_reason(&reason, c);
    const struct journal_settlement settlement = {
        .verdict = verdicts[c->batch->verdict.next],
        .in_doubt = c->answered->was_ambiguous,
        .reason = reason.p,
        .requests = rows->requests,
        .n = rows->n,
    };
    c->is_pending = true;
    c->first = journal_async_settle_row(p->spec.journal, c->answered->seq, &settlement,
                                        outbox_commit_on_committed, c);
}

static void outbox_commit_on_memory_written(void *ctx, enum journal_status status,
                                            const char *text);

static bool outbox_commit_waits_for_memory(const struct callback_batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->requests[i]->http.flags & TC_AFTER_MEMORY)
            return true;
    return false;
}

/* Writes the turn's memory before the rest of the batch: after a crash, a message that is
 * remembered but not settled is offered to the plugin again. */
static void outbox_commit_write_memory(struct outbox_commit *c)
{
    struct outbox *const p = c->outbox;
    const struct callback_batch *const b = c->batch;
    if (b->memory) {
        struct outbox_memory *const m = xmalloc(sizeof *m);
        m->outbox = p;
        LIST_INSERT_HEAD(&p->memories, m, next);
        p->memories_begun++;
        if (p->spec.remembered)
            p->spec.remembered(p->spec.ctx, b->turn, *b->memory ? b->memory : NULL);
        journal_async_memory_put(p->spec.journal, p->instance, b->turn,
                                 *b->memory ? b->memory : NULL, outbox_commit_on_memory_written, m);
    }
    c->after_memory = outbox_commit_waits_for_memory(b) ? p->memories_begun : 0;
}

static void outbox_commit_write(struct outbox_commit *c)
{
    const struct callback_batch *const b = c->batch;
    if (!c->outbox->spec.journal)
        return;
    struct outbox_commit_rows rows = pack_rows(b);
    outbox_commit_write_memory(c);
    if (c->answered && c->answered->seq)
        outbox_commit_settle_row(c, &rows);
    else if (b->settles == BATCH_OUTCOME)
        outbox_commit_expand_outcome(c, &rows);
    else if (rows.n)
        outbox_commit_add(c, &rows);
    rows_fini(&rows);
}

/* ---- application ---- */

/* The row was removed meanwhile because of a limit, and no other row replaced it. */
static bool outbox_commit_is_row_lost(const struct outbox_commit *c)
{
    return c->status == JOURNAL_NO_CHANGE && c->answered && c->answered->seq;
}

static bool outbox_commit_replaces_request(const struct outbox_commit *c,
                                           const struct outbound_request *l)
{
    const char *const lane = c->answered ? c->answered->request->http.lane : NULL;
    return lane && l->http.lane && strcmp(lane, l->http.lane) == 0 && outbox_commit_is_durable(l) &&
           c->batch->verdict.next != TC_NEXT_AGAIN;
}

/* The request whose reply or offer the callback handled; NULL: none, or it has ended. */
static const struct outbox_entry *outbox_commit_find_cause(const struct outbox_commit *c)
{
    const struct outbox_entry *item = c->answered;
    if (item || c->batch->settles != BATCH_REQUEST)
        return item;
    LIST_FOREACH (item, &c->outbox->items, next)
        if (item->request->id == c->batch->request)
            return item;
    return NULL;
}

/* A callback may send for any turn of its instance. Of several turns with this id, uses the one for
 * which the callback was called. */
static struct outbox_turn *outbox_commit_find_turn(const struct outbox_commit *c, const char *id)
{
    const struct outbox_entry *const cause = outbox_commit_find_cause(c);
    if (cause && cause->turn && strcmp(cause->request->turn, id) == 0)
        return cause->turn;
    return outbox_find_turn(c->outbox, id);
}

/* The turn of the batch; NULL: unknown. The channel may have freed the handle and used its address
 * again, so the oldest turn with the handle and the id is the one that ends. */
static struct outbox_turn *outbox_commit_find_batch_turn(const struct outbox_commit *c)
{
    struct outbox_turn *ending = NULL;
    for (struct outbox_turn *t = c->outbox->turns; t && c->batch->ending; t = t->next)
        if (t->handle == c->batch->ending && strcmp(t->id, c->batch->turn) == 0)
            ending = t;
    return ending ? ending : outbox_commit_find_turn(c, c->batch->turn);
}

/* Requests that replace the answered one are placed before the others, so the last of them is
 * queued first. */
static void submit_requests(struct outbox_commit *c)
{
    struct callback_batch *const b = c->batch;
    struct outbox_entry **const items = xcalloc(b->count + 1, sizeof *items);
    int64_t seq = c->first;
    const struct outbox_spec *const spec = &c->outbox->spec;
    const bool in_doubt =
        b->settles == BATCH_OUTCOME && spec->tells && spec->tells(spec->ctx, b->turn);
    for (size_t i = 0; i < b->count; i++) {
        items[i] = outbox_entry_add(c->outbox, outbox_commit_find_turn(c, b->requests[i]->turn),
                                    b->requests[i]);
        if (c->is_kept && outbox_commit_is_durable(b->requests[i]))
            items[i]->seq = seq++;
        items[i]->in_doubt = items[i]->asks_first =
            in_doubt && outbox_commit_is_durable(b->requests[i]);
    }
    for (size_t i = b->count; i-- > 0;)
        if (outbox_commit_replaces_request(c, b->requests[i]))
            outbox_entry_submit(items[i], true);
    for (size_t i = 0; i < b->count; i++)
        if (!outbox_commit_replaces_request(c, b->requests[i]))
            outbox_entry_submit(items[i], false);
    b->count = 0; /* ownership has passed to the items */
    free(items);
}

static void drop_requests(struct outbox_commit *c)
{
    struct callback_batch *const b = c->batch;
    for (size_t i = 0; i < b->count; i++)
        outbox_entry_drop(outbox_entry_add(c->outbox,
                                           outbox_commit_find_turn(c, b->requests[i]->turn),
                                           b->requests[i]),
                          "the message it edits was moved to dead letters");
    b->count = 0;
}

static bool has_durable(const struct callback_batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (outbox_commit_is_durable(b->requests[i]))
            return true;
    return false;
}

/* Counts a failed durable request; logs the failure of a request without a row, which is reported
 * nowhere else. */
static void outbox_commit_count_failure(const struct outbox_commit *c)
{
    const struct outbox_entry *const item = c->answered;
    if (!item || c->batch->verdict.next != TC_NEXT_FAIL || has_durable(c->batch))
        return;
    c->outbox->dead += outbox_commit_is_durable(item->request);
    if (item->seq || item->state == OUTBOX_GIVEN_UP || c->batch->count)
        return;
    CLEANUP_BUF struct buf reason = {0};
    write_reason(&reason, c);
    const int level = outbox_commit_is_durable(item->request) ? LOG_ERR : LOG_INFO;
    if (*item->request->turn)
        log_write(level, c->outbox->instance, "turn %s: gave up an outbound request: %s",
                  item->request->turn, reason.p);
    else
        log_write(level, c->outbox->instance, "gave up an outbound request outside of a turn: %s",
                  reason.p);
}

static void outbox_commit_apply(struct outbox_commit *c)
{
    struct outbox *const p = c->outbox;
    struct outbox_turn none = {.items = 0}, *const known = outbox_commit_find_batch_turn(c),
                       *const turn = known ? known : &none;
    turn->items++; /* it is valid until the end of this function */
    turn->is_over |= c->batch->over && turn != &p->context;
    outbox_commit_count_failure(c);
    if (outbox_commit_is_row_lost(c))
        drop_requests(c);
    else
        submit_requests(c);
    if (c->answered) {
        outbox_record_verdict(c->answered, &c->batch->verdict);
        outbox_entry_settle(c->answered, &c->batch->verdict);
    }
    for (const struct outbound_result *r = c->batch->results; r; r = r->next)
        outbox_perform_complete(p, r);
    ASSERT(turn->items > 0);
    turn->items--;
    if (known)
        outbox_release_turn(p, known);
}

static bool is_ready(const struct outbox_commit *c)
{
    return !c->is_pending && c->outbox->memories_done >= c->after_memory;
}

static void outbox_commit_apply_ready(struct outbox *p)
{
    if (p->is_draining)
        return;
    p->is_draining = true;
    for (struct outbox_commit *c; (c = STAILQ_FIRST(&p->commits)) && is_ready(c);) {
        STAILQ_REMOVE_HEAD(&p->commits, next);
        outbox_commit_apply(c);
        callback_batch_free(c->batch);
        free(c);
    }
    p->is_draining = false;
}

/* ---- order of commits */

static bool outbox_commit_is_failure(enum journal_status status)
{
    return status != JOURNAL_DONE && status != JOURNAL_NO_CHANGE;
}

/* Batches are written in the order of their arrival. */
static void outbox_commit_on_memory_written(void *ctx, enum journal_status status, const char *text)
{
    (void)text;
    struct outbox_memory *const m = ctx;
    struct outbox *const p = m->outbox;
    if (p)
        LIST_REMOVE(m, next);
    free(m);
    if (!p)
        return;
    p->memories_done++;
    if (outbox_commit_is_failure(status))
        log_write(LOG_ERR, p->instance, "cannot write the memory of a turn to the journal");
    outbox_commit_apply_ready(p);
}

static bool outbox_commit_lacks_outcome_row(const struct outbox_commit *c,
                                            enum journal_status status)
{
    return status == JOURNAL_NO_CHANGE && c->batch->settles == BATCH_OUTCOME && !c->is_added &&
           has_durable(c->batch);
}

/* There is no outcome row for this instance: its requests are durable all the same. */
static void outbox_commit_add_without_outcome(struct outbox_commit *c)
{
    struct outbox_commit_rows rows = pack_rows(c->batch);
    outbox_commit_add(c, &rows);
    rows_fini(&rows);
}

static void outbox_commit_on_committed(void *ctx, enum journal_status status, const char *text)
{
    (void)text;
    struct outbox_commit *const c = ctx;
    ASSERT(c->is_pending);
    c->is_pending = false;
    if (!c->outbox) {
        free(c);
        return;
    }
    if (outbox_commit_lacks_outcome_row(c, status)) {
        outbox_commit_add_without_outcome(c);
        return;
    }
    if (c->answered)
        c->answered->is_on_record = outbox_commit_is_failure(status);
    c->status = status;
    c->is_kept = status == JOURNAL_DONE;
    if (outbox_commit_is_failure(status))
        log_write(LOG_ERR, c->outbox->instance,
                  "turn %s: cannot write an outbound request to the journal; sending it without "
                  "durability",
                  c->batch->turn);
    outbox_commit_apply_ready(c->outbox);
}

/* A reply was passed to the plugin; its batch will arrive. */
static bool outbox_entry_awaits_verdict(const struct outbox_entry *item)
{
    return item->state == OUTBOX_ASKED || item->state == OUTBOX_DROPPED;
}

static struct outbox_entry *outbox_commit_find_answered_entry(const struct outbox *p,
                                                              const struct callback_batch *b)
{
    struct outbox_entry *item;
    if (b->settles != BATCH_REQUEST)
        return NULL;
    LIST_FOREACH (item, &p->items, next)
        if (outbox_entry_awaits_verdict(item) && item->request->id == b->request)
            return item;
    return NULL;
}

/* Sanitises text of a plugin. */
static void outbox_commit_correct_verdict(struct tc_verdict *v, const struct outbox_entry *item)
{
    if ((unsigned)v->next > TC_NEXT_FAIL ||
        (item->state == OUTBOX_DROPPED && v->next == TC_NEXT_AGAIN))
        v->next = TC_NEXT_FAIL;
    if ((unsigned)v->scope > TC_HOLD_INSTANCE)
        v->scope = TC_HOLD_LANE;
    if (v->hold_ms < 0)
        v->hold_ms = 0;
    if (v->hold_ms > MAX_HOLD_MS)
        v->hold_ms = MAX_HOLD_MS;
}

void outbox_commit_batch(struct outbox *p, struct callback_batch *b)
{
    struct outbox_commit *const c = xcalloc(1, sizeof *c);
    if (!b->turn)
        b->turn = xstrdup("");
    *c = (struct outbox_commit){.outbox = p, .batch = b};
    if (!outbox_perform_handle_verdict(p, b, &c->answered))
        c->answered = outbox_commit_find_answered_entry(p, b);
    if (c->answered) {
        outbox_commit_correct_verdict(&b->verdict, c->answered);
        outbox_entry_move(c->answered, OUTBOX_ON_DECIDE); /* each request is answered once */
    }
    STAILQ_INSERT_TAIL(&p->commits, c, next);
    outbox_commit_write(c);
    outbox_commit_apply_ready(p);
}
