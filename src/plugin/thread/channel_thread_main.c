/* SPDX-License-Identifier: MIT
 * Main function of an instance's thread: start with a result, delivery, end. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "plugin/queue/control_msg.h"
#include "plugin/thread/channel_thread_internal.h"

#define BATCH 64
#define REST_MS 60000

static void channel_thread_main_free_turn(struct thread_turn *t)
{
    arena_fini(&t->arena);
    free(t);
}

static void channel_thread_main_end_turn(struct thread_channel *c, struct thread_turn *t)
{
    pthread_mutex_lock(&c->lock);
    *(t->prev ? &t->prev->next : &c->turns) = t->next;
    if (t->next)
        t->next->prev = t->prev;
    pthread_mutex_unlock(&c->lock);
    instance_turn_free(t->instance);
    channel_thread_main_free_turn(t);
}

/* ---- delivery ---- */

void thread_set_stage(struct thread_channel *c, enum thread_stage stage)
{
    pthread_mutex_lock(&c->lock);
    c->stage = stage;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void channel_thread_log_recovery(struct thread_channel *c)
{
    if (atomic_load_explicit(&c->hung, memory_order_relaxed) && atomic_exchange(&c->hung, false))
        log_write(LOG_WARN, thread_label(c), "callback returned%s",
                  atomic_load(&c->abandoned) ? ", too late; the instance was abandoned"
                                             : "; delivery resumed");
}

static bool is_abandoned(const struct thread_channel *c)
{
    return atomic_load_explicit(&c->abandoned, memory_order_relaxed);
}

static struct instance_turn *find_instance_turn(struct thread_channel *c, struct thread_turn *t)
{
    if (!t->instance)
        t->instance = instance_turn_new(c->instance, &t->named);
    return t->instance;
}

static void channel_thread_main_deliver_event(struct thread_channel *c,
                                              const struct backlog_item *item)
{
    struct thread_turn *const t = item->turn;
    instance_deliver_event(c->instance, find_instance_turn(c, t), item->shared);
    channel_thread_log_recovery(c);
    if (instance_turn_is_over(t->instance))
        channel_thread_main_end_turn(c, t);
}

static void channel_thread_main_deliver_reply(struct thread_channel *c, struct thread_turn *t,
                                              struct outbound_reply *r)
{
    instance_call_on_reply(c->instance, t ? find_instance_turn(c, t) : NULL, r);
    if (t && instance_turn_is_over(t->instance))
        channel_thread_main_end_turn(c, t);
}

struct thread_hit {
    struct call_queue *line;
    uint64_t id;
};

static void channel_thread_main_post_answer(void *arg, const struct tc_answer *answer)
{
    const struct thread_hit *const asked = arg;
    call_queue_post_answer(asked->line, asked->id, answer);
}

static void channel_thread_main_deliver_control(struct thread_channel *c, struct control_msg *m)
{
    switch (m->kind) {
    case CONTROL_REPLY:
        channel_thread_main_deliver_reply(c, m->turn, m->reply);
        m->reply = NULL;
        break;
    case CONTROL_HIT:
        m->hit->hit.number = m->hit_id;
        instance_call_on_hit(c->instance, &m->hit->hit, channel_thread_main_post_answer,
                             &(struct thread_hit){c->line, m->hit_id});
        break;
    case CONTROL_FRAME:
        instance_call_on_frame(c->instance, &m->frame);
        break;
    }
    channel_thread_log_recovery(c);
}

/* Up to max; false: none. */
static bool channel_thread_main_handle_control(struct thread_channel *c, size_t max)
{
    size_t n = 0;
    for (struct control_msg *m;
         n < max && !is_abandoned(c) && (m = event_queue_take_control(c->queue)); n++) {
        channel_thread_main_deliver_control(c, m);
        control_msg_free(m);
    }
    return n > 0;
}

/* While another thread encodes the line of an event, this one encodes that of the next: so each is
 * encoded once, and instances at the same position share the work. */
static void channel_thread_main_encode_lines(const struct backlog_item *items, size_t n)
{
    for (size_t i = 0; i < n && !shared_event_encode_line(items[i].shared); i++)
        ;
}

/* Results of requests and events alternate, so that neither waits for a long queue of the other. */
static bool channel_thread_main_handle_events(struct thread_channel *c,
                                              const struct backlog_item *items, size_t n)
{
    bool control = false;
    const bool lines = instance_has_on_event(c->instance);
    instance_begin_series(c->instance);
    for (size_t i = 0; i < n; i++) {
        if (event_queue_has_control(c->queue))
            control = channel_thread_main_handle_control(c, 1) || control;
        if (lines)
            channel_thread_main_encode_lines(&items[i], n - i);
        if (!is_abandoned(c))
            channel_thread_main_deliver_event(c, &items[i]);
        shared_event_unref(items[i].shared);
    }
    instance_end_series(c->instance);
    return (n ? control : channel_thread_main_handle_control(c, BATCH)) || n;
}

static int channel_thread_main_next_wait_ms(const struct thread_channel *c)
{
    const int64_t due = instance_next_wake_ms(c->instance);
    if (due == INT64_MAX)
        return REST_MS;
    const int64_t left = due - clock_mono_ms();
    return left <= 0 ? 0 : left < REST_MS ? (int)left : REST_MS;
}

static void channel_thread_main_run_tasks(struct thread_channel *c)
{
    struct backlog_item items[BATCH];
    bool closed = false, busy = false;
    while (!closed && !is_abandoned(c)) {
        const size_t n = event_queue_pop(c->queue, items, BATCH,
                                         busy ? 0 : channel_thread_main_next_wait_ms(c), &closed);
        bool any = channel_thread_main_handle_events(c, items, n);
        if (!closed && !is_abandoned(c))
            any = instance_call_on_wake(c->instance) || any;
        if (!any && busy)
            instance_call_on_idle(c->instance);
        busy = any;
    }
}

void thread_free(struct thread_channel *c)
{
    event_queue_free(c->queue);
    call_queue_unref(c->line);
    while (c->turns) {
        struct thread_turn *const t = c->turns;
        c->turns = t->next;
        channel_thread_main_free_turn(t);
    }
    instance_free(c->instance);
    loader_unref_plugin(c->loaded);
    free(c->place);
    free(c->name);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* Last action of the thread: frees the channel if no other thread waits for it. Otherwise the
 * loop's thread joins this one and frees the channel. */
static void channel_thread_main_finish(struct thread_channel *c, enum thread_stage stage)
{
    pthread_mutex_lock(&c->lock);
    const bool own = c->abandoned;
    c->stage = stage;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (own)
        thread_free(c);
    else
        call_queue_post_change(c->line);
}

/* Loads the plugin, whose constructors may take any time. */
static int load_code(struct thread_channel *c)
{
    struct tc_err why = {0};
    if (loader_load_code(c->loaded, &why) == 0)
        return 0;
    pthread_mutex_lock(&c->lock);
    c->why = why;
    pthread_mutex_unlock(&c->lock);
    return -1;
}

/* False: its queued events are dropped. */
static bool channel_thread_main_wait_for_release(struct thread_channel *c)
{
    pthread_mutex_lock(&c->lock);
    while (!c->released && !c->dropped && !c->abandoned)
        pthread_cond_wait(&c->changed, &c->lock);
    const bool released = c->released;
    pthread_mutex_unlock(&c->lock);
    return released;
}

static void *run_instance(void *arg)
{
    struct thread_channel *const c = arg;
    if (load_code(c) < 0 || instance_init(c->instance) < 0) {
        channel_thread_main_finish(c, THREAD_REFUSED);
        return NULL;
    }
    call_queue_accept_calls(c->line);
    thread_set_stage(c, THREAD_RUNNING);
    call_queue_post_change(c->line);
    if (channel_thread_main_wait_for_release(c))
        channel_thread_main_run_tasks(c);
    instance_teardown(c->instance);
    channel_thread_main_finish(c, THREAD_ENDED);
    return NULL;
}

/* Names above 15 characters are cut, because the kernel limits them. */
static void thread_name(const struct thread_channel *c)
{
    char cut[16];
    snprintf(cut, sizeof cut, "%.15s", c->name);
    pthread_setname_np(c->thread, cut);
}

/* Blocks signals, which the loop handles, except those of faults of the thread. */
int thread_start(struct thread_channel *c)
{
    sigset_t block, before;
    sigfillset(&block);
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&block, faults[i]);
    pthread_sigmask(SIG_SETMASK, &block, &before);
    const int rc = pthread_create(&c->thread, NULL, run_instance, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        thread_name(c);
    return rc;
}
