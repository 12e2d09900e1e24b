/* SPDX-License-Identifier: MIT
 * Owns the way of a batch: to the disk in one transaction, then into effect, one after the
 * other. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/log.h"
#include "plugin/outbox/outbox_internal.h"

#define MAX_HOLD_MS ((int64_t)7 * 24 * 3600 * 1000)

/* ---- what goes to the disk */

struct rows {
    struct record_request *requests;
    struct buf *bodies;
    size_t n;
};

static bool is_durable(const struct letter *l)
{
    return l->http.flags & TC_DURABLE;
}

static struct rows pack_rows(const struct batch *b)
{
    struct rows rows = {.requests = xcalloc(b->count + 1, sizeof *rows.requests),
                        .bodies = xcalloc(b->count + 1, sizeof *rows.bodies)};
    for (size_t i = 0; i < b->count; i++) {
        const struct letter *const l = b->letters[i];
        if (!is_durable(l))
            continue;
        struct buf *const body = &rows.bodies[rows.n];
        letter_pack(body, l);
        rows.requests[rows.n++] = (struct record_request){
            .turn = l->turn,
            .lane = l->http.lane ? l->http.lane : "",
            .priority = (int)l->http.priority,
            .max_age_ms = l->http.max_age_ms,
            .body = {body->p, body->len},
        };
    }
    return rows;
}

static void rows_fini(struct rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        buf_fini(&rows->bodies[i]);
    free(rows->bodies);
    free(rows->requests);
}

static void on_committed(void *ctx, enum record_status status, const char *text);

static void add(struct post_commit *c, const struct rows *rows)
{
    const struct post *const p = c->post;
    c->is_pending = true;
    c->is_added = true;
    c->first = ledger_add(p->spec.ledger, p->instance, rows->requests, rows->n, on_committed, c);
}

static void expand(struct post_commit *c, const struct rows *rows)
{
    const struct post *const p = c->post;
    c->is_pending = true;
    if (c->batch->failed && !rows->n) {
        ledger_fail_outcome(p->spec.ledger, p->instance, c->batch->turn, "the connector failed",
                            on_committed, c);
        return;
    }
    c->first = ledger_expand(p->spec.ledger, p->instance, c->batch->turn, rows->requests, rows->n,
                             on_committed, c);
}

/* Of the dead letter: the plugin's words, or what came of the last attempt. */
static void write_reason(struct buf *out, const struct post_commit *c)
{
    const char *const said = c->batch->verdict.reason;
    const char *const text = said ? said : c->answered->error ? c->answered->error : "refused";
    log_redact(out, (struct str){text, strlen(text)});
}

static void settle(struct post_commit *c, const struct rows *rows)
{
    static const enum record_verdict verdicts[] = {
        [TC_NEXT_DONE] = RECORD_SENT,
        [TC_NEXT_AGAIN] = RECORD_RETRY,
        [TC_NEXT_FAIL] = RECORD_FAIL,
    };
    const struct post *const p = c->post;
    CLEANUP_BUF struct buf reason = {0};
    write_reason(&reason, c);
    const struct record_settlement settlement = {
        .verdict = verdicts[c->batch->verdict.next],
        .in_doubt = c->answered->was_ambiguous,
        .reason = reason.p,
        .requests = rows->requests,
        .n = rows->n,
    };
    c->is_pending = true;
    c->first = ledger_settle(p->spec.ledger, c->answered->seq, &settlement, on_committed, c);
}

/* Before the rest: a message that is remembered, but not settled, is asked about again. */
static void remember(const struct post_commit *c)
{
    const struct post *const p = c->post;
    const struct batch *const b = c->batch;
    if (b->memory)
        ledger_remember(p->spec.ledger, p->instance, b->turn, *b->memory ? b->memory : NULL, NULL,
                        NULL);
}

static void commit(struct post_commit *c)
{
    const struct batch *const b = c->batch;
    if (!c->post->spec.ledger)
        return;
    struct rows rows = pack_rows(b);
    remember(c);
    if (c->answered && c->answered->seq)
        settle(c, &rows);
    else if (b->settles == BATCH_OUTCOME)
        expand(c, &rows);
    else if (rows.n)
        add(c, &rows);
    rows_fini(&rows);
}

/* ---- what comes into effect */

/* The row was given up meanwhile (a bound was reached), and nothing was laid in its place. */
static bool is_lost(const struct post_commit *c)
{
    return c->status == RECORD_UNCHANGED && c->answered && c->answered->seq;
}

static bool takes_place(const struct post_commit *c, const struct letter *l)
{
    const char *const lane = c->answered ? c->answered->letter->http.lane : NULL;
    return lane && l->http.lane && strcmp(lane, l->http.lane) == 0 && is_durable(l) &&
           c->batch->verdict.next != TC_NEXT_AGAIN;
}

/* A callback may send for any turn of its instance. */
static struct post_turn *turn_of(const struct post_commit *c, const char *id)
{
    if (c->answered && strcmp(c->answered->letter->turn, id) == 0)
        return c->answered->turn;
    return post_find_turn(c->post, id);
}

/* Those that take the place of the letter answered go in front of the others, so the last of them
 * goes first into the lane. */
static void submit_letters(struct post_commit *c)
{
    struct batch *const b = c->batch;
    struct post_item **const items = xcalloc(b->count + 1, sizeof *items);
    int64_t seq = c->first;
    for (size_t i = 0; i < b->count; i++) {
        items[i] = post_add_item(c->post, turn_of(c, b->letters[i]->turn), b->letters[i]);
        if (c->is_kept && is_durable(b->letters[i]))
            items[i]->seq = seq++;
    }
    for (size_t i = b->count; i-- > 0;)
        if (takes_place(c, b->letters[i]))
            post_submit_item(items[i], true);
    for (size_t i = 0; i < b->count; i++)
        if (!takes_place(c, b->letters[i]))
            post_submit_item(items[i], false);
    b->count = 0; /* they have gone over to the items */
    free(items);
}

static void drop_letters(struct post_commit *c)
{
    struct batch *const b = c->batch;
    for (size_t i = 0; i < b->count; i++)
        post_drop_item(post_add_item(c->post, turn_of(c, b->letters[i]->turn), b->letters[i]),
                       "what it was to replace is among the dead letters");
    b->count = 0;
}

static bool has_durable(const struct batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (is_durable(b->letters[i]))
            return true;
    return false;
}

/* Who has no row has nobody else to speak of its end. */
static void note_failure(const struct post_commit *c)
{
    const struct post_item *const item = c->answered;
    if (!item || c->batch->verdict.next != TC_NEXT_FAIL || has_durable(c->batch))
        return;
    c->post->dead += is_durable(item->letter);
    if (item->seq || item->has_left || c->batch->count)
        return;
    CLEANUP_BUF struct buf reason = {0};
    write_reason(&reason, c);
    const int level = is_durable(item->letter) ? LOG_ERR : LOG_INFO;
    if (*item->letter->turn)
        log_line(level, c->post->instance, "turn %s: a request was given up: %s",
                 item->letter->turn, reason.p);
    else
        log_line(level, c->post->instance, "a request of no turn was given up: %s", reason.p);
}

static void take_effect(struct post_commit *c)
{
    struct post *const p = c->post;
    struct post_turn none = {.items = 0}, *const known = turn_of(c, c->batch->turn),
                     *const turn = known ? known : &none;
    turn->items++; /* it stays until the end of this function */
    turn->is_over |= c->batch->over && turn != &p->lobby;
    note_failure(c);
    if (is_lost(c))
        drop_letters(c);
    else
        submit_letters(c);
    if (c->answered) {
        post_note_verdict(c->answered, &c->batch->verdict);
        post_decide_item(c->answered, &c->batch->verdict);
    }
    turn->items--;
    if (known)
        post_release_turn(p, known);
}

static void drain(struct post *p)
{
    if (p->is_draining)
        return;
    p->is_draining = true;
    while (p->first && !p->first->is_pending) {
        struct post_commit *const c = p->first;
        p->first = c->next;
        if (!p->first)
            p->end = &p->first;
        take_effect(c);
        batch_free(c->batch);
        free(c);
    }
    p->is_draining = false;
}

/* ---- there and back */

static bool lacks_outcome(const struct post_commit *c, enum record_status status)
{
    return status == RECORD_UNCHANGED && c->batch->settles == BATCH_OUTCOME && !c->is_added &&
           has_durable(c->batch);
}

static bool is_failure(enum record_status status)
{
    return status != RECORD_DONE && status != RECORD_UNCHANGED;
}

/* No outcome was noted for this instance: what it sends is durable all the same. */
static void add_instead(struct post_commit *c)
{
    struct rows rows = pack_rows(c->batch);
    add(c, &rows);
    rows_fini(&rows);
}

static void on_committed(void *ctx, enum record_status status, const char *text)
{
    (void)text;
    struct post_commit *const c = ctx;
    c->is_pending = false;
    if (!c->post) {
        free(c);
        return;
    }
    if (lacks_outcome(c, status)) {
        add_instead(c);
        return;
    }
    if (c->answered)
        c->answered->is_on_record = is_failure(status);
    c->status = status;
    c->is_kept = status == RECORD_DONE;
    if (is_failure(status))
        log_line(LOG_ERR, c->post->instance,
                 "turn %s: what it sends is not on disk: it goes out all the same", c->batch->turn);
    drain(c->post);
}

static struct post_item *find_asked(const struct post *p, const struct batch *b)
{
    for (struct post_item *item = p->items; item && b->settles == BATCH_LETTER; item = item->next)
        if (item->is_asked && item->letter->id == b->letter)
            return item;
    return NULL;
}

/* What a plugin may have written there. */
static void mend_verdict(struct tc_verdict *v, const struct post_item *item)
{
    if ((unsigned)v->next > TC_NEXT_FAIL || (item->has_left && v->next == TC_NEXT_AGAIN))
        v->next = TC_NEXT_FAIL;
    if ((unsigned)v->scope > TC_HOLD_INSTANCE)
        v->scope = TC_HOLD_LANE;
    if (v->hold_ms < 0)
        v->hold_ms = 0;
    if (v->hold_ms > MAX_HOLD_MS)
        v->hold_ms = MAX_HOLD_MS;
}

void post_batch(struct post *p, struct batch *b)
{
    struct post_commit *const c = xcalloc(1, sizeof *c);
    if (!b->turn)
        b->turn = xstrdup("");
    *c = (struct post_commit){.post = p, .batch = b, .answered = find_asked(p, b)};
    if (c->answered) {
        c->answered->is_asked = false; /* one answer each */
        mend_verdict(&b->verdict, c->answered);
    }
    *p->end = c;
    p->end = &c->next;
    commit(c);
    drain(p);
}
