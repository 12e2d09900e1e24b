/* SPDX-License-Identifier: MIT
 * Owns the table of shared turns. A turn is delivered when the journal has nothing of it left for
 * its instance. */
#include "core/work/work_share.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "core/work/work_turn.h"

#define LOOK_MS 100       /* between two looks at the journal, while there are turns … */
#define IDLE_LOOK_MS 2000 /* … and while there are none */

static struct work_turn *work_share_find_turn(const struct work_share *s, const char *id)
{
    struct work_turn *t;
    LIST_FOREACH (t, &s->turns, next)
        if (strcmp(t->id, id) == 0)
            return t;
    return NULL;
}

static struct work_turn *work_share_add(struct work_share *s, const char *id, const char *source)
{
    loop_timer_set(s->timer, LOOK_MS);
    return work_turn_new(s, id, source);
}

/* ---- what the journal has ---- */

struct work_look {
    struct work_share *share;
    char *source;
    unsigned look;
};

char work_look_find(const char *ids, const char *id)
{
    const char *const found = ids ? strstr(ids, id) : NULL;
    return found && found > ids ? found[-1] : 0;
}

void work_look_add_new(struct work_share *s, const char *source, const char *ids)
{
    CLEANUP_FREE char *copy = xstrdup(ids);
    char *rest = copy;
    for (char *id; (id = strsep(&rest, "\n"));)
        if (*id && bus_stream_is_token(id + 1) && !work_share_find_turn(s, id + 1)) {
            struct work_turn *const t = work_share_add(s, id + 1, source);
            t->left = *id;
            work_turn_go_on(t);
        }
}

/* Requests that follow the outcome do not count: this host sends them even after the delivery. A
 * turn of another host stays in the table while the journal has rows of it. */
static bool work_look_is_delivered(const struct work_turn *t)
{
    const bool is_open = t->state != TURN_ELSEWHERE && (t->state != TURN_ALONE || t->was_sent);
    return !t->left || (t->left == WORK_LEFT_LATER && is_open);
}

static void work_look_compare(struct work_share *s, const struct work_look *l, const char *ids)
{
    struct work_turn *t = LIST_FIRST(&s->turns), *next;
    for (; t; t = next) {
        next = LIST_NEXT(t, next);
        if (t->look >= l->look || t->delivered || strcmp(t->source, l->source) != 0)
            continue;
        t->left = work_look_find(ids, t->id);
        if (work_look_is_delivered(t) && !t->head && !t->awaits_reply)
            work_turn_end(t);
        else if (t->left && t->left != WORK_LEFT_RUNNING && !s->spec.leads(s->spec.ctx, t->source))
            work_turn_hand_over(t);
    }
    if (ids)
        work_look_add_new(s, l->source, ids);
}

static void work_look_on_list(void *ctx, enum journal_status status, const char *text)
{
    struct work_look *const l = ctx;
    struct work_share *const s = l->share;
    s->pending_lists--;
    if (!s->is_closed && (status == JOURNAL_DONE || status == JOURNAL_NO_CHANGE)) {
        work_look_compare(s, l, text);
        s->is_loaded |= !s->pending_lists;
    }
    if (!s->is_closed && !s->pending_lists)
        loop_timer_set(s->timer, LIST_EMPTY(&s->turns) ? IDLE_LOOK_MS : LOOK_MS);
    free(l->source);
    free(l);
}

static void work_share_look_at(void *ctx, const char *instance)
{
    struct work_share *const s = ctx;
    struct work_look *const l = xcalloc(1, sizeof *l);
    *l = (struct work_look){.share = s, .source = xstrdup(instance), .look = s->look};
    s->pending_lists++;
    journal_async_list_untold(s->spec.journal, instance, work_look_on_list, l);
}

static void work_share_on_timer(void *arg)
{
    struct work_share *const s = arg;
    loop_timer_set(s->timer, IDLE_LOOK_MS);
    if (s->pending_lists)
        return;
    s->look++;
    s->spec.each_led(s->spec.ctx, work_share_look_at, s);
}

/* ---- interface ---- */

struct work_name {
    const char *name;
    bool is_found;
};

static void work_share_compare_name(void *ctx, const char *instance)
{
    struct work_name *const n = ctx;
    n->is_found |= strcmp(instance, n->name) == 0;
}

bool work_share_has(const struct work *w, const char *source)
{
    const struct work_share *const s = w ? w->share : NULL;
    struct work_name n = {.name = source};
    if (s && !s->is_closed && bus_stream_is_token(source))
        s->spec.each_led(s->spec.ctx, work_share_compare_name, &n);
    return n.is_found;
}

/* The list of the journal may contain the turn already, if its message waited for the lock of the
 * conversation. The servers then had no order of it, so no other host could adopt it. */
static struct work_turn *work_share_enter(struct work_share *s, const struct work_order *order)
{
    struct work_turn *t = work_share_find_turn(s, order->turn);
    if (!t)
        return work_share_add(s, order->turn, order->source);
    if (t->order.len || t->was_sent)
        return NULL;
    if (t->state == TURN_ALONE)
        t->state = TURN_ASKING;
    t->is_missing = false;
    return t;
}

void work_share_admit(struct work *w, const struct work_order *order)
{
    if (!work_share_has(w, order->source) || !bus_stream_is_token(order->turn))
        return;
    struct work_order own = *order;
    struct work_turn *const t = work_share_enter(w->share, order);
    if (!t)
        return;
    const struct bus_origin from = bus_link_next_origin(w->link);
    own.gateway = w->link->names.host;
    free(t->message);
    free(t->also);
    t->message = xstrdup(order->message);
    t->also = xstrdup(order->also);
    work_order_write(&t->order, &from, &own);
    work_turn_go_on(t);
}

void work_share_join(struct work *w, const char *turn, const char *source,
                     const char *const *merged, size_t n)
{
    if (!n || !work_share_has(w, source) || !bus_stream_is_token(turn))
        return;
    struct work_turn *head = work_share_find_turn(w->share, turn);
    if (!head)
        head = work_share_add(w->share, turn, source);
    for (size_t i = 0; i < n; i++) {
        struct work_turn *t = work_share_find_turn(w->share, merged[i]);
        if (!t && bus_stream_is_token(merged[i]))
            t = work_share_add(w->share, merged[i], source);
        if (t)
            t->head = head;
    }
}

void work_share_release(struct work *w, const char *turn)
{
    struct work_turn *const t = w->share ? work_share_find_turn(w->share, turn) : NULL;
    if (t)
        work_turn_release(t);
}

static void work_share_on_joined(void *ctx, enum work_share_answer answer, uint64_t after)
{
    struct work_turn *const head = ctx;
    (void)after;
    head->joining--;
    head->is_split |= answer != WORK_SHARE_BEGIN;
    work_turn_go_on(head);
}

/* The prompt contains their text, so no other host may begin them. */
static void work_share_claim_joined(struct work_turn *head)
{
    struct work_turn *t;
    LIST_FOREACH (t, &head->share->turns, next)
        head->joining += t->head == head;
    LIST_FOREACH (t, &head->share->turns, next)
        if (t->head == head) {
            t->done = work_share_on_joined;
            t->ctx = head;
            t->claims = true;
            work_turn_go_on(t);
        }
}

void work_share_begin(struct work *w, const char *turn, const char *source, bool claims,
                      work_share_done *done, void *ctx)
{
    if (!work_share_has(w, source) || !bus_stream_is_token(turn)) {
        done(ctx, WORK_SHARE_BEGIN, 0);
        return;
    }
    struct work_turn *t = work_share_find_turn(w->share, turn);
    if (!t)
        t = work_share_add(w->share, turn, source);
    t->claims = claims;
    work_share_claim_joined(t);
    t->done = done;
    t->ctx = ctx;
    work_turn_go_on(t);
}

static struct work_turn *work_share_find_waiter(const struct work *w, const void *ctx)
{
    struct work_turn *t = NULL;
    if (w->share && !w->share->is_closed)
        LIST_FOREACH (t, &w->share->turns, next)
            if (t->done && t->ctx == ctx)
                break;
    return t;
}

void work_share_hurry(struct work *w, const void *ctx)
{
    struct work_turn *const t = work_share_find_waiter(w, ctx);
    if (!t)
        return;
    struct work_turn *m;
    LIST_FOREACH (m, &w->share->turns, next)
        if (m == t || m->head == t) {
            m->hurries = true;
            loop_timer_set(m->timer, 0);
        }
}

void work_share_forget(struct work *w, const void *ctx)
{
    struct work_turn *const t = work_share_find_waiter(w, ctx);
    if (t)
        t->done = NULL;
}

void work_share_find_message(const struct work *w, const char *turn, const char **message,
                             const char **also)
{
    const struct work_turn *const t = w->share ? work_share_find_turn(w->share, turn) : NULL;
    *message = t ? t->message : NULL;
    *also = t ? t->also : NULL;
}

uint64_t work_share_count(const struct work *w)
{
    return w->share ? w->share->count : 0;
}

bool work_share_is_stored(const struct work *w, const char *source, uint64_t number)
{
    const struct work_turn *t;
    if (w->share)
        LIST_FOREACH (t, &w->share->turns, next)
            if (t->number <= number && t->state < TURN_HELD && strcmp(t->source, source) == 0)
                return false;
    return true;
}

void work_share_end(struct work *w, const char *turn, const struct event *outcome)
{
    struct work_share *const s = w ? w->share : NULL;
    struct work_turn *const t = s && !s->is_closed ? work_share_find_turn(s, turn) : NULL;
    if (t)
        work_turn_store_outcome(t, outcome);
}

/* The turn, if its source is that instance; else NULL. */
static const struct work_turn *work_share_find_of(const struct work *w, const char *instance,
                                                  const char *turn)
{
    const struct work_share *const s = w ? w->share : NULL;
    const struct work_turn *const t = s && !s->is_closed ? work_share_find_turn(s, turn) : NULL;
    return t && strcmp(t->source, instance) == 0 ? t : NULL;
}

void work_share_remember(struct work *w, const char *instance, const char *turn, const char *text)
{
    const struct work_turn *const t = work_share_find_of(w, instance, turn);
    if (t && t->state != TURN_ALONE)
        work_turn_publish(t, "mem", text);
}

bool work_share_begin_delivery(struct work *w, const char *instance, const char *turn)
{
    const struct work_turn *const t = work_share_find_of(w, instance, turn);
    if (t && t->state != TURN_ALONE &&
        !t->in_doubt) /* in_doubt: keeps the mark of the other host */
        work_turn_publish(t, "tell", NULL);
    return t && t->in_doubt;
}

bool work_share_is_adopted(const struct work *w, const char *instance, const char *turn)
{
    const struct work_turn *const t = work_share_find_of(w, instance, turn);
    return t && t->state == TURN_ELSEWHERE;
}

enum work_share_known work_share_find(const struct work *w, const char *turn)
{
    const struct work_turn *const t = work_share_find_turn(w->share, turn);
    return !t ? WORK_SHARE_UNKNOWN : t->state == TURN_ELSEWHERE ? WORK_SHARE_GONE : WORK_SHARE_OWN;
}

bool work_share_is_loaded(const struct work *w)
{
    return w->share && w->share->is_loaded;
}

void work_share_adopt(struct work *w, const char *turn, const char *source, bool in_doubt)
{
    struct work_turn *t = work_share_find_turn(w->share, turn);
    if (t)
        work_turn_free(t);
    t = work_share_add(w->share, turn, source);
    t->in_doubt = in_doubt;
    work_turn_go_on(t);
}

void work_share_settle(struct work *w, const char *turn, const char *source)
{
    if (work_share_find_turn(w->share, turn))
        return;
    struct work_turn *const t = work_share_add(w->share, turn, source);
    t->state = TURN_HELD;
    work_turn_end(t);
}

bool work_share_is_adoptable(const struct work *w, const char *turn)
{
    const struct work_share *const s = w ? w->share : NULL;
    const struct work_turn *const t = s && !s->is_closed ? work_share_find_turn(s, turn) : NULL;
    return t && t->state != TURN_ALONE;
}

static bool work_share_is_busy(const struct work_share *s, unsigned look)
{
    const struct work_turn *t;
    LIST_FOREACH (t, &s->turns, next)
        if (t->delivered)
            return true;
    return s->look < look || s->pending_lists;
}

void work_share_drain(struct work *w, int64_t ms)
{
    struct work_share *const s = w ? w->share : NULL;
    const int64_t until_ms = clock_mono_ms() + ms;
    if (!s || s->is_closed || LIST_EMPTY(&s->turns) || !s->link->is_active)
        return;
    const unsigned look = s->look + 2; /* the one that is under way may have been too early */
    loop_timer_set(s->timer, 0);
    while (work_share_is_busy(s, look) && clock_mono_ms() < until_ms)
        loop_run_once(s->link->loop, LOOK_MS);
}

/* ---- its life ---- */

void work_share_open(struct work *w, const struct work_share_spec *spec)
{
    struct work_share *const s = xcalloc(1, sizeof *s);
    ASSERT(!w->share);
    s->work = w;
    s->link = w->link;
    s->spec = *spec;
    LIST_INIT(&s->turns);
    LIST_INIT(&s->checks);
    s->check_timer = loop_timer_new(w->link->loop, work_check_on_timer, s);
    s->timer = loop_timer_new(w->link->loop, work_share_on_timer, s);
    loop_timer_set(s->timer, 0);
    w->share = s;
}

void work_share_resume(struct work *w)
{
    struct work_turn *t, *next;
    if (!w->share)
        return;
    for (t = LIST_FIRST(&w->share->turns); t; t = next) {
        next = LIST_NEXT(t, next);
        if (t->outcome)
            work_outcome_resume(t->outcome);
        if (t->delivered)
            work_outcome_resume(t->delivered);
        else if (t->state == TURN_BEGUN || (t->state == TURN_ALONE && t->was_sent && t->claims))
            work_turn_claim_again(t); /* not if a runner is to claim it */
        else
            work_turn_go_on(t);
    }
}

void work_share_close(struct work *w)
{
    struct work_share *const s = w->share;
    struct work_turn *t;
    if (!s || s->is_closed)
        return;
    s->is_closed = true;
    work_check_close(s);
    while ((t = LIST_FIRST(&s->turns)))
        work_turn_free(t);
    loop_timer_free(s->timer);
}
