/* SPDX-License-Identifier: MIT
 * Implements the loop with libevent; no other file uses libevent. */
#include "io/loop/loop.h"

#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "io/loop/wakeup_coalescer.h"

struct loop_posted_call {
    STAILQ_ENTRY(loop_posted_call) next;
    void (*fn)(void *arg);
    void *arg;
};

STAILQ_HEAD(loop_posted_calls, loop_posted_call);

#define FILES_MAX ((rlim_t)1 << 20)
#define PLACE_MIN 4

struct loop {
    pthread_t thread; /* thread that created it */
    uint64_t files_before;
    struct loop_reserved_fds places;
    /* used by the loop thread */
    struct event_base *base;
    struct event *wake;
    int wake_fd;
    unsigned waits; /* watched descriptors and armed timers, which keep loop_run running */
    struct wakeup_coalescer coalescer;
    bool any_ready; /* descriptors ready in this round */
    bool stopped;
    struct loop_posted_calls running; /* posted calls taken from the queue, in order */
    /* lock: mu */
    pthread_mutex_t mu;
    struct loop_posted_calls posts;
};

struct loop_fd {
    struct loop *loop;
    struct event *ev; /* NULL while paused */
    int fd;
    unsigned events;
    uint32_t seen; /* timer of the coalescer's pause */
    void (*fn)(void *arg, unsigned ready);
    void *arg;
};

struct loop_timer {
    struct loop *loop;
    struct event *ev;
    bool armed;
    void (*fn)(void *arg);
    void *arg;
};

struct loop_signal {
    struct event *ev;
    void (*fn)(void *arg, int signo);
    void *arg;
};

/* libevent fails here only without memory or descriptors: the host cannot continue. */
static void *loop_require(void *p, const char *what)
{
    if (p)
        return p;
    alloc_exit_exhausted(what);
}

/* Moves posted calls from other threads behind those that are pending. */
static void loop_pop_posts(struct loop *l)
{
    pthread_mutex_lock(&l->mu);
    STAILQ_CONCAT(&l->running, &l->posts);
    pthread_mutex_unlock(&l->mu);
}

bool loop_is_own_thread(const struct loop *l)
{
    return pthread_equal(l->thread, pthread_self());
}

static bool loop_has_posted_calls(struct loop *l)
{
    pthread_mutex_lock(&l->mu);
    const bool any = !STAILQ_EMPTY(&l->posts) || !STAILQ_EMPTY(&l->running);
    pthread_mutex_unlock(&l->mu);
    return any;
}

static void loop_on_wake(evutil_socket_t fd, short what, void *arg)
{
    (void)what;
    uint64_t count;
    while (read(fd, &count, sizeof count) > 0)
        ;
    struct loop *const l = arg;
    loop_pop_posts(l);
    for (struct loop_posted_call *p; (p = STAILQ_FIRST(&l->running));) {
        STAILQ_REMOVE_HEAD(&l->running, next);
        p->fn(p->arg);
        free(p);
    }
}

/* Raises the limit of open files: a turn takes four descriptors, a connection one; the default is
 * for programs that call select. Returns the previous limit. */
static uint64_t loop_raise_nofile_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return 0;
    const rlim_t before = files.rlim_cur;
    const rlim_t most = files.rlim_max < FILES_MAX ? files.rlim_max : FILES_MAX;
    if (before < most)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){most, files.rlim_max});
    return before;
}

static int loop_dup_fd_above(int fd, int least)
{
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, least);
    if (copy < 0)
        alloc_exit_exhausted("F_DUPFD_CLOEXEC");
    return copy;
}

static void loop_reserve_fds(struct loop_reserved_fds *places, int any_fd)
{
    places->idle = loop_dup_fd_above(any_fd, PLACE_MIN);
    for (int i = 0, least = PLACE_MIN; i < LOOP_PLACES; i++, least = places->at[i - 1] + 1)
        places->at[i] = loop_dup_fd_above(any_fd, least);
}

static void loop_close_reserved_fds(const struct loop_reserved_fds *places)
{
    for (int i = 0; i < LOOP_PLACES; i++)
        close(places->at[i]);
    close(places->idle);
}

struct loop *loop_new(void)
{
    signal(SIGPIPE, SIG_IGN);
    /* libevent's unchecked allocations also end the process on failure. */
    event_set_mem_functions(xmalloc, xrealloc, free);
    struct loop *const l = xcalloc(1, sizeof *l);
    l->thread = pthread_self();
    l->files_before = loop_raise_nofile_limit();
    struct event_config *const config = loop_require(event_config_new(), "event_config_new");
    /* Timers start now, not at the start of this round of callbacks. */
    event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME);
    l->base = loop_require(event_base_new_with_config(config), "event_base_new");
    event_config_free(config);
    l->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    loop_require(l->wake_fd < 0 ? NULL : l, "eventfd");
    loop_reserve_fds(&l->places, l->wake_fd);
    l->wake = loop_require(event_new(l->base, l->wake_fd, EV_READ | EV_PERSIST, loop_on_wake, l),
                           "event_new");
    event_add(l->wake, NULL);
    pthread_mutex_init(&l->mu, NULL);
    STAILQ_INIT(&l->running);
    STAILQ_INIT(&l->posts);
    return l;
}

uint64_t loop_original_nofile(const struct loop *l)
{
    return l->files_before;
}

const struct loop_reserved_fds *loop_get_reserved_fds(const struct loop *l)
{
    return &l->places;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    ASSERT(loop_is_own_thread(l));
    loop_pop_posts(l);
    for (struct loop_posted_call *p; (p = STAILQ_FIRST(&l->running));) {
        STAILQ_REMOVE_HEAD(&l->running, next);
        free(p);
    }
    event_free(l->wake);
    close(l->wake_fd);
    loop_close_reserved_fds(&l->places);
    event_base_free(l->base);
    pthread_mutex_destroy(&l->mu);
    free(l);
}

/* Returns whether a descriptor was ready. */
static bool loop_run_events(struct loop *l, bool waits)
{
    l->any_ready = false;
    event_base_loop(l->base, waits ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK);
    return l->any_ready;
}

/* With many ready descriptors, the loop processes all work, then pauses before it polls again. */
void loop_run(struct loop *l)
{
    static const struct timespec moment = {.tv_nsec = LULL_US * 1000};
    ASSERT(loop_is_own_thread(l));
    bool ready = false;
    l->stopped = false;
    while (!l->stopped && (l->waits || loop_has_posted_calls(l))) {
        const bool crowded = wakeup_coalescer_should_wait(&l->coalescer, clock_mono_us());
        if (crowded && !ready)
            nanosleep(&moment, NULL);
        ready = loop_run_events(l, !crowded || !ready);
    }
}

static void loop_on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

static struct timeval to_timeval(int64_t ms)
{
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
}

void loop_run_once(struct loop *l, int wait_ms)
{
    ASSERT(loop_is_own_thread(l));
    if (wait_ms == 0) {
        event_base_loop(l->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
        return;
    }
    struct event *tick = NULL;
    if (wait_ms > 0) {
        const struct timeval tv = to_timeval(wait_ms);
        tick = loop_require(evtimer_new(l->base, loop_on_tick, NULL), "event_new");
        event_add(tick, &tv);
    }
    event_base_loop(l->base, EVLOOP_ONCE);
    if (tick)
        event_free(tick);
}

void loop_stop(struct loop *l)
{
    ASSERT(loop_is_own_thread(l));
    l->stopped = true;
    event_base_loopbreak(l->base);
}

static void loop_on_fd(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    struct loop_fd *const f = arg;
    f->loop->any_ready = true;
    if (f->events & LOOP_COALESCE)
        wakeup_coalescer_count_ready(&f->loop->coalescer, &f->seen);
    f->fn(f->arg, (what & EV_READ ? LOOP_READ : 0u) | (what & EV_WRITE ? LOOP_WRITE : 0u));
}

struct loop_fd *loop_fd_new(struct loop *l, int fd, unsigned events,
                            void (*fn)(void *arg, unsigned ready), void *arg)
{
    ASSERT(fn);
    struct loop_fd *const f = xcalloc(1, sizeof *f);
    *f = (struct loop_fd){.loop = l, .fd = fd, .fn = fn, .arg = arg};
    loop_fd_set(f, events);
    return f;
}

void loop_fd_set(struct loop_fd *f, unsigned events)
{
    ASSERT(loop_is_own_thread(f->loop));
    ASSERT((f->ev != NULL) == (f->events != 0));
    if (events == f->events)
        return;
    if (f->ev) {
        event_free(f->ev);
        f->ev = NULL;
        ASSERT(f->loop->waits > 0);
        f->loop->waits--;
    }
    f->events = events;
    if (!events)
        return;
    ASSERT(f->fd >= 0);
    const int what =
        EV_PERSIST | (events & LOOP_READ ? EV_READ : 0) | (events & LOOP_WRITE ? EV_WRITE : 0);
    f->ev = loop_require(event_new(f->loop->base, f->fd, (short)what, loop_on_fd, f), "event_new");
    loop_require(event_add(f->ev, NULL) < 0 ? NULL : f, "event_add");
    f->loop->waits++;
}

void loop_fd_free(struct loop_fd *f)
{
    if (!f)
        return;
    loop_fd_set(f, 0);
    free(f);
}

static void loop_on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct loop_timer *const t = arg;
    ASSERT(t->armed);
    ASSERT(t->loop->waits > 0);
    t->armed = false;
    t->loop->waits--;
    t->fn(t->arg);
}

struct loop_timer *loop_timer_new(struct loop *l, void (*fn)(void *arg), void *arg)
{
    ASSERT(fn);
    struct loop_timer *const t = xcalloc(1, sizeof *t);
    *t = (struct loop_timer){.loop = l, .fn = fn, .arg = arg};
    t->ev = loop_require(evtimer_new(l->base, loop_on_timer, t), "event_new");
    return t;
}

void loop_timer_set(struct loop_timer *t, int64_t ms)
{
    ASSERT(loop_is_own_thread(t->loop));
    if (t->armed) {
        event_del(t->ev);
        t->armed = false;
        ASSERT(t->loop->waits > 0);
        t->loop->waits--;
    }
    if (ms < 0)
        return;
    const struct timeval tv = to_timeval(ms);
    event_add(t->ev, &tv);
    t->armed = true;
    t->loop->waits++;
}

void loop_timer_free(struct loop_timer *t)
{
    if (!t)
        return;
    loop_timer_set(t, -1);
    event_free(t->ev);
    free(t);
}

static void loop_on_signal(evutil_socket_t signo, short what, void *arg)
{
    (void)what;
    const struct loop_signal *const s = arg;
    s->fn(s->arg, (int)signo);
}

struct loop_signal *loop_signal_new(struct loop *l, int signo, void (*fn)(void *arg, int signo),
                                    void *arg)
{
    struct loop_signal *const s = xcalloc(1, sizeof *s);
    *s = (struct loop_signal){.fn = fn, .arg = arg};
    s->ev = loop_require(evsignal_new(l->base, signo, loop_on_signal, s), "event_new");
    event_add(s->ev, NULL);
    return s;
}

void loop_signal_free(struct loop_signal *s)
{
    if (!s)
        return;
    event_free(s->ev);
    free(s);
}

void loop_post(struct loop *l, void (*fn)(void *arg), void *arg)
{
    ASSERT(fn);
    struct loop_posted_call *const p = xmalloc(sizeof *p);
    *p = (struct loop_posted_call){.fn = fn, .arg = arg};
    pthread_mutex_lock(&l->mu);
    STAILQ_INSERT_TAIL(&l->posts, p, next);
    pthread_mutex_unlock(&l->mu);
    const uint64_t one = 1;
    /* EAGAIN: the counter is full, so the loop has been woken already. */
    if (write(l->wake_fd, &one, sizeof one) < 0)
        return;
}

void loop_cancel_posted(struct loop *l, void (*fn)(void *arg), const void *arg)
{
    ASSERT(loop_is_own_thread(l));
    loop_pop_posts(l);
    struct loop_posted_call *next;
    for (struct loop_posted_call *p = STAILQ_FIRST(&l->running); p; p = next) {
        next = STAILQ_NEXT(p, next);
        if (p->fn == fn && p->arg == arg) {
            STAILQ_REMOVE(&l->running, p, loop_posted_call, next);
            free(p);
        }
    }
}
