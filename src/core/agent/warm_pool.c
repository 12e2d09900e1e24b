/* SPDX-License-Identifier: MIT
 * Owns waiting agent processes: their deadlines, and their output while they wait. */
#include "core/agent/warm_pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/turn/turn_record.h"
#include "io/process/process_tree.h"

#define MEASURE_MS 1000 /* interval of memory measurements, one process each */
/* Limit of buffered output of a turn that waits to be journaled. */
#define UNREAD_MAX ((size_t)16 << 20)

struct warm_pool_waiter {
    struct warm_pool_waiter *next;
    char *conversation, *session_id; /* session_id: or NULL */
    void (*gone)(void *ctx);
    void *ctx;
};

struct warm_pool_entry {
    struct warm_pool_entry *next;
    struct warm *all;
    struct agent_process *process;
    struct loop_timer *keep;
    const struct conf *conf; /* of the agent */
    char *turn, *conversation, *session_id, *source, *route, *instances, *owner, *log_name;
    struct buf unread;   /* output lines of the turn that it has started by itself */
    bool begins;         /* it has started a turn by itself */
    bool is_ending;      /* it is being ended */
    bool reported_works; /* last value passed to events->works */
    uint64_t resident;   /* bytes of its process tree at the last measurement */
    int64_t measured_ms;
};

struct warm {
    struct loop *loop;
    struct journal_async *journal;
    const struct conf *conf;
    const struct warm_events *events;
    void *ctx;
    struct warm_pool_entry *list; /* the newest first */
    struct loop_timer *measure;
    struct warm_pool_waiter *waiters;
    bool closing;
};

/* ---- lookup ---- */

static bool warm_pool_is_of(const struct warm_pool_entry *e, const char *conversation,
                            const char *session_id)
{
    return strcmp(e->conversation, conversation) == 0 ||
           (session_id && strcmp(e->session_id, session_id) == 0);
}

static bool warm_pool_is_occupied(const struct warm *w, const char *conversation,
                                  const char *session_id)
{
    for (const struct warm_pool_entry *e = w->list; e; e = e->next)
        if (warm_pool_is_of(e, conversation, session_id))
            return true;
    return false;
}

static bool works(const struct warm_pool_entry *e)
{
    const struct agent_stream *const s = agent_process_stream(e->process);
    return e->begins || (s && translator_work(&s->translate) == DIALECT_WORKS);
}

bool warm_pool_works(const struct warm *w, const char *conversation)
{
    for (const struct warm_pool_entry *e = w->list; e; e = e->next)
        if (!e->is_ending && strcmp(e->conversation, conversation) == 0 && works(e))
            return true;
    return false;
}

bool warm_pool_is_busy(const struct warm *w, const char *conversation)
{
    for (const struct warm_pool_entry *e = w->list; e; e = e->next)
        if (strcmp(e->conversation, conversation) == 0 && (e->is_ending || works(e)))
            return true;
    return false;
}

void warm_pool_set_lease(struct warm *w, const char *conversation, int64_t until_ms)
{
    for (const struct warm_pool_entry *e = w->list; e; e = e->next)
        if (strcmp(e->conversation, conversation) == 0)
            agent_process_set_lease(e->process, until_ms);
}

bool warm_pool_is_empty(const struct warm *w)
{
    return !w->list;
}

size_t warm_pool_count(const struct warm *w)
{
    size_t n = 0;
    for (const struct warm_pool_entry *e = w->list; e; e = e->next)
        n += !e->is_ending;
    return n;
}

/* ---- ending a process ---- */

static void warm_pool_free_waiter(struct warm_pool_waiter *waiter)
{
    free(waiter->conversation);
    free(waiter->session_id);
    free(waiter);
}

static void warm_pool_notify_waiters(struct warm *w)
{
    for (struct warm_pool_waiter **at = &w->waiters, *waiter; (waiter = *at);) {
        if (warm_pool_is_occupied(w, waiter->conversation, waiter->session_id)) {
            at = &waiter->next;
            continue;
        }
        *at = waiter->next;
        waiter->gone(waiter->ctx);
        warm_pool_free_waiter(waiter);
        at = &w->waiters; /* `gone` may have changed the list */
    }
}

static void warm_pool_unlink_entry(struct warm_pool_entry *e)
{
    struct warm_pool_entry **at = &e->all->list;
    while (*at && *at != e)
        at = &(*at)->next;
    ASSERT(*at);
    *at = e->next;
}

/* Frees the entry, but not the process. */
static void warm_pool_free_entry(struct warm_pool_entry *e)
{
    loop_timer_free(e->keep);
    buf_fini(&e->unread);
    free(e->turn);
    free(e->conversation);
    free(e->session_id);
    free(e->source);
    free(e->route);
    free(e->instances);
    free(e->owner);
    free(e->log_name);
    conf_unref(e->conf);
    free(e);
}

static void warm_pool_report_works(struct warm_pool_entry *e, bool now)
{
    if (e->reported_works == now)
        return;
    e->reported_works = now;
    e->all->events->works(e->all->ctx, e->turn, now);
    if (!now && !e->is_ending)
        e->all->events->rests(e->all->ctx, e->conversation);
}

static void warm_pool_stop_entry(struct warm_pool_entry *e, const char *why)
{
    if (e->is_ending)
        return;
    e->is_ending = true;
    warm_pool_report_works(e, false);
    log_write(LOG_INFO, e->log_name, "stopping the waiting process of %s: %s", e->conversation,
              why);
    loop_timer_set(e->keep, -1);
    agent_process_close_input(e->process);
}

/* ---- output of a waiting process ---- */

static void warm_pool_set_deadline(struct warm_pool_entry *e)
{
    const struct conf_agent *const agent = agent_process_agent(e->process);
    const int64_t limit = works(e) ? agent->background_timeout_ms : agent->keep_alive_ms;
    loop_timer_set(e->keep, works(e) && !limit ? -1 : limit);
}

static void warm_pool_on_time(void *arg)
{
    struct warm_pool_entry *const e = arg;
    if (!e->begins)
        warm_pool_stop_entry(e, works(e) ? "background work exceeds background_timeout_s"
                                         : "no message within keep_alive_s");
}

static void warm_pool_store_line(struct warm_pool_entry *e, const char *line, size_t len)
{
    if (e->unread.len + len >= UNREAD_MAX)
        return;
    buf_add(&e->unread, line, len);
    buf_add_char(&e->unread, '\n');
}

static void warm_pool_report_begin(const struct warm_pool_entry *e)
{
    const struct warm_place place = {.conf = e->conf,
                                     .conversation = e->conversation,
                                     .session_id = e->session_id,
                                     .source = e->source,
                                     .route = e->route,
                                     .instances = e->instances,
                                     .owner = e->owner};
    e->all->events->begins(e->all->ctx, &place, agent_process_agent(e->process));
}

static void warm_pool_on_line(void *ctx, const char *line, size_t len, bool complete)
{
    struct warm_pool_entry *const e = ctx;
    struct agent_stream *const s = agent_process_stream(e->process);
    (void)complete;
    if (e->begins) {
        warm_pool_store_line(e, line, len);
        return;
    }
    if (e->is_ending || !translator_between(&s->translate, line, len)) {
        agent_process_line(e->process, line, len);
        return;
    }
    e->begins = true;
    warm_pool_store_line(e, line, len);
    warm_pool_report_begin(e);
}

void warm_pool_report_begin_again(struct warm *w, const char *conversation)
{
    for (struct warm_pool_entry *e = w->list; e; e = e->next)
        if (e->begins && !e->is_ending && strcmp(e->conversation, conversation) == 0) {
            warm_pool_report_begin(e);
            return;
        }
}

static void warm_pool_on_dropped(void *ctx, uint64_t bytes)
{
    const struct warm_pool_entry *const e = ctx;
    log_write(LOG_WARN, e->log_name, "skipped a line of %llu bytes (limit: max_line_bytes)",
              (unsigned long long)bytes);
}

/* Reports a change of its background work. */
static void warm_pool_listen_to(struct warm_pool_entry *e, const char *bytes, size_t n)
{
    const bool worked = works(e);
    line_splitter_feed(&agent_process_stream(e->process)->lines, bytes, n);
    if (e->is_ending)
        return;
    if (works(e) != worked)
        warm_pool_set_deadline(e);
    warm_pool_report_works(e, works(e));
}

static void warm_pool_on_out(void *ctx, const char *bytes, size_t n)
{
    warm_pool_listen_to(ctx, bytes, n);
}

static void warm_pool_on_failed(void *ctx, const struct tc_err *err)
{
    (void)ctx, (void)err; /* the turn was started */
}

static void warm_pool_on_mute(void *ctx)
{
    warm_pool_stop_entry(ctx, "it closed its output");
}

static void warm_pool_on_exited(void *ctx)
{
    struct warm_pool_entry *const e = ctx;
    const int status = agent_process_status(e->process);
    if (!e->is_ending && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
        log_write(
            LOG_WARN, e->log_name,
            "the waiting process ended unexpectedly (%s %d); the next message resumes the session",
            WIFSIGNALED(status) ? "signal" : "status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    e->is_ending = true;
    warm_pool_report_works(e, false);
}

static void warm_pool_on_stuck(void *ctx, unsigned left)
{
    (void)ctx, (void)left; /* it was logged */
}

static void warm_pool_on_over(void *ctx)
{
    struct warm_pool_entry *const e = ctx;
    struct warm *const w = e->all;
    turn_record_not_waiting(w->journal, agent_process_turn(e->process));
    CLEANUP_FREE char *conversation = xstrdup(e->conversation);
    warm_pool_unlink_entry(e);
    agent_process_free(e->process);
    warm_pool_free_entry(e);
    w->events->rests(w->ctx, conversation);
    warm_pool_notify_waiters(w);
    if (!w->list && w->events->emptied)
        w->events->emptied(w->ctx);
}

/* ---- limits ---- */

/* The entry that has waited longest; a working one only if all work. */
static struct warm_pool_entry *warm_pool_find_oldest(struct warm *w)
{
    struct warm_pool_entry *idle = NULL, *busy = NULL;
    for (struct warm_pool_entry *e = w->list; e; e = e->next)
        if (!e->is_ending)
            *(works(e) ? &busy : &idle) = e;
    return idle ? idle : busy;
}

static uint64_t resident_of_all(const struct warm *w)
{
    uint64_t sum = 0;
    for (const struct warm_pool_entry *e = w->list; e; e = e->next)
        sum += e->is_ending ? 0 : e->resident;
    return sum;
}

/* A single process may always stay: limits.memory_mb limits it. */
static bool uses_too_much(const struct warm *w)
{
    const uint64_t limit = (uint64_t)w->conf->conversations.max_warm_mb << 20;
    return limit && warm_pool_count(w) > 1 && resident_of_all(w) > limit;
}

static void warm_pool_make_room(struct warm *w)
{
    while (warm_pool_count(w) > (size_t)w->conf->conversations.max_warm)
        warm_pool_stop_entry(warm_pool_find_oldest(w),
                             "more waiting processes than conversations.max_warm");
    while (uses_too_much(w))
        warm_pool_stop_entry(warm_pool_find_oldest(w),
                             "memory of the waiting processes exceeds conversations.max_warm_mb");
}

/* Measures only if max_warm_mb is set, because that reads all of /proc. */
static void warm_pool_measure(struct warm_pool_entry *e)
{
    if (!e->all->conf->conversations.max_warm_mb)
        return;
    e->measured_ms = clock_mono_ms();
    e->resident = process_tree_resident(agent_process_pid(e->process));
}

/* Measures one process at a time: a host may have a thousand, and the loop waits for /proc. */
static void on_measure(void *arg)
{
    struct warm *const w = arg;
    struct warm_pool_entry *stalest = NULL;
    for (struct warm_pool_entry *e = w->list; e; e = e->next)
        if (!e->is_ending && (!stalest || e->measured_ms <= stalest->measured_ms))
            stalest = e;
    if (!stalest)
        return;
    warm_pool_measure(stalest);
    warm_pool_make_room(w);
    loop_timer_set(w->measure, MEASURE_MS);
}

static void warm_pool_attach(struct warm_pool_entry *e)
{
    static const struct agent_process_events events = {warm_pool_on_failed, warm_pool_on_out,
                                                       warm_pool_on_mute,   warm_pool_on_exited,
                                                       warm_pool_on_stuck,  warm_pool_on_over};
    struct line_splitter *const lines = &agent_process_stream(e->process)->lines;
    lines->line = warm_pool_on_line;
    lines->dropped = warm_pool_on_dropped;
    lines->ctx = e;
    agent_process_hand_over(e->process, &events, e);
}

void warm_pool_add_process(struct warm *w, const struct warm_place *place, struct agent_process *p,
                           const char *bytes, size_t n)
{
    ASSERT(p && agent_process_stream(p));
    struct warm_pool_entry *const e = xcalloc(1, sizeof *e);
    *e = (struct warm_pool_entry){
        .next = w->list,
        .all = w,
        .process = p,
        .keep = loop_timer_new(w->loop, warm_pool_on_time, e),
        .conf = conf_ref(place->conf),
        .turn = xstrdup(place->turn),
        .conversation = xstrdup(place->conversation),
        .session_id = xstrdup(place->session_id),
        .source = xstrdup(place->source),
        .route = xstrdup(place->route),
        .instances = xstrdup(place->instances),
        .owner = xstrdup(place->owner),
        .log_name = xasprintf("agent %s", agent_process_agent(p)->name),
    };
    w->list = e;
    warm_pool_attach(e);
    turn_record_waiting(w->journal, agent_process_turn(p), agent_process_pid(p));
    if (w->closing || place->conf != w->conf) {
        warm_pool_stop_entry(e, w->closing ? "turncast is shutting down"
                                           : "the configuration has changed");
        return;
    }
    warm_pool_set_deadline(e);
    warm_pool_listen_to(e, bytes, n);
    warm_pool_measure(e);
    warm_pool_make_room(w);
    loop_timer_set(w->measure, MEASURE_MS);
}

static struct warm_pool_entry *warm_pool_find(const struct warm *w, const struct conf_agent *agent,
                                              const char *conversation, const char *session_id)
{
    for (struct warm_pool_entry *e = w->list; e; e = e->next)
        if (!e->is_ending && agent_process_agent(e->process) == agent &&
            strcmp(e->conversation, conversation) == 0 &&
            (session_id ? strcmp(e->session_id, session_id) == 0 : e->begins))
            return e;
    return NULL;
}

struct agent_process *warm_pool_acquire(struct warm *w, const struct conf_agent *agent,
                                        const char *conversation, const char *session_id,
                                        struct buf *unread)
{
    struct warm_pool_entry *const e = warm_pool_find(w, agent, conversation, session_id);
    if (!e)
        return NULL;
    struct agent_process *const p = e->process;
    ASSERT(!e->is_ending && p);
    if (e->unread.len)
        buf_add(unread, e->unread.p, e->unread.len);
    line_splitter_return_rest(&agent_process_stream(p)->lines, unread);
    warm_pool_report_works(e, false);
    turn_record_not_waiting(w->journal, agent_process_turn(p));
    warm_pool_unlink_entry(e);
    warm_pool_free_entry(e);
    return p;
}

void warm_pool_end(struct warm *w, const char *conversation, const char *why)
{
    for (struct warm_pool_entry *e = w->list; e; e = e->next)
        if (warm_pool_is_of(e, conversation, NULL))
            warm_pool_stop_entry(e, why);
}

bool warm_pool_clear(struct warm *w, const char *conversation, const char *session_id,
                     void (*gone)(void *ctx), void *ctx)
{
    ASSERT(gone);
    for (struct warm_pool_entry *e = w->list; e; e = e->next)
        if (warm_pool_is_of(e, conversation, session_id))
            warm_pool_stop_entry(e, "another process starts");
    if (!warm_pool_is_occupied(w, conversation, session_id))
        return false;
    struct warm_pool_waiter *const waiter = xcalloc(1, sizeof *waiter);
    *waiter = (struct warm_pool_waiter){.next = w->waiters,
                                        .conversation = xstrdup(conversation),
                                        .session_id = xstrdup(session_id),
                                        .gone = gone,
                                        .ctx = ctx};
    w->waiters = waiter;
    return true;
}

void warm_pool_cancel_waiter(struct warm *w, const void *ctx)
{
    for (struct warm_pool_waiter **at = &w->waiters, *waiter; (waiter = *at);)
        if (waiter->ctx == ctx) {
            *at = waiter->next;
            warm_pool_free_waiter(waiter);
        } else {
            at = &waiter->next;
        }
}

/* ---- create and free ---- */

struct warm *warm_pool_new(struct loop *l, struct journal_async *journal, const struct conf *conf,
                           const struct warm_events *events, void *ctx)
{
    struct warm *const w = xcalloc(1, sizeof *w);
    *w = (struct warm){.loop = l, .journal = journal, .conf = conf, .events = events, .ctx = ctx};
    w->measure = loop_timer_new(l, on_measure, w);
    return w;
}

void warm_pool_reconfigure(struct warm *w, const struct conf *conf)
{
    w->conf = conf;
    for (struct warm_pool_entry *e = w->list; e; e = e->next)
        warm_pool_stop_entry(e, "the configuration has changed");
}

void warm_pool_close(struct warm *w)
{
    for (struct warm_pool_entry *e = w->list; e; e = e->next)
        if (w->closing)
            agent_process_terminate(e->process);
        else
            warm_pool_stop_entry(e, "turncast is shutting down");
    w->closing = true;
}

void warm_pool_free(struct warm *w)
{
    if (!w)
        return;
    loop_timer_free(w->measure);
    while (w->list) {
        struct warm_pool_entry *const e = w->list;
        w->list = e->next;
        agent_process_free(e->process);
        warm_pool_free_entry(e);
    }
    while (w->waiters) {
        struct warm_pool_waiter *const waiter = w->waiters;
        w->waiters = waiter->next;
        warm_pool_free_waiter(waiter);
    }
    free(w);
}
