/* SPDX-License-Identifier: MIT
 * Channel to an instance in a thread of the host: start and its result, event delivery, stop within
 * a deadline. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "plugin/queue/control_msg.h"
#include "plugin/thread/channel_thread_internal.h"

#define INIT_MS 10000
#define CALLBACK_MS 5000
#define LOOK_EVERY 64 /* events between two checks of the running callback */
/* With this many events waiting, one that hangs or starts gets no new turns. */
#define GONE_FILL 4.0

static struct thread_channel *channel_thread_of(struct channel *c)
{
    return (struct thread_channel *)(void *)c;
}

/* ---- turns ---- */

static void channel_thread_link_turn(struct thread_channel *c, struct thread_turn *t)
{
    pthread_mutex_lock(&c->lock);
    t->next = c->turns;
    if (c->turns)
        c->turns->prev = t;
    c->turns = t;
    pthread_mutex_unlock(&c->lock);
}

/* ---- loop thread ---- */

/* Waits for the stage, at most ms of real time; returns the current stage. */
static enum thread_stage channel_thread_wait_for_stage(struct thread_channel *c,
                                                       bool (*there)(enum thread_stage), int64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const int64_t nsec = until.tv_nsec + (ms > 0 ? ms : 0) % 1000 * 1000000;
    until.tv_sec += (ms > 0 ? ms : 0) / 1000 + nsec / 1000000000;
    until.tv_nsec = nsec % 1000000000;
    pthread_mutex_lock(&c->lock);
    int rc = 0;
    while (!there(c->stage) && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&c->changed, &c->lock, &until);
    const enum thread_stage stage = c->stage;
    pthread_mutex_unlock(&c->lock);
    return stage;
}

static bool channel_thread_is_start_decided(enum thread_stage stage)
{
    return stage > THREAD_STARTING;
}

static bool channel_thread_has_ended(enum thread_stage stage)
{
    return stage == THREAD_ENDED || stage == THREAD_REFUSED;
}

static enum thread_stage channel_thread_get_stage(struct thread_channel *c)
{
    pthread_mutex_lock(&c->lock);
    const enum thread_stage stage = c->stage;
    pthread_mutex_unlock(&c->lock);
    return stage;
}

/* False: the thread has ended, and the caller still owns the channel. */
static bool channel_thread_mark_abandoned(struct thread_channel *c)
{
    pthread_mutex_lock(&c->lock);
    const bool ended = channel_thread_has_ended(c->stage);
    if (!ended) {
        pthread_detach(c->thread);
        c->abandoned = true;
        pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return !ended;
}

static void channel_thread_check_callback(struct thread_channel *c)
{
    int64_t since_ms;
    const char *const callback =
        status_page_running_callback(instance_status_page(c->instance), &since_ms);
    if (!callback)
        return;
    const int64_t ms = clock_mono_coarse_ms() - since_ms;
    if (ms <= c->callback_ms || channel_thread_get_stage(c) == THREAD_STARTING ||
        atomic_exchange(&c->hung, true))
        return;
    log_write(LOG_ERR, thread_label(c),
              "%s has not returned for %" PRId64 " ms (callback_ms = %d); events are queued",
              callback, ms, c->callback_ms);
}

static void *channel_thread_open_turn(struct channel *channel, const struct channel_turn *turn)
{
    struct thread_channel *const c = channel_thread_of(channel);
    channel_thread_check_callback(c);
    if ((atomic_load(&c->hung) || channel_thread_get_stage(c) <= THREAD_STARTING) &&
        event_queue_fill_ratio(c->queue) >= GONE_FILL)
        return NULL;
    struct thread_turn *const t = xcalloc(1, sizeof *t);
    t->named = (struct channel_turn){
        .id = arena_strdup(&t->arena, turn->id),
        .agent = arena_strdup(&t->arena, turn->agent),
        .conversation = arena_strdup(&t->arena, turn->conversation),
        .route = arena_strdup(&t->arena, turn->route),
        .memory = arena_strdup(&t->arena, turn->memory),
        .requests = turn->requests,
        .over = turn->over,
    };
    t->turn_backlog = turn->over ? NULL : event_queue_open_turn(c->queue, t);
    channel_thread_link_turn(c, t);
    return t;
}

static void channel_thread_send_event(struct channel *channel, void *turn,
                                      struct shared_event *shared)
{
    struct thread_channel *const c = channel_thread_of(channel);
    struct thread_turn *const t = turn;
    const bool done = shared_event_get(shared)->kind == TC_DONE;
    event_queue_push(c->queue, t->turn_backlog, shared);
    if (done || ++c->sends % LOOK_EVERY == 0)
        channel_thread_check_callback(c);
}

static void channel_thread_set_batching(struct channel *channel, bool on)
{
    event_queue_set_batching(channel_thread_of(channel)->queue, on);
}

static void channel_thread_send_reply(struct channel *channel, void *turn, struct outbound_reply *r)
{
    struct thread_channel *const c = channel_thread_of(channel);
    event_queue_put_control(c->queue, control_msg_new_reply(turn, r));
    channel_thread_check_callback(c);
}

static void channel_thread_send_hit(struct channel *channel, struct channel_hit *h)
{
    struct thread_channel *const c = channel_thread_of(channel);
    channel_thread_check_callback(c);
    event_queue_put_control(
        c->queue, control_msg_new_hit(call_queue_register_hit(c->line, h->answered, h->arg), h));
}

static void channel_thread_send_socket_text(struct channel *channel, const struct tc_frame *frame)
{
    struct thread_channel *const c = channel_thread_of(channel);
    event_queue_put_control(c->queue, control_msg_new_socket_text(frame));
    channel_thread_check_callback(c);
}

static bool channel_thread_wait_for_room(struct channel *channel, int timeout_ms)
{
    struct thread_channel *const c = channel_thread_of(channel);
    const bool room = event_queue_wait_for_room(c->queue, timeout_ms);
    if (!room)
        channel_thread_check_callback(c);
    return room;
}

static struct channel_health channel_thread_get_health(struct channel *channel)
{
    struct thread_channel *const c = channel_thread_of(channel);
    const struct status_page *const g = instance_status_page(c->instance);
    channel_thread_check_callback(c);
    return (struct channel_health){
        .delivered = status_page_get_delivered(g),
        .failed = status_page_get_failed(g),
        .dropped = event_queue_stats(c->queue).dropped,
        .times = status_page_histogram(g),
        .hung = atomic_load(&c->hung),
        .fill = event_queue_fill_ratio(c->queue),
        .starting = channel_thread_get_stage(c) <= THREAD_STARTING,
    };
}

static void channel_thread_stop(struct channel *channel)
{
    struct thread_channel *const c = channel_thread_of(channel);
    c->stopped = true;
    call_queue_refuse_calls(c->line);
    event_queue_close(c->queue);
    pthread_mutex_lock(&c->lock);
    c->dropped = !c->released;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* Closes the loop's side of the queue; the channel itself may be gone already. */
static void channel_thread_release_call_queue(struct call_queue *l, bool deliver)
{
    call_queue_close(l, deliver);
    call_queue_unref(l);
}

/* The thread, if there is one, has ended or is about to end. */
static void channel_thread_join_and_free(struct thread_channel *c, enum thread_stage stage,
                                         bool deliver)
{
    if (stage != THREAD_NEW)
        pthread_join(c->thread, NULL);
    channel_thread_release_call_queue(c->line, deliver);
    thread_free(c);
}

/* Leaves a thread behind that does not return from a callback. -1: the channel must no longer be
 * used; 0: the thread has ended in time. */
static int channel_thread_abandon_hung(struct thread_channel *c)
{
    char name[256];
    int64_t since_ms;
    const char *const callback =
        status_page_running_callback(instance_status_page(c->instance), &since_ms);
    const size_t left = event_queue_stats(c->queue).events;
    const bool told = c->stopped; /* otherwise it has failed to start, which its owner reports */
    snprintf(name, sizeof name, "%s", thread_label(c));
    if (!channel_thread_mark_abandoned(c))
        return 0;
    if (told)
        log_write(LOG_ERR, name, "did not stop in time (in %s); abandoned, %zu event%s lost",
                  callback ? callback : "queue", left, PLURAL(left, "", "s"));
    return -1;
}

static int channel_thread_join(struct channel *channel, int64_t deadline_ms)
{
    struct thread_channel *const c = channel_thread_of(channel);
    struct call_queue *const line = c->line;
    enum thread_stage stage = channel_thread_get_stage(c);
    if (stage != THREAD_NEW)
        stage = channel_thread_wait_for_stage(c, channel_thread_has_ended,
                                              deadline_ms - clock_mono_ms());
    if (stage != THREAD_NEW && !channel_thread_has_ended(stage) &&
        channel_thread_abandon_hung(c) < 0) {
        channel_thread_release_call_queue(line, true);
        return -1;
    }
    channel_thread_join_and_free(c, stage, true);
    return 0;
}

/* Drops waiting events: `join` does not wait for more. */
static bool channel_thread_kill(struct channel *channel, bool is_late)
{
    (void)channel;
    (void)is_late;
    return true;
}

/* ---- start ---- */

static void channel_thread_set_start_error(struct thread_channel *c, int rc)
{
    pthread_mutex_lock(&c->lock);
    err_set_errno(&c->why, rc, NULL, "cannot create a thread");
    pthread_mutex_unlock(&c->lock);
}

static void channel_thread_launch(struct channel *channel)
{
    struct thread_channel *const c = channel_thread_of(channel);
    c->began_ms = clock_mono_ms();
    thread_set_stage(c, THREAD_STARTING);
    const int rc = thread_start(c);
    if (rc == 0)
        return;
    channel_thread_set_start_error(c, rc);
    thread_set_stage(c, THREAD_NEW); /* there is no thread to join */
}

static void channel_thread_report_failure(struct thread_channel *c, enum thread_stage stage,
                                          struct tc_err *err)
{
    struct tc_err why;
    pthread_mutex_lock(&c->lock);
    why = c->why;
    pthread_mutex_unlock(&c->lock);
    if (*why.text)
        err_set(err, *why.place ? why.place : c->place, "%s: disabled: %s", thread_label(c),
                why.text);
    else if (stage == THREAD_STARTING)
        err_set(err, c->place, "%s: disabled: init did not return within %" PRId64 " ms (init_ms)",
                thread_label(c), c->init_ms);
    else
        err_set(err, c->place, "%s: disabled: init failed; see the messages above",
                thread_label(c));
}

static enum channel_state channel_thread_get_state(const struct thread_channel *c,
                                                   enum thread_stage stage)
{
    if (stage == THREAD_NEW)
        return c->stopped ? CHANNEL_ENDED : c->began_ms ? CHANNEL_FAILED : CHANNEL_NEW;
    if (c->stopped)
        return channel_thread_has_ended(stage) ? CHANNEL_ENDED : CHANNEL_STOPPING;
    if (stage == THREAD_STARTING)
        return clock_mono_ms() - c->began_ms > c->init_ms ? CHANNEL_FAILED : CHANNEL_STARTING;
    return stage == THREAD_RUNNING ? CHANNEL_RUNNING : CHANNEL_FAILED;
}

static enum channel_state channel_thread_report_state(struct channel *channel, struct tc_err *err)
{
    struct thread_channel *const c = channel_thread_of(channel);
    const enum thread_stage stage = channel_thread_get_stage(c);
    const enum channel_state state = channel_thread_get_state(c, stage);
    if (err && state == CHANNEL_FAILED)
        channel_thread_report_failure(c, stage, err);
    return state;
}

static void channel_thread_release(struct channel *channel)
{
    struct thread_channel *const c = channel_thread_of(channel);
    call_queue_release(c->line);
    pthread_mutex_lock(&c->lock);
    c->released = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static int channel_thread_wait_started(struct channel *channel, struct tc_err *err)
{
    struct thread_channel *const c = channel_thread_of(channel);
    if (channel_thread_get_stage(c) == THREAD_NEW)
        channel_thread_launch(channel);
    if (channel_thread_get_stage(c) != THREAD_NEW &&
        channel_thread_wait_for_stage(c, channel_thread_is_start_decided,
                                      c->began_ms + c->init_ms - clock_mono_ms()) ==
            THREAD_RUNNING) {
        channel_thread_release(channel);
        return 0;
    }
    struct call_queue *const line = c->line;
    const enum thread_stage stage = channel_thread_get_stage(c);
    channel_thread_report_failure(c, stage, err);
    event_queue_close(c->queue);
    if (stage == THREAD_STARTING && channel_thread_mark_abandoned(c))
        channel_thread_release_call_queue(line, false);
    else
        channel_thread_join_and_free(c, stage, false);
    return -1;
}

/* For the time before the instance's thread reads its turns. */
static void channel_thread_set_memory(struct channel *channel, void *turn, const char *memory)
{
    (void)channel;
    struct thread_turn *const t = turn;
    t->named.memory = arena_strdup(&t->arena, memory);
}

/* The thread calls init later. */
static void channel_thread_load(struct channel *channel, const char *key, const char *text)
{
    instance_load_stored(channel_thread_of(channel)->instance, key, text);
}

static const struct channel_ops thread_ops = {
    .launch = channel_thread_launch,
    .state = channel_thread_report_state,
    .release = channel_thread_release,
    .wait_started = channel_thread_wait_started,
    .set_memory = channel_thread_set_memory,
    .load = channel_thread_load,
    .open = channel_thread_open_turn,
    .send = channel_thread_send_event,
    .set_batching = channel_thread_set_batching,
    .reply = channel_thread_send_reply,
    .hit = channel_thread_send_hit,
    .frame = channel_thread_send_socket_text,
    .wait_room = channel_thread_wait_for_room,
    .health = channel_thread_get_health,
    .stop = channel_thread_stop,
    .kill = channel_thread_kill,
    .join = channel_thread_join,
};

static struct thread_channel *channel_thread_make_channel(const struct conf_instance *spec,
                                                          struct loaded_plugin *loaded,
                                                          const struct channel_callbacks *host)
{
    struct thread_channel *const c = xcalloc(1, sizeof *c);
    c->channel.ops = &thread_ops;
    c->loaded = loaded;
    c->queue = event_queue_new(&(struct backlog_limits){
        .events = (size_t)spec->queue_events,
        .bytes = (size_t)spec->queue_bytes,
        .pace_ms = loaded->plugin.pace_ms,
    });
    c->line = call_queue_new(host, c->queue);
    c->callback_ms = (int)(spec->callback_ms > 0 ? spec->callback_ms : CALLBACK_MS);
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &attr);
    pthread_condattr_destroy(&attr);
    return c;
}

struct channel *channel_thread_new(const struct conf *conf, const struct conf_instance *spec,
                                   struct loaded_plugin *loaded,
                                   const struct channel_callbacks *host, struct tc_err *err)
{
    struct thread_channel *const c = channel_thread_make_channel(spec, loaded, host);
    c->instance = instance_new(conf, spec, loaded, call_queue_callbacks(c->line), NULL, err);
    if (!c->instance) {
        channel_thread_release_call_queue(c->line, false);
        thread_free(c);
        return NULL;
    }
    c->init_ms = spec->init_ms > 0 ? spec->init_ms : INIT_MS;
    c->name = xstrdup(spec->name);
    c->place = spec->line > 0 ? conf_format_place(conf, spec->file, spec->line) : NULL;
    return &c->channel;
}
