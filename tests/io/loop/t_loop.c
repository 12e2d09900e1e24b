/* SPDX-License-Identifier: MIT
 * The loop: descriptors, timers, signals, posted calls, and what keeps it running. */
#include "io/loop/loop.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "tap/tap.h"

static void count(void *arg)
{
    ++*(int *)arg;
}

static void test_timers(struct loop *l)
{
    int fired = 0, late = 0;
    struct loop_timer *const a = loop_timer_new(l, count, &fired);
    struct loop_timer *const b = loop_timer_new(l, count, &late);
    loop_timer_set(a, 5);
    loop_timer_set(b, 60000);
    loop_timer_set(b, -1);
    const int64_t begin = clock_mono_ms();
    loop_run(l);
    ok(clock_mono_ms() - begin < 30000, "the loop ends although a disarmed timer exists");
    is_int(fired, 1, "a timer fires once");
    is_int(late, 0, "a disarmed timer does not fire");
    loop_timer_set(a, 60000);
    loop_timer_set(a, 0);
    loop_run(l);
    is_int(fired, 2, "the newer time of a timer applies");
    loop_timer_free(a);
    loop_timer_free(b);
    loop_timer_free(NULL);
}

struct reader {
    struct loop_fd *watch;
    int fd, calls;
    size_t bytes;
    unsigned ready;
};

static void read_some(void *arg, unsigned ready)
{
    struct reader *const r = arg;
    char text[64];
    r->calls++;
    r->ready |= ready;
    const ssize_t n = read(r->fd, text, sizeof text);
    if (n > 0) {
        r->bytes += (size_t)n;
        return;
    }
    loop_fd_free(r->watch);
    r->watch = NULL;
}

static void test_descriptors(struct loop *l)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
        bail("no pipe");
    struct reader r = {.fd = fds[0]};
    r.watch = loop_fd_new(l, fds[0], 0, read_some, &r);
    ok(write(fds[1], "hello", 5) == 5, "written");
    loop_run_once(l, 0);
    is_int(r.calls, 0, "a paused descriptor is not read");
    loop_fd_set(r.watch, LOOP_READ);
    loop_run_once(l, 1000);
    is_int((long long)r.bytes, 5, "a resumed descriptor is read");
    is_int(r.ready, LOOP_READ, "ready for reading only");
    close(fds[1]);
    loop_run(l);
    ok(!r.watch, "a watch that is freed in its callback does not keep the loop running");
    close(fds[0]);
}

static void *post_from_thread(void *arg)
{
    void **const args = arg;
    for (int i = 0; i < 1000; i++)
        loop_post(args[0], count, args[1]);
    return NULL;
}

static void test_posts(struct loop *l)
{
    int called = 0;
    loop_post(l, count, &called);
    loop_run(l);
    is_int(called, 1, "a posted call runs, and the loop ends after it");
    void *args[] = {l, &called};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, post_from_thread, args);
    const int64_t until = clock_mono_ms() + 30000;
    while (called < 4001 && clock_mono_ms() < until)
        loop_run_once(l, 100);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    loop_run(l);
    is_int(called, 4001, "calls from four threads all arrive");
}

struct taker_back {
    struct loop *loop;
    int *called;
};

static void take_back(void *arg)
{
    const struct taker_back *const t = arg;
    loop_cancel_posted(t->loop, count, t->called);
}

static void test_unpost(struct loop *l)
{
    int gone = 0, stays = 0;
    loop_post(l, count, &gone);
    loop_post(l, count, &stays);
    loop_post(l, count, &gone);
    loop_cancel_posted(l, count, &gone);
    loop_run(l);
    is_int(gone, 0, "a withdrawn call is not made");
    is_int(stays, 1, "other calls are made");
    struct taker_back t = {l, &gone};
    loop_post(l, take_back, &t);
    loop_post(l, count, &gone);
    loop_post(l, count, &stays);
    loop_run(l);
    is_int(gone, 0, "a call that is withdrawn in the same round is not made");
    is_int(stays, 2, "  other calls are made");
}

struct stopper {
    struct loop *loop;
    int signo;
};

static void stop_at_signal(void *arg, int signo)
{
    struct stopper *const s = arg;
    s->signo = signo;
    loop_stop(s->loop);
}

static void raise_usr1(void *arg)
{
    (void)arg;
    kill(getpid(), SIGUSR1);
}

static void test_signals(struct loop *l)
{
    struct stopper s = {.loop = l};
    struct loop_signal *const sig = loop_signal_new(l, SIGUSR1, stop_at_signal, &s);
    loop_run(l);
    ok(!s.signo, "the loop ends although a signal is watched");
    int never = 0;
    struct loop_timer *const t = loop_timer_new(l, count, &never);
    loop_timer_set(t, 60000);
    loop_post(l, raise_usr1, NULL);
    loop_run(l);
    is_int(s.signo, SIGUSR1, "a signal stops the loop");
    is_int(never, 0, "the armed timer does not fire");
    loop_timer_free(t);
    loop_signal_free(sig);
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        bail("no pipe");
    close(fds[0]);
    ok(write(fds[1], "x", 1) < 0, "SIGPIPE is ignored");
    close(fds[1]);
}

#define CROWD 16
#define CROWD_BYTES 2000

struct crowd {
    struct reader readers[CROWD];
    int write_fds[CROWD];
    int posted;
    struct loop *loop;
};

/* Each in its turn, a byte at a time, so fast that the loop lets them gather. */
static void *write_in_turn(void *arg)
{
    struct crowd *const c = arg;
    static const struct timespec moment = {.tv_nsec = 10000};
    for (int i = 0; i < CROWD_BYTES; i++) {
        if (write(c->write_fds[i % CROWD], "x", 1) != 1)
            break;
        if (i % 100 == 0)
            loop_post(c->loop, count, &c->posted);
        nanosleep(&moment, NULL);
    }
    for (int i = 0; i < CROWD; i++)
        close(c->write_fds[i]);
    return NULL;
}

static void test_many(struct loop *l, unsigned events, const char *what)
{
    struct crowd c = {.loop = l};
    for (int i = 0; i < CROWD; i++) {
        int fds[2];
        if (pipe2(fds, O_CLOEXEC) < 0)
            bail("no pipe");
        c.write_fds[i] = fds[1];
        c.readers[i].fd = fds[0];
        c.readers[i].watch = loop_fd_new(l, fds[0], LOOP_READ | events, read_some, &c.readers[i]);
    }
    pthread_t writer;
    pthread_create(&writer, NULL, write_in_turn, &c);
    loop_run(l);
    pthread_join(writer, NULL);
    size_t bytes = 0;
    for (int i = 0; i < CROWD; i++) {
        bytes += c.readers[i].bytes;
        close(c.readers[i].fd);
    }
    is_int((long long)bytes, CROWD_BYTES, "%s: all bytes are read, and the loop ends", what);
    is_int(c.posted, CROWD_BYTES / 100, "%s: all posted calls are made", what);
}

int main(void)
{
    plan_lazy();
    struct loop *const l = loop_new();
    test_timers(l);
    test_descriptors(l);
    test_many(l, 0, "many");
    test_many(l, LOOP_COALESCE, "a crowd");
    test_posts(l);
    test_unpost(l);
    test_signals(l);
    int dropped = 0;
    loop_post(l, count, &dropped);
    loop_free(l);
    is_int(dropped, 0, "calls posted to a freed loop are not made");
    return 0;
}
