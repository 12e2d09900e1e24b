/* SPDX-License-Identifier: MIT
 * Owns the thread of an instance: its start with a verdict, its work, its end within a deadline. */
#include "plugin/channel.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "plugin/instance.h"
#include "plugin/line.h"
#include "plugin/mail.h"
#include "plugin/queue.h"

#define INIT_MS 10000
#define CALLBACK_MS 5000
#define BATCH 64
#define REST_MS 60000
#define LOOK_EVERY 64 /* sends between two looks at the callback that runs */
#define GONE_FILL 4.0 /* a hung instance with that much waiting gets no new turns */

enum stage { STARTING, RUNNING, REFUSED, ENDED };

/* One turn on its way to the instance. */
struct thread_turn {
    struct thread_turn *next, *prev; /* under the channel's lock */
    struct lane *lane;
    struct channel_turn named; /* its strings are the arena's */
    struct arena arena;
    struct instance_turn *instance; /* the instance's thread only; made when it is first heard of */
};

struct thread_channel {
    struct channel channel;
    struct loaded *loaded;
    struct instance *instance;
    struct queue *queue; /* to the instance's thread */
    struct line *line;   /* from it */
    pthread_t thread;
    char *place; /* in the configuration; NULL: none is known */
    int64_t init_ms, began_ms;
    int callback_ms;
    unsigned sends;
    atomic_bool hung; /* told in the log */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum stage stage;          /* under lock */
    atomic_bool abandoned;     /* set under lock: from then on its thread owns the channel */
    struct thread_turn *turns; /* under lock */
};

static struct thread_channel *self(struct channel *c)
{
    return (struct thread_channel *)(void *)c;
}

static const char *label(const struct thread_channel *c)
{
    return instance_label(c->instance);
}

/* ---- turns ---- */

static void free_turn(struct thread_turn *t)
{
    arena_fini(&t->arena);
    free(t);
}

static void link_turn(struct thread_channel *c, struct thread_turn *t)
{
    pthread_mutex_lock(&c->lock);
    t->next = c->turns;
    if (c->turns)
        c->turns->prev = t;
    c->turns = t;
    pthread_mutex_unlock(&c->lock);
}

static void end_turn(struct thread_channel *c, struct thread_turn *t)
{
    pthread_mutex_lock(&c->lock);
    *(t->prev ? &t->prev->next : &c->turns) = t->next;
    if (t->next)
        t->next->prev = t->prev;
    pthread_mutex_unlock(&c->lock);
    instance_turn_free(t->instance);
    free_turn(t);
}

/* ---- the instance's thread ---- */

static void set_stage(struct thread_channel *c, enum stage stage)
{
    pthread_mutex_lock(&c->lock);
    c->stage = stage;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void tell_recovery(struct thread_channel *c)
{
    if (atomic_load_explicit(&c->hung, memory_order_relaxed) && atomic_exchange(&c->hung, false))
        log_line(LOG_WARN, label(c), "the callback returned%s",
                 atomic_load(&c->abandoned) ? ", too late" : "; going on");
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

static void deliver(struct thread_channel *c, const struct backlog_item *item)
{
    struct thread_turn *const t = item->turn;
    instance_deliver(c->instance, find_instance_turn(c, t), item->box);
    tell_recovery(c);
    if (instance_turn_is_over(t->instance))
        end_turn(c, t);
}

static void deliver_reply(struct thread_channel *c, struct thread_turn *t, struct letter_reply *r)
{
    instance_reply(c->instance, t ? find_instance_turn(c, t) : NULL, r);
    if (t && instance_turn_is_over(t->instance))
        end_turn(c, t);
}

struct asked_hit {
    struct line *line;
    uint64_t id;
};

static void answer_hit(void *arg, const struct tc_answer *answer)
{
    const struct asked_hit *const asked = arg;
    line_answer(asked->line, asked->id, answer);
}

static void deliver_mail(struct thread_channel *c, struct mail *m)
{
    switch (m->kind) {
    case MAIL_REPLY:
        deliver_reply(c, m->turn, m->reply);
        m->reply = NULL;
        break;
    case MAIL_HIT:
        instance_hit(c->instance, &m->hit->hit, answer_hit,
                     &(struct asked_hit){c->line, m->hit_id});
        break;
    case MAIL_FRAME:
        instance_frame(c->instance, &m->frame);
        break;
    }
    tell_recovery(c);
}

/* Up to max; false: there was none. */
static bool take_mail(struct thread_channel *c, size_t max)
{
    size_t n = 0;
    for (struct mail *m; n < max && !is_abandoned(c) && (m = queue_take_mail(c->queue)); n++) {
        deliver_mail(c, m);
        mail_free(m);
    }
    return n > 0;
}

/* While another thread makes the line of an event, this one makes that of the next: so each is made
 * once, and several instances that are at the same place share the work. */
static void make_lines(const struct backlog_item *items, size_t n)
{
    for (size_t i = 0; i < n && !event_box_make_line(items[i].box); i++)
        ;
}

/* What came of a request never waits behind a long queue of events, nor they behind replies: they
 * take turns. */
static bool take_events(struct thread_channel *c, const struct backlog_item *items, size_t n)
{
    bool mail = false;
    const bool lines = instance_takes_lines(c->instance);
    instance_begin_run(c->instance);
    for (size_t i = 0; i < n; i++) {
        if (queue_has_mail(c->queue))
            mail = take_mail(c, 1) || mail;
        if (lines)
            make_lines(&items[i], n - i);
        if (!is_abandoned(c))
            deliver(c, &items[i]);
        event_box_unref(items[i].box);
    }
    instance_end_run(c->instance);
    return (n ? mail : take_mail(c, BATCH)) || n;
}

static int rest_ms(const struct thread_channel *c)
{
    const int64_t due = instance_due(c->instance);
    if (due == INT64_MAX)
        return REST_MS;
    const int64_t left = due - clock_mono_ms();
    return left <= 0 ? 0 : left < REST_MS ? (int)left : REST_MS;
}

static void work(struct thread_channel *c)
{
    struct backlog_item items[BATCH];
    bool closed = false, busy = false;
    while (!closed && !is_abandoned(c)) {
        const size_t n = queue_pop(c->queue, items, BATCH, busy ? 0 : rest_ms(c), &closed);
        bool any = take_events(c, items, n);
        if (!closed && !is_abandoned(c))
            any = instance_wake(c->instance) || any;
        if (!any && busy)
            instance_idle(c->instance);
        busy = any;
    }
}

static void free_channel(struct thread_channel *c)
{
    queue_free(c->queue);
    line_unref(c->line);
    while (c->turns) {
        struct thread_turn *const t = c->turns;
        c->turns = t->next;
        free_turn(t);
    }
    instance_free(c->instance);
    loader_free(c->loaded);
    free(c->place);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* The last the thread does: if nobody waits for it any more, the channel is its own to free. */
static void finish(struct thread_channel *c, enum stage stage)
{
    pthread_mutex_lock(&c->lock);
    const bool own = c->abandoned;
    c->stage = stage;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (own)
        free_channel(c);
}

static void *run(void *arg)
{
    struct thread_channel *const c = arg;
    if (instance_init(c->instance) < 0) {
        finish(c, REFUSED);
        return NULL;
    }
    line_open(c->line);
    set_stage(c, RUNNING);
    work(c);
    instance_teardown(c->instance);
    finish(c, ENDED);
    return NULL;
}

/* ---- the loop's thread ---- */

/* Signals are the loop's; only those of the thread's own faults come through. */
static int start_thread(struct thread_channel *c)
{
    sigset_t block, before;
    sigfillset(&block);
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&block, faults[i]);
    pthread_sigmask(SIG_SETMASK, &block, &before);
    const int rc = pthread_create(&c->thread, NULL, run, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

/* Names over 15 characters are cut: the kernel keeps no more. */
static void name_thread(const struct thread_channel *c, const char *name)
{
    char cut[16];
    snprintf(cut, sizeof cut, "%.15s", name);
    pthread_setname_np(c->thread, cut);
}

/* Waits until the stage is there, for at most ms of real time; what it is then. */
static enum stage await_stage(struct thread_channel *c, bool (*there)(enum stage), int64_t ms)
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
    const enum stage stage = c->stage;
    pthread_mutex_unlock(&c->lock);
    return stage;
}

static bool has_verdict(enum stage stage)
{
    return stage != STARTING;
}

static bool has_ended(enum stage stage)
{
    return stage == ENDED || stage == REFUSED;
}

/* False: it has ended after all and is still the caller's. */
static bool give_up(struct thread_channel *c)
{
    pthread_mutex_lock(&c->lock);
    const bool ended = has_ended(c->stage);
    if (!ended) {
        pthread_detach(c->thread);
        c->abandoned = true;
    }
    pthread_mutex_unlock(&c->lock);
    return !ended;
}

static void look(struct thread_channel *c)
{
    int64_t since_ms;
    const char *const callback = gauge_running(instance_gauge(c->instance), &since_ms);
    if (!callback)
        return;
    const int64_t ms = clock_mono_coarse_ms() - since_ms;
    if (ms <= c->callback_ms || atomic_exchange(&c->hung, true))
        return;
    log_line(LOG_ERR, label(c), "hangs in %s for %" PRId64 " ms (%d are allowed); its events wait",
             callback, ms, c->callback_ms);
}

static void *thread_open(struct channel *channel, const struct channel_turn *turn)
{
    struct thread_channel *const c = self(channel);
    look(c);
    if (atomic_load(&c->hung) && queue_fill(c->queue) >= GONE_FILL)
        return NULL;
    struct thread_turn *const t = xcalloc(1, sizeof *t);
    t->named = (struct channel_turn){
        .id = arena_strdup(&t->arena, turn->id),
        .agent = arena_strdup(&t->arena, turn->agent),
        .conversation = arena_strdup(&t->arena, turn->conversation),
        .route = arena_strdup(&t->arena, turn->route),
        .memory = arena_strdup(&t->arena, turn->memory),
        .letters = turn->letters,
        .over = turn->over,
    };
    t->lane = turn->over ? NULL : queue_open(c->queue, t);
    link_turn(c, t);
    return t;
}

static void thread_send(struct channel *channel, void *turn, struct event_box *box)
{
    struct thread_channel *const c = self(channel);
    struct thread_turn *const t = turn;
    const bool done = event_box_get(box)->kind == TC_DONE;
    queue_push(c->queue, t->lane, box);
    if (done || ++c->sends % LOOK_EVERY == 0)
        look(c);
}

static void thread_gather(struct channel *channel, bool on)
{
    queue_gather(self(channel)->queue, on);
}

static void thread_reply(struct channel *channel, void *turn, struct letter_reply *r)
{
    struct thread_channel *const c = self(channel);
    queue_put_mail(c->queue, mail_reply(turn, r));
    look(c);
}

static void thread_hit(struct channel *channel, struct channel_hit *h)
{
    struct thread_channel *const c = self(channel);
    look(c);
    queue_put_mail(c->queue, mail_hit(line_expect(c->line, h->answered, h->arg), h));
}

static void thread_frame(struct channel *channel, const struct tc_frame *frame)
{
    struct thread_channel *const c = self(channel);
    queue_put_mail(c->queue, mail_frame(frame));
    look(c);
}

static bool thread_wait_room(struct channel *channel, int timeout_ms)
{
    struct thread_channel *const c = self(channel);
    const bool room = queue_wait_room(c->queue, timeout_ms);
    if (!room)
        look(c);
    return room;
}

static struct channel_health thread_health(struct channel *channel)
{
    struct thread_channel *const c = self(channel);
    const struct gauge *const g = instance_gauge(c->instance);
    look(c);
    return (struct channel_health){
        .delivered = gauge_delivered(g),
        .failed = gauge_failed(g),
        .dropped = queue_stats(c->queue).dropped,
        .times = gauge_times(g),
        .hung = atomic_load(&c->hung),
        .fill = queue_fill(c->queue),
    };
}

static void thread_stop(struct channel *channel)
{
    struct thread_channel *const c = self(channel);
    line_hush(c->line);
    queue_close(c->queue);
}

/* The loop's side of the line ends; the channel itself may be gone already. */
static void end_line(struct line *l, bool deliver)
{
    line_close(l, deliver);
    line_unref(l);
}

static int thread_join(struct channel *channel, int64_t deadline_ms)
{
    struct thread_channel *const c = self(channel);
    const enum stage stage = await_stage(c, has_ended, deadline_ms - clock_mono_ms());
    int64_t since_ms;
    const char *const callback = gauge_running(instance_gauge(c->instance), &since_ms);
    const size_t left = queue_stats(c->queue).events;
    char name[256]; /* when it is given up nothing of it may be touched but the line */
    snprintf(name, sizeof name, "%s", label(c));
    struct line *const line = c->line;
    if (!has_ended(stage) && give_up(c)) {
        log_line(LOG_ERR, name, "abandoned in %s: it did not end in time; %zu events are lost",
                 callback ? callback : "its queue", left);
        end_line(line, true);
        return -1;
    }
    pthread_join(c->thread, NULL);
    end_line(line, true);
    free_channel(c);
    return 0;
}

/* -1: the channel is gone, or its thread's own. */
static int await_verdict(struct thread_channel *c, struct tc_err *err)
{
    const enum stage stage =
        await_stage(c, has_verdict, c->began_ms + c->init_ms - clock_mono_ms());
    if (stage == RUNNING)
        return 0;
    struct line *const line = c->line;
    if (stage == STARTING) {
        err_set(err, NULL, "%s is disabled: its init did not return within %" PRId64 " ms",
                label(c), c->init_ms);
        queue_close(c->queue);
        if (give_up(c)) {
            end_line(line, false);
            return -1;
        }
    } else {
        err_set(err, NULL, "%s is disabled: its init failed", label(c));
    }
    pthread_join(c->thread, NULL);
    end_line(line, false);
    free_channel(c);
    return -1;
}

static int thread_await(struct channel *channel, struct tc_err *err)
{
    struct thread_channel *const c = self(channel);
    CLEANUP_FREE char *place = c->place;
    c->place = NULL;
    if (await_verdict(c, err) == 0)
        return 0;
    if (err && place)
        snprintf(err->place, sizeof err->place, "%s", place);
    return -1;
}

static const struct channel_ops thread_ops = {
    .await = thread_await,
    .open = thread_open,
    .send = thread_send,
    .gather = thread_gather,
    .reply = thread_reply,
    .hit = thread_hit,
    .frame = thread_frame,
    .wait_room = thread_wait_room,
    .health = thread_health,
    .stop = thread_stop,
    .join = thread_join,
};

static struct thread_channel *make_channel(const struct conf_instance *spec, struct loaded *loaded,
                                           const struct channel_host *host)
{
    struct thread_channel *const c = xcalloc(1, sizeof *c);
    c->channel.ops = &thread_ops;
    c->loaded = loaded;
    c->queue = queue_new(&(struct backlog_limits){
        .events = (size_t)spec->queue_events,
        .bytes = (size_t)spec->queue_bytes,
        .pace_ms = loaded->plugin.pace_ms,
    });
    c->line = line_new(host, c->queue);
    c->callback_ms = (int)(spec->callback_ms > 0 ? spec->callback_ms : CALLBACK_MS);
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &attr);
    pthread_condattr_destroy(&attr);
    return c;
}

struct channel *channel_thread_begin(const struct conf *conf, const struct conf_instance *spec,
                                     struct loaded *loaded, const struct channel_host *host,
                                     struct tc_err *err)
{
    struct thread_channel *const c = make_channel(spec, loaded, host);
    c->instance = instance_new(conf, spec, loaded, line_host(c->line), NULL, err);
    c->init_ms = spec->init_ms > 0 ? spec->init_ms : INIT_MS;
    c->began_ms = clock_mono_ms();
    const int rc = c->instance ? start_thread(c) : 0;
    if (c->instance && !rc) {
        c->place = spec->line > 0 ? xasprintf("%s:%d", conf->file, spec->line) : NULL;
        name_thread(c, spec->name);
        return &c->channel;
    }
    if (rc)
        err_sys(err, rc, NULL, "%s is disabled: no thread for it", label(c));
    end_line(c->line, false);
    free_channel(c);
    return NULL;
}
