/* SPDX-License-Identifier: MIT
 * Owns the known turns and their events, and evicts them. */
#include "core/turnlog/turnlog.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "core/turnlog/turnlog_internal.h"

#define TASK_BYTES 1000 /* bytes of the message for people */

static const struct turnlog_limits turnlog_default_limits = {
    .turn_bytes = 8 << 20, .bytes = 64 << 20, .turns = 500};

static int64_t now_ms(void)
{
    return (int64_t)(clock_wall_s() * 1000);
}

const char *turnlog_state_name(enum turnlog_state state)
{
    static const char *const names[] = {"waiting", "running", "final",
                                        "error",   "merged",  "cancelled"};
    return names[state];
}

bool turnlog_find_state(struct str name, enum turnlog_state *state)
{
    for (int i = TURNLOG_WAITING; i <= TURNLOG_CANCELLED; i++)
        if (str_is(name, turnlog_state_name((enum turnlog_state)i))) {
            *state = (enum turnlog_state)i;
            return true;
        }
    return false;
}

bool turnlog_turn_is_finished(const struct turnlog_turn *t)
{
    return t->state >= TURNLOG_FINAL;
}

/* ---- watchers ---- */

static void free_unwatched(struct turnlog *log)
{
    for (struct turnlog_watcher **at = &log->watchers; *at;) {
        struct turnlog_watcher *const w = *at;
        if (w->log) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        free(w);
    }
}

void turnlog_notify_watchers(struct turnlog *log, const struct turnlog_turn *t, bool is_end)
{
    log->telling = true;
    for (struct turnlog_watcher *w = log->watchers; w; w = w->next)
        if (w->log && w->wants_ends == is_end)
            w->changed(w->ctx, t);
    log->telling = false;
    free_unwatched(log);
}

static struct turnlog_watcher *add_watcher(struct turnlog *log, bool wants_ends,
                                           void (*changed)(void *ctx, const struct turnlog_turn *t),
                                           void *ctx)
{
    struct turnlog_watcher *const w = xmalloc(sizeof *w);
    *w = (struct turnlog_watcher){log, log->watchers, wants_ends, changed, ctx};
    log->watchers = w;
    return w;
}

struct turnlog_watcher *turnlog_watch(struct turnlog *log,
                                      void (*changed)(void *ctx, const struct turnlog_turn *t),
                                      void *ctx)
{
    return add_watcher(log, false, changed, ctx);
}

struct turnlog_watcher *
turnlog_watch_finished(struct turnlog *log, void (*ended)(void *ctx, const struct turnlog_turn *t),
                       void *ctx)
{
    return add_watcher(log, true, ended, ctx);
}

void turnlog_watcher_free(struct turnlog_watcher *w)
{
    if (!w)
        return;
    struct turnlog *const log = w->log;
    w->log = NULL;
    if (!log->telling)
        free_unwatched(log);
}

/* ---- stored events ---- */

static size_t event_bytes(const struct turnlog_event *ev)
{
    return sizeof *ev + shared_event_size(ev->shared) +
           (ev->stripped ? shared_event_size(ev->stripped) : 0);
}

static void forget_event(struct turnlog *log, struct turnlog_entry *e)
{
    ASSERT(e->first < e->n && e->n <= e->cap);
    struct turnlog_event *const ev = &e->events[e->first++];
    ASSERT(e->bytes >= event_bytes(ev) && log->bytes >= event_bytes(ev));
    ASSERT(!e->sealed || log->sealed_bytes >= event_bytes(ev));
    e->bytes -= event_bytes(ev);
    log->bytes -= event_bytes(ev);
    log->sealed_bytes -= e->sealed ? event_bytes(ev) : 0;
    e->forgotten = ev->seq;
    shared_event_unref(ev->shared);
    shared_event_unref(ev->stripped);
}

static void turnlog_make_room(struct turnlog_entry *e)
{
    if (e->n < e->cap)
        return;
    if (e->first > e->cap / 2) {
        memmove(e->events, e->events + e->first, (e->n - e->first) * sizeof *e->events);
        e->n -= e->first;
        e->first = 0;
        return;
    }
    e->cap = e->cap ? 2 * e->cap : 8;
    e->events = xrealloc(e->events, e->cap * sizeof *e->events);
}

void turnlog_clear_events(struct turnlog *log, struct turnlog_entry *e)
{
    while (e->first < e->n)
        forget_event(log, e);
}

/* ---- known turns ---- */

static int turnlog_compare(const void *a, const void *b)
{
    const struct turnlog_entry *const one = a, *const other = b;
    return strcmp(one->turn.spec.id, other->turn.spec.id);
}

uint32_t turnlog_now(void)
{
    return (uint32_t)(clock_mono_us() / TURNLOG_UNIT_US);
}

struct turnlog_entry *turnlog_entry_find(const struct turnlog *log, const char *id)
{
    const struct turnlog_entry key = {.turn.spec.id = id};
    struct turnlog_entry *const *const found = tfind(&key, &log->by_id, turnlog_compare);
    return found ? *found : NULL;
}

static void link_entry(struct turnlog *log, struct turnlog_entry *e)
{
    alloc_check(tsearch(e, &log->by_id, turnlog_compare), sizeof(void *));
    e->older = log->newest;
    *(log->newest ? &log->newest->newer : &log->oldest) = e;
    log->newest = e;
    log->n++;
}

static void turnlog_unlink_entry(struct turnlog *log, struct turnlog_entry *e)
{
    ASSERT(log->n > 0);
    ASSERT((e->newer ? e->newer->older : log->newest) == e);
    ASSERT((e->older ? e->older->newer : log->oldest) == e);
    *(e->newer ? &e->newer->older : &log->newest) = e->older;
    *(e->older ? &e->older->newer : &log->oldest) = e->newer;
    if (log->greedy == e)
        log->greedy = NULL;
    tdelete(e, &log->by_id, turnlog_compare);
    log->n--;
}

static void turnlog_free_entry(struct turnlog *log, struct turnlog_entry *e)
{
    turnlog_unlink_entry(log, e);
    turnlog_clear_events(log, e);
    turnlog_detach_followers(e);
    turnlog_remote_unwant(log, e);
    ASSERT(log->n_sealed >= e->sealed);
    log->n_sealed -= e->sealed;
    free(e->events);
    arena_fini(&e->arena);
    arena_fini(&e->said);
    free(e);
}

/* Followers of an ended turn must still receive its remaining events. */
static struct turnlog_entry *find_forgettable(const struct turnlog *log)
{
    struct turnlog_entry *e = log->oldest;
    while (e && (!e->sealed || e->followers))
        e = e->newer;
    return e;
}

/* The next running turn that exceeds its share, and would not lose its newest event. */
static struct turnlog_entry *find_greedy(struct turnlog *log)
{
    ASSERT(log->n > log->n_sealed);
    const size_t max = log->limits.bytes, over = log->sealed_bytes;
    const size_t share = over < max ? (max - over) / (log->n - log->n_sealed) : 0;
    struct turnlog_entry *e = log->greedy ? log->greedy : log->newest;
    for (size_t i = 0; i < log->n; i++) {
        if (!e->sealed && e->bytes > share && e->n - e->first > 1)
            return log->greedy = e;
        e = e->older ? e->older : log->newest;
    }
    return NULL;
}

/* Running turns may not take all memory, because clients also want the end of their ended turns. */
static void apply_limits(struct turnlog *log)
{
    const struct turnlog_limits *const max = &log->limits;
    struct turnlog_entry *e;
    while ((log->n_sealed > max->turns ||
            (log->bytes > max->bytes && log->sealed_bytes > max->bytes / 2)) &&
           (e = find_forgettable(log)))
        turnlog_free_entry(log, e);
    while (log->bytes > max->bytes && log->n > log->n_sealed && (e = find_greedy(log)))
        forget_event(log, e);
}

static void turnlog_fill(const char **place, struct arena *a, const char *text)
{
    if (!*place)
        *place = arena_strdup(a, text);
}

static void fill_spec(struct turnlog_entry *e, const struct turnlog_spec *spec)
{
    struct turnlog_spec *const s = &e->turn.spec;
    turnlog_fill(&s->agent, &e->arena, spec->agent);
    turnlog_fill(&s->conversation, &e->arena, spec->conversation);
    turnlog_fill(&s->source, &e->arena, spec->source);
    turnlog_fill(&s->owner, &e->arena, spec->owner);
    turnlog_fill(&s->retry, &e->arena, spec->retry);
    if (spec->visible)
        e->turn.visible = *spec->visible;
    if (spec->instances)
        s->instances = arena_strdup(&e->arena, spec->instances);
    if (spec->led)
        s->led = arena_strdup(&e->arena, spec->led);
    if (!s->task && spec->task)
        s->task = arena_strndup(&e->arena, spec->task,
                                utf8_truncated_len(spec->task, strlen(spec->task), TASK_BYTES));
}

struct turnlog_entry *turnlog_find_or_make(struct turnlog *log, const struct turnlog_spec *spec)
{
    struct turnlog_entry *e = turnlog_entry_find(log, spec->id);
    if (!e) {
        e = xcalloc(1, sizeof *e);
        e->turn.spec.id = arena_strdup(&e->arena, spec->id);
        e->turn.created_ms = spec->created_ms ? spec->created_ms : now_ms();
        e->turn.cost_usd = -1;
        e->turn.visible =
            (struct visibility){SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET};
        link_entry(log, e);
    }
    fill_spec(e, spec);
    return e;
}

/* ---- state of a turn ---- */

static void turnlog_enter(struct turnlog *log, struct turnlog_entry *e, enum turnlog_state state)
{
    e->turn.state = state;
    if (turnlog_turn_is_finished(&e->turn) && !e->turn.ended_ms)
        e->turn.ended_ms = now_ms();
    turnlog_notify_watchers(log, &e->turn, false);
}

void turnlog_add_waiting(struct turnlog *log, const struct turnlog_spec *spec)
{
    struct turnlog_entry *const e = turnlog_find_or_make(log, spec);
    turnlog_remote_take_over(log, e);
    turnlog_enter(log, e, TURNLOG_WAITING);
}

struct turnlog_entry *turnlog_start_turn(struct turnlog *log, const struct turnlog_spec *spec)
{
    struct turnlog_entry *const e = turnlog_find_or_make(log, spec);
    turnlog_remote_take_over(log, e);
    e->turn.started_ms = spec->started_ms ? spec->started_ms : now_ms();
    turnlog_enter(log, e, TURNLOG_RUNNING);
    return e;
}

/* Seals the turn: no further events. */
void turnlog_seal(struct turnlog *log, struct turnlog_entry *e, enum turnlog_state state)
{
    const bool ends = !e->sealed;
    if (ends) {
        log->n_sealed++;
        log->sealed_bytes += e->bytes;
    }
    e->sealed = true;
    turnlog_notify_followers(e);
    if (e->turn.state != state)
        turnlog_enter(log, e, state);
    if (ends && !e->is_remote)
        turnlog_notify_watchers(log, &e->turn, true);
    apply_limits(log);
}

void turnlog_mark_merged(struct turnlog *log, const char *id, const char *into)
{
    struct turnlog_entry *const e = turnlog_entry_find(log, id);
    struct turnlog_entry *const head = turnlog_entry_find(log, into);
    if (!e || !head || e == head)
        return;
    e->turn.into = arena_strdup(&e->arena, into);
    turnlog_move_followers(e, head);
    turnlog_seal(log, e, TURNLOG_MERGED);
}

void turnlog_mark_cancelled(struct turnlog *log, const char *id)
{
    struct turnlog_entry *const e = turnlog_entry_find(log, id);
    if (e)
        turnlog_seal(log, e, TURNLOG_CANCELLED);
}

static void turnlog_record_usage(struct turnlog_turn *t, const struct tc_usage *u)
{
    const int64_t counts[TURNLOG_TOKENS] = {u->input_tokens, u->output_tokens, u->cache_read_tokens,
                                            u->cache_write_tokens, u->reasoning_tokens};
    if (u->cost_usd >= 0)
        t->cost_usd = u->cost_usd;
    if (strcmp(u->scope, "turn") != 0)
        return;
    for (size_t i = 0; i < TURNLOG_TOKENS; i++)
        t->tokens[i] = counts[i] > 0 ? counts[i] : 0;
}

static bool turnlog_is_text(enum tc_kind kind)
{
    return kind == TC_NARRATION || kind == TC_THINKING || kind == TC_MESSAGE || kind == TC_FINAL;
}

/* Collects the facts about a turn besides its events. A sub-agent's outcome is not the turn's. */
static void turnlog_record_facts(struct turnlog *log, struct turnlog_entry *e,
                                 const struct event *ev)
{
    const bool own = !ev->meta.agent && !ev->meta.parent_id;
    if (ev->kind == TC_TOOL_CALL)
        e->turn.tools++;
    if (ev->kind == TC_REQUEST)
        turnlog_notify_watchers(log, &e->turn, false);
    if (!own)
        return;
    if (turnlog_is_text(ev->kind) && !e->turn.first_ms)
        e->turn.first_ms = (int64_t)(ev->meta.ts * 1000);
    if (ev->kind == TC_USAGE)
        turnlog_record_usage(&e->turn, &ev->u.usage);
    if (ev->kind == TC_FINAL)
        turnlog_enter(log, e, TURNLOG_FINAL);
    if (ev->kind == TC_ERROR) {
        e->turn.code = arena_strdup(&e->arena, ev->u.error.code ? ev->u.error.code : "error");
        turnlog_enter(log, e, TURNLOG_ERROR);
    }
    if (ev->kind == TC_DONE && strcmp(ev->u.done.reason, "cancelled") == 0)
        turnlog_enter(log, e, TURNLOG_CANCELLED);
}

void turnlog_append_event(struct turnlog *log, struct turnlog_entry *e, struct shared_event *shared,
                          bool hidden, struct shared_event *stripped)
{
    const struct event *const ev = shared_event_get(shared);
    ASSERT(!e->sealed || e->is_remote);
    turnlog_make_room(e);
    ASSERT(e->n < e->cap);
    e->events[e->n++] = (struct turnlog_event){
        .seq = ev->meta.seq,
        .shared = shared,
        .stripped = stripped,
        .added = turnlog_now(),
        .hidden = hidden,
    };
    e->bytes += event_bytes(&e->events[e->n - 1]);
    log->bytes += event_bytes(&e->events[e->n - 1]);
    log->sealed_bytes += e->sealed ? event_bytes(&e->events[e->n - 1]) : 0;
    while (e->bytes > log->limits.turn_bytes && e->n - e->first > 1)
        forget_event(log, e);
    turnlog_notify_followers(e);
    if (e->turn.last_seq < ev->meta.seq)
        e->turn.last_seq = ev->meta.seq;
    if (!e->is_remote) { /* the host of a remote turn reports its state */
        log->added[ev->kind]++;
        turnlog_record_facts(log, e, ev);
    }
    apply_limits(log);
}

void turnlog_set_retry(struct turnlog *log, const char *id, const char *retry)
{
    struct turnlog_entry *const e = turnlog_entry_find(log, id);
    if (!e)
        return;
    e->turn.spec.retry = arena_strdup(&e->arena, retry);
    turnlog_notify_watchers(log, &e->turn, false);
}

void turnlog_set_works(struct turnlog *log, const char *id, bool works)
{
    struct turnlog_entry *const e = turnlog_entry_find(log, id);
    if (!e || e->turn.works == works)
        return;
    e->turn.works = works;
    turnlog_notify_watchers(log, &e->turn, false);
}

void turnlog_set_late_result(struct turnlog *log, const char *id, const char *text)
{
    struct turnlog_entry *const e = turnlog_entry_find(log, id);
    if (!e || e->is_remote || e->turn.late_result)
        return;
    e->turn.late_result = arena_strdup(&e->arena, text);
    turnlog_notify_watchers(log, &e->turn, false);
}

void turnlog_finish_turn(struct turnlog *log, struct turnlog_entry *e)
{
    turnlog_seal(log, e, turnlog_turn_is_finished(&e->turn) ? e->turn.state : TURNLOG_ERROR);
}

/* ---- lookup ---- */

const struct turnlog_turn *turnlog_find_turn(const struct turnlog *log, const char *id)
{
    const struct turnlog_entry *const e = turnlog_entry_find(log, id);
    return e ? &e->turn : NULL;
}

const struct turnlog_turn *turnlog_find_retry(const struct turnlog *log, const char *retry)
{
    const struct turnlog_entry *e = log->newest;
    while (e && (!e->turn.spec.retry || strcmp(e->turn.spec.retry, retry) != 0))
        e = e->older;
    return e ? &e->turn : NULL;
}

uint64_t turnlog_count_events(const struct turnlog *log, enum tc_kind kind)
{
    return log->added[kind];
}

void turnlog_each_turn(const struct turnlog *log,
                       bool (*each)(void *ctx, const struct turnlog_turn *t), void *ctx)
{
    const struct turnlog_entry *e = log->newest;
    while (e && each(ctx, &e->turn))
        e = e->older;
}

/* ---- create and free ---- */

struct turnlog *turnlog_new(struct loop *loop, const struct turnlog_limits *limits)
{
    struct turnlog *const log = xcalloc(1, sizeof *log);
    log->loop = loop;
    log->limits = limits ? *limits : turnlog_default_limits;
    return log;
}

void turnlog_free(struct turnlog *log)
{
    if (!log)
        return;
    while (log->newest)
        turnlog_free_entry(log, log->newest);
    free_unwatched(log);
    free(log);
}
