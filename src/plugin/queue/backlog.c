/* SPDX-License-Identifier: MIT
 * Orders waiting events, applies the pace, and creates the notice about dropped events. */
#include "plugin/queue/backlog.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/plural.h"
#include "event/json/json_writer.h"
#include "plugin/queue/event_coalesce.h"
#include "plugin/queue/overflow_policy.h"

#define SPARE_MAX ((size_t)256)

void backlog_init(struct backlog *b, const struct backlog_limits *limits)
{
    *b = (struct backlog){
        .limits = *limits,
        .again_events = limits->events,
        .again_bytes = limits->bytes,
    };
}

static struct pending_event *backlog_pop_spare(struct backlog *b)
{
    struct pending_event *const w = b->spare;
    if (!w)
        return xcalloc(1, sizeof *w);
    ASSERT(b->n_spare > 0);
    b->spare = w->next;
    b->n_spare--;
    *w = (struct pending_event){0};
    return w;
}

static void backlog_store_spare(struct backlog *b, struct pending_event *w)
{
    ASSERT(b->n_spare <= SPARE_MAX);
    buf_fini(&w->text);
    if (b->n_spare == SPARE_MAX) {
        free(w);
        return;
    }
    w->next = b->spare;
    b->spare = w;
    b->n_spare++;
}

static void backlog_list_append(struct pending_event_list *list, struct pending_event *w)
{
    ASSERT(!list->first == !list->last);
    w->next = NULL;
    w->prev = list->last;
    *(list->last ? &list->last->next : &list->first) = w;
    list->last = w;
}

static void backlog_list_remove(struct pending_event_list *list, struct pending_event *w)
{
    ASSERT((w->prev ? w->prev->next : list->first) == w);
    ASSERT((w->next ? w->next->prev : list->last) == w);
    *(w->prev ? &w->prev->next : &list->first) = w->next;
    *(w->next ? &w->next->prev : &list->last) = w->prev;
}

static void backlog_link_holding(struct backlog *b, struct turn_backlog *turn_backlog)
{
    ASSERT(!turn_backlog->held.first);
    turn_backlog->prev_holding = NULL;
    turn_backlog->next_holding = b->holding;
    if (b->holding)
        b->holding->prev_holding = turn_backlog;
    b->holding = turn_backlog;
}

static void backlog_unlink_holding(struct backlog *b, struct turn_backlog *turn_backlog)
{
    ASSERT(!turn_backlog->held.first);
    ASSERT((turn_backlog->prev_holding ? turn_backlog->prev_holding->next_holding : b->holding) ==
           turn_backlog);
    *(turn_backlog->prev_holding ? &turn_backlog->prev_holding->next_holding : &b->holding) =
        turn_backlog->next_holding;
    if (turn_backlog->next_holding)
        turn_backlog->next_holding->prev_holding = turn_backlog->prev_holding;
}

static void backlog_append_ready(struct backlog *b, struct pending_event *w)
{
    w->held = false;
    backlog_list_append(&b->ready, w);
    b->n_ready++;
}

static void backlog_append_held(struct backlog *b, struct pending_event *w)
{
    if (!w->turn_backlog->held.first)
        backlog_link_holding(b, w->turn_backlog);
    w->held = true;
    backlog_list_append(&w->turn_backlog->held, w);
}

static void unlink_waiting(struct backlog *b, struct pending_event *w)
{
    if (!w->held) {
        ASSERT(b->n_ready > 0);
        backlog_list_remove(&b->ready, w);
        b->n_ready--;
        return;
    }
    backlog_list_remove(&w->turn_backlog->held, w);
    if (!w->turn_backlog->held.first)
        backlog_unlink_holding(b, w->turn_backlog);
}

static void release_turn(struct backlog *b, struct turn_backlog *turn_backlog)
{
    if (!turn_backlog->held.first)
        return;
    for (struct pending_event *w = turn_backlog->held.first, *next; w; w = next) {
        next = w->next;
        backlog_append_ready(b, w);
    }
    turn_backlog->held = (struct pending_event_list){0};
    backlog_unlink_holding(b, turn_backlog);
}

static void backlog_update_size(struct backlog *b, struct pending_event *w)
{
    ASSERT(b->stats.bytes >= w->size);
    b->stats.bytes -= w->size;
    w->size = shared_event_size(w->shared) + w->text.cap;
    b->stats.bytes += w->size;
}

/* Unlinks and frees it, and releases its references. */
void backlog_remove(struct backlog *b, struct pending_event *w)
{
    ASSERT(b->stats.events > 0 && b->stats.bytes >= w->size);
    unlink_waiting(b, w);
    if (w->turn_backlog->last == w)
        w->turn_backlog->last = NULL;
    b->stats.bytes -= w->size;
    b->stats.events--;
    shared_event_unref(w->shared);
    backlog_store_spare(b, w);
}

static void count_dropped(struct backlog *b, struct turn_backlog *turn_backlog,
                          const struct event *ev, uint64_t parts)
{
    turn_backlog->dropped[ev->kind] += parts;
    if (ev->meta.seq > turn_backlog->drop_seq)
        turn_backlog->drop_seq = ev->meta.seq;
    b->stats.dropped += parts;
}

void backlog_drop(struct backlog *b, struct pending_event *w)
{
    count_dropped(b, w->turn_backlog, shared_event_get(w->shared), w->parts);
    backlog_remove(b, w);
}

void backlog_replace_event(struct backlog *b, struct pending_event *w, struct shared_event *shared)
{
    shared_event_unref(w->shared);
    w->shared = shared;
    backlog_update_size(b, w);
}

/* Takes over the shared event, whose text is `more`. The first join copies the existing text; later
 * ones only append. */
static void backlog_append_text(struct backlog *b, struct pending_event *w,
                                struct shared_event *shared, struct str more)
{
    if (!w->text.p) {
        const struct str first = event_coalesce_text(shared_event_get(w->shared));
        buf_add(&w->text, first.p, first.len);
    }
    buf_add(&w->text, more.p, more.len);
    b->stats.joined++;
    backlog_replace_event(b, w, shared);
}

void backlog_coalesce(struct backlog *b, struct pending_event *w, struct pending_event *newer)
{
    ASSERT(w != newer && w->turn_backlog == newer->turn_backlog);
    const struct str more = newer->text.p ? (struct str){newer->text.p, newer->text.len}
                                          : event_coalesce_text(shared_event_get(newer->shared));
    const bool was_last = newer->turn_backlog->last == newer;
    w->parts += newer->parts;
    backlog_append_text(b, w, shared_event_ref(newer->shared), more);
    backlog_remove(b, newer);
    if (was_last)
        w->turn_backlog->last = w;
}

static bool backlog_is_over_limit(const struct backlog *b)
{
    return b->stats.events >= b->limits.events || b->stats.bytes >= b->limits.bytes;
}

/* Size from which on the overflow policy is applied again: the limit; or, if only reserved events
 * were left, an eighth more than they are, so that the cost of scanning is amortised. */
static size_t backlog_next_overflow_size(size_t now, size_t limit)
{
    return now < limit ? limit : now + now / 8 + 1;
}

/* Called when a limit is reached. */
static void backlog_apply_overflow_policy(struct backlog *b)
{
    if (b->stats.events < b->again_events && b->stats.bytes < b->again_bytes)
        return;
    overflow_policy_apply(b);
    b->again_events = backlog_next_overflow_size(b->stats.events, b->limits.events);
    b->again_bytes = backlog_next_overflow_size(b->stats.bytes, b->limits.bytes);
}

/* Restores the normal limits after events were removed. */
static void backlog_reset_overflow(struct backlog *b)
{
    if (backlog_is_over_limit(b))
        return;
    b->again_events = b->limits.events;
    b->again_bytes = b->limits.bytes;
}

static bool backlog_is_droppable(enum tc_kind kind)
{
    const enum overflow_class pressure = kind_overflow(kind);
    return pressure == OVERFLOW_DROP || pressure == OVERFLOW_REPLACE;
}

static bool backlog_admits_event(const struct backlog *b, const struct turn_backlog *turn_backlog,
                                 enum tc_kind kind)
{
    const enum overflow_class pressure = kind_overflow(kind);
    if (turn_backlog->bare)
        return pressure == OVERFLOW_KEEP || pressure == OVERFLOW_COALESCE;
    return !backlog_is_over_limit(b) || !backlog_is_droppable(kind);
}

static bool is_paced(enum tc_kind kind)
{
    return kind == TC_NARRATION || kind == TC_THINKING;
}

/* An event that a person waits for is delivered with the events held before it. */
static bool backlog_flushes_held(enum tc_kind kind)
{
    return kind == TC_FINAL || kind == TC_ERROR || kind == TC_REQUEST || kind == TC_TOOL_CALL ||
           kind == TC_DONE;
}

static bool backlog_is_paced(const struct backlog *b, const struct turn_backlog *turn_backlog,
                             enum tc_kind kind, int64_t now_ms)
{
    if (b->limits.pace_ms == 0 || backlog_flushes_held(kind))
        return false;
    return turn_backlog->held.first || (is_paced(kind) && now_ms < turn_backlog->hold_until);
}

static bool backlog_coalesce_with_last(struct backlog *b, struct turn_backlog *turn_backlog,
                                       struct shared_event *shared)
{
    if (!turn_backlog->last || (b->limits.pace_ms == 0 && !backlog_is_over_limit(b)) ||
        !event_coalesce_is_allowed(shared_event_get(turn_backlog->last->shared),
                                   shared_event_get(shared), true))
        return false;
    turn_backlog->last->parts++;
    backlog_append_text(b, turn_backlog->last, shared,
                        event_coalesce_text(shared_event_get(shared)));
    return true;
}

static void backlog_append(struct backlog *b, struct turn_backlog *turn_backlog,
                           struct shared_event *shared, int64_t now_ms)
{
    ASSERT(turn_backlog);
    const enum tc_kind kind = shared_event_get(shared)->kind;
    const bool hold = backlog_is_paced(b, turn_backlog, kind, now_ms);
    struct pending_event *const w = backlog_pop_spare(b);
    w->turn_backlog = turn_backlog;
    w->shared = shared;
    w->parts = 1;
    if (hold) {
        backlog_append_held(b, w);
    } else {
        release_turn(b, turn_backlog);
        backlog_append_ready(b, w);
    }
    turn_backlog->last = w;
    b->stats.events++;
    backlog_update_size(b, w);
}

void backlog_push(struct backlog *b, struct turn_backlog *turn_backlog, struct shared_event *shared,
                  int64_t now_ms)
{
    if (backlog_is_over_limit(b))
        backlog_apply_overflow_policy(b);
    const struct event *const ev = shared_event_get(shared);
    if (!backlog_admits_event(b, turn_backlog, ev->kind)) {
        count_dropped(b, turn_backlog, ev, 1);
        shared_event_unref(shared);
        return;
    }
    if (!backlog_coalesce_with_last(b, turn_backlog, shared))
        backlog_append(b, turn_backlog, shared, now_ms);
}

/* ---- consumer ---- */

static void backlog_release_due_turns(struct backlog *b, int64_t now_ms)
{
    for (struct turn_backlog *turn_backlog = b->holding, *next; turn_backlog; turn_backlog = next) {
        next = turn_backlog->next_holding;
        if (turn_backlog->hold_until <= now_ms)
            release_turn(b, turn_backlog);
    }
}

static void write_counts(struct buf *x, const struct turn_backlog *turn_backlog, uint64_t total)
{
    buf_add_char(x, '{');
    jsonw_member_int(x, "count", (int64_t)total);
    for (int kind = 0; kind < TC_KINDS; kind++)
        if (turn_backlog->dropped[kind])
            jsonw_member_int(x, kind_name((enum tc_kind)kind),
                             (int64_t)turn_backlog->dropped[kind]);
    buf_add_char(x, '}');
}

/* Takes the position of the newest dropped event, whose seq is free. */
static struct shared_event *backlog_make_drop_notice(struct turn_backlog *turn_backlog,
                                                     const struct tc_meta *next)
{
    uint64_t total = 0;
    for (int kind = 0; kind < TC_KINDS; kind++)
        total += turn_backlog->dropped[kind];
    CLEANUP_BUF struct buf x = {0}, text = {0};
    write_counts(&x, turn_backlog, total);
    buf_printf(&text, "%llu event%s dropped: the connector is too slow (queue_events, queue_bytes)",
               (unsigned long long)total, PLURAL(total, " was", "s were"));
    struct event ev;
    event_init_notice(&ev, "warn", "dropped", text.p);
    ev.meta.seq = turn_backlog->drop_seq;
    ev.meta.ts = next->ts;
    ev.meta.src = next->src;
    ev.meta.correlation_id = next->correlation_id;
    ev.meta.session_id = next->session_id;
    ev.meta.x = x.p;
    memset(turn_backlog->dropped, 0, sizeof turn_backlog->dropped);
    turn_backlog->drop_seq = 0;
    return shared_event_new(&ev);
}

static struct shared_event *take_shared_event(struct pending_event *w)
{
    if (!w->text.p)
        return shared_event_ref(w->shared);
    return event_coalesce_build(shared_event_get(w->shared), &w->text);
}

void backlog_close_turn(struct backlog *b, struct turn_backlog *turn_backlog)
{
    ASSERT(!turn_backlog->held.first);
    ASSERT((turn_backlog->prev ? turn_backlog->prev->next : b->turn_backlogs) == turn_backlog);
    *(turn_backlog->prev ? &turn_backlog->prev->next : &b->turn_backlogs) = turn_backlog->next;
    if (turn_backlog->next)
        turn_backlog->next->prev = turn_backlog->prev;
    free(turn_backlog);
}

static void backlog_pop_first(struct backlog *b, struct backlog_item *item, int64_t now_ms)
{
    struct pending_event *const w = b->ready.first;
    struct turn_backlog *const turn_backlog = w->turn_backlog;
    const struct event *const ev = shared_event_get(w->shared);
    if (turn_backlog->drop_seq && turn_backlog->drop_seq < ev->meta.seq) {
        *item = (struct backlog_item){turn_backlog->turn,
                                      backlog_make_drop_notice(turn_backlog, &ev->meta)};
        return;
    }
    const enum tc_kind kind = ev->kind;
    *item = (struct backlog_item){turn_backlog->turn, take_shared_event(w)};
    backlog_remove(b, w);
    if (is_paced(kind))
        turn_backlog->hold_until = now_ms + b->limits.pace_ms;
    if (kind == TC_DONE)
        backlog_close_turn(b, turn_backlog);
}

size_t backlog_pop(struct backlog *b, struct backlog_item *items, size_t max, int64_t now_ms)
{
    backlog_release_due_turns(b, now_ms);
    size_t n = 0;
    while (n < max && b->ready.first)
        backlog_pop_first(b, &items[n++], now_ms);
    backlog_reset_overflow(b);
    return n;
}

int64_t backlog_next_due_ms(const struct backlog *b)
{
    int64_t due = INT64_MAX;
    for (const struct turn_backlog *turn_backlog = b->holding; turn_backlog;
         turn_backlog = turn_backlog->next_holding)
        if (turn_backlog->hold_until < due)
            due = turn_backlog->hold_until;
    return due;
}

void backlog_stop_pacing(struct backlog *b)
{
    while (b->holding)
        release_turn(b, b->holding);
}

double backlog_fill_ratio(const struct backlog *b)
{
    const double events = (double)b->stats.events / (double)b->limits.events;
    const double bytes = (double)b->stats.bytes / (double)b->limits.bytes;
    return events > bytes ? events : bytes;
}

struct turn_backlog *backlog_open_turn(struct backlog *b, void *turn)
{
    struct turn_backlog *const turn_backlog = xcalloc(1, sizeof *turn_backlog);
    turn_backlog->turn = turn;
    turn_backlog->next = b->turn_backlogs;
    if (b->turn_backlogs)
        b->turn_backlogs->prev = turn_backlog;
    b->turn_backlogs = turn_backlog;
    return turn_backlog;
}

void backlog_fini(struct backlog *b)
{
    backlog_stop_pacing(b);
    while (b->ready.first)
        backlog_remove(b, b->ready.first);
    ASSERT(!b->stats.events && !b->stats.bytes && !b->n_ready);
    while (b->turn_backlogs)
        backlog_close_turn(b, b->turn_backlogs);
    while (b->spare) {
        struct pending_event *const w = b->spare;
        b->spare = w->next;
        free(w);
    }
    *b = (struct backlog){0};
}
