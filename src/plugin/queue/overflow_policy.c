/* SPDX-License-Identifier: MIT
 * Measures against overflow, and their order. */
#include "plugin/queue/overflow_policy.h"

#include <string.h>

#include "base/hash.h"
#include "plugin/queue/event_coalesce.h"
#include "plugin/queue/event_truncate.h"

#define HARD ((size_t)4) /* multiple of the soft limits */
#define TOOLS_SEEN 512   /* limit of tools whose progress is tracked */
#define WORTH_TRIMMING (2 * TRIM_TOOL)

/* Action of a measure on a waiting event; may remove this event, but no other. */
typedef void measure_fn(struct backlog *b, struct pending_event *w, void *ctx);

struct overflow_measure {
    measure_fn *apply;
    bool backwards; /* processes the newest first */
    bool for_bytes; /* reduces bytes, not the number of events */
    bool hard;      /* only above the hard limits */
};

static bool overflow_policy_events_below_goal(const struct backlog *b)
{
    return b->stats.events <= b->limits.events / 4 * 3;
}

static bool overflow_policy_bytes_below_goal(const struct backlog *b)
{
    return b->stats.bytes <= b->limits.bytes / 4 * 3;
}

static bool overflow_policy_is_above_hard_limit(const struct backlog *b)
{
    return b->stats.events / HARD >= b->limits.events || b->stats.bytes / HARD >= b->limits.bytes;
}

/* Lossless: joins neighbours of the same message. */
static void join_neighbours(struct backlog *b, struct pending_event *w, void *ctx)
{
    (void)ctx;
    struct pending_event *const older = w->turn_backlog->seen;
    if (older &&
        event_coalesce_is_allowed(shared_event_get(older->shared), shared_event_get(w->shared),
                                  !overflow_policy_is_above_hard_limit(b)))
        backlog_coalesce(b, older, w);
    else
        w->turn_backlog->seen = w;
}

/* Tools whose newest progress was seen, by turn and id. */
struct overflow_seen_tools {
    const struct pending_event *slots[TOOLS_SEEN];
};

static const char *overflow_policy_tool_id(const struct pending_event *w)
{
    return shared_event_get(w->shared)->u.progress.tool_use_id;
}

static size_t hash_tool(const struct turn_backlog *turn_backlog, const char *id)
{
    return hash_string((uintptr_t)turn_backlog >> 4, id);
}

/* Whether newer progress of the same tool waits; otherwise remembers this one. If the table is full
 * around a slot, nothing is remembered, and one event less is replaced. */
static bool is_outdated(struct overflow_seen_tools *seen, const struct pending_event *w)
{
    const char *const id = overflow_policy_tool_id(w);
    const size_t hash = hash_tool(w->turn_backlog, id);
    for (size_t probe = 0; probe < 8; probe++) {
        const struct pending_event **const slot = &seen->slots[(hash + probe) % TOOLS_SEEN];
        if (!*slot) {
            *slot = w;
            return false;
        }
        if ((*slot)->turn_backlog == w->turn_backlog &&
            strcmp(overflow_policy_tool_id(*slot), id) == 0)
            return true;
    }
    return false;
}

/* Only the newest progress of a tool is kept, but pieces of its text are never replaced. */
static void replace_progress(struct backlog *b, struct pending_event *w, void *ctx)
{
    const struct event *const ev = shared_event_get(w->shared);
    if (ev->kind != TC_PROGRESS || !ev->u.progress.tool_use_id || ev->u.progress.args_delta ||
        ev->u.progress.output || !is_outdated(ctx, w))
        return;
    b->stats.replaced++;
    backlog_remove(b, w);
}

static void trim_tools(struct backlog *b, struct pending_event *w, void *ctx)
{
    (void)ctx;
    const struct event *const ev = shared_event_get(w->shared);
    if (kind_overflow(ev->kind) != OVERFLOW_TRUNCATE || w->size <= WORTH_TRIMMING)
        return;
    struct shared_event *const shared = event_truncate_tool(ev);
    if (!shared)
        return;
    b->stats.shrunk++;
    backlog_replace_event(b, w, shared);
}

static bool overflow_policy_is_needed(const struct backlog *b)
{
    return !overflow_policy_events_below_goal(b) || !overflow_policy_bytes_below_goal(b);
}

static void drop_thinking(struct backlog *b, struct pending_event *w, void *ctx)
{
    (void)ctx;
    if (overflow_policy_is_needed(b) && shared_event_get(w->shared)->kind == TC_THINKING)
        backlog_drop(b, w);
}

static void drop_progress(struct backlog *b, struct pending_event *w, void *ctx)
{
    (void)ctx;
    if (overflow_policy_is_needed(b) &&
        kind_overflow(shared_event_get(w->shared)->kind) == OVERFLOW_REPLACE)
        backlog_drop(b, w);
}

static void overflow_policy_drop_event(struct backlog *b, struct pending_event *w, void *ctx)
{
    (void)ctx;
    if (overflow_policy_is_needed(b) &&
        kind_overflow(shared_event_get(w->shared)->kind) == OVERFLOW_DROP)
        backlog_drop(b, w);
}

static void trim_long_narration(struct backlog *b, struct pending_event *w, void *ctx)
{
    (void)ctx;
    const struct event *const ev = shared_event_get(w->shared);
    const size_t len = w->text.p ? w->text.len : ev->u.narration.text_len;
    if (ev->kind != TC_NARRATION || len <= TRIM_NARRATION)
        return;
    struct shared_event *const whole =
        w->text.p ? event_coalesce_build(ev, &w->text) : shared_event_ref(w->shared);
    struct shared_event *const shared = event_truncate_narration(shared_event_get(whole));
    shared_event_unref(whole);
    buf_fini(&w->text);
    b->stats.shrunk++;
    backlog_replace_event(b, w, shared);
}

/* Last resort against a consumer without progress: keeps of each turn only the events that complete
 * it, and its text; later events of the turn are treated in the same way. */
static void overflow_policy_strip_turn(struct backlog *b, struct pending_event *w, void *ctx)
{
    (void)ctx;
    w->turn_backlog->bare = true;
    const enum overflow_class pressure = kind_overflow(shared_event_get(w->shared)->kind);
    if (pressure != OVERFLOW_KEEP && pressure != OVERFLOW_COALESCE)
        backlog_drop(b, w);
}

static const struct overflow_measure measures[] = {
    {.apply = join_neighbours},
    {.apply = replace_progress, .backwards = true},
    {.apply = trim_tools, .for_bytes = true},
    {.apply = drop_thinking},
    {.apply = drop_progress},
    {.apply = overflow_policy_drop_event},
    {.apply = trim_long_narration, .for_bytes = true, .hard = true},
    {.apply = overflow_policy_strip_turn, .hard = true},
    {.apply = join_neighbours, .hard = true},
    {.apply = trim_long_narration, .for_bytes = true, .hard = true},
};

static void overflow_policy_apply_to_list(struct backlog *b, const struct pending_event_list *list,
                                          const struct overflow_measure *measure, void *ctx)
{
    struct pending_event *w = measure->backwards ? list->last : list->first;
    for (struct pending_event *next; w; w = next) {
        next = measure->backwards ? w->prev : w->next;
        measure->apply(b, w, ctx);
    }
}

static void overflow_policy_apply_to_held(struct backlog *b, const struct overflow_measure *measure,
                                          void *ctx)
{
    for (struct turn_backlog *turn_backlog = b->holding, *next; turn_backlog; turn_backlog = next) {
        next = turn_backlog->next_holding;
        overflow_policy_apply_to_list(b, &turn_backlog->held, measure, ctx);
    }
}

/* Held events of a turn are newer than all of its ready ones. */
static void overflow_policy_apply_measure(struct backlog *b, const struct overflow_measure *measure)
{
    struct overflow_seen_tools seen = {0};
    for (struct turn_backlog *turn_backlog = b->turn_backlogs; turn_backlog;
         turn_backlog = turn_backlog->next)
        turn_backlog->seen = NULL;
    if (measure->backwards)
        overflow_policy_apply_to_held(b, measure, &seen);
    overflow_policy_apply_to_list(b, &b->ready, measure, &seen);
    if (!measure->backwards)
        overflow_policy_apply_to_held(b, measure, &seen);
}

void overflow_policy_apply(struct backlog *b)
{
    bool hard = overflow_policy_is_above_hard_limit(b);
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) {
        const struct overflow_measure *const m = &measures[i];
        if (!overflow_policy_is_needed(b) || (m->hard && !hard))
            return;
        if (!m->for_bytes || !overflow_policy_bytes_below_goal(b))
            overflow_policy_apply_measure(b, m);
    }
}
