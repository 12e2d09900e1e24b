/* SPDX-License-Identifier: MIT
 * floor eventfd|pipe|hops RATE SECONDS [CORE CORE]: what a wake-up costs on this machine, at the
 * pace of the agent that is measured: there and back between two threads by eventfd, or one way by
 * a pipe; where the kernel puts the two, or on a core each. Or by the hops of a line and with
 * nothing done at any: another process writes to a pipe, a thread that polls it reads, and wakes
 * another. */
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/meter.h"
#include "bench/pace.h"
#include "bench/percentile.h"

struct floor {
    int there[2], back[2]; /* to read from, to write to */
    bool answers;
    int cores[2]; /* of this side and of the other; negative: any */
    uint64_t rate, rounds;
    sem_t told; /* of hops: the newest line's time is in sent */
    _Atomic uint64_t sent;
    uint64_t times[METER_BUCKETS];
};

static void put(const int to[2], uint64_t value)
{
    if (write(to[1], &value, sizeof value) != sizeof value)
        err(2, "write");
}

static uint64_t take(const int from[2])
{
    uint64_t value;
    if (read(from[0], &value, sizeof value) != sizeof value)
        err(2, "read");
    return value;
}

static void stay_on(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (core < 0)
        return;
    CPU_SET(core, &set);
    if (sched_setaffinity(0, sizeof set, &set) < 0)
        err(2, "core %d", core);
}

/* An eventfd carries a sum, so the time goes with a pipe only: one way. */
static void *other_side(void *arg)
{
    struct floor *const f = arg;
    stay_on(f->cores[1]);
    for (uint64_t i = 0; i < f->rounds; i++) {
        const uint64_t value = take(f->there);
        if (f->answers)
            put(f->back, 1);
        else
            f->times[meter_bucket((uint64_t)pace_now() - value)]++;
    }
    return NULL;
}

static void this_side(struct floor *f)
{
    const int64_t began = pace_now();
    stay_on(f->cores[0]);
    for (uint64_t i = 0; i < f->rounds; i++) {
        pace_sleep_until(began + (int64_t)i * PACE_SECOND / (int64_t)f->rate);
        const uint64_t sent = (uint64_t)pace_now();
        put(f->there, f->answers ? 1 : sent);
        if (!f->answers)
            continue;
        take(f->back);
        f->times[meter_bucket((uint64_t)pace_now() - sent)]++;
    }
}

static void *last_side(void *arg)
{
    struct floor *const f = arg;
    for (uint64_t i = 0; i < f->rounds; i++) {
        sem_wait(&f->told);
        f->times[meter_bucket((uint64_t)pace_now() - f->sent)]++;
    }
    return NULL;
}

/* Between the process that writes and the thread that is told. */
static void middle_side(struct floor *f)
{
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event ready = {.events = EPOLLIN};
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, f->there[0], &ready) < 0)
        err(2, "epoll");
    for (uint64_t i = 0; i < f->rounds; i++) {
        if (epoll_wait(epoll, &ready, 1, -1) != 1)
            err(2, "epoll_wait");
        f->sent = take(f->there);
        sem_post(&f->told);
    }
}

static void open_pair(int pair[2], bool events)
{
    if (!events && pipe(pair) < 0)
        err(2, "pipe");
    if (!events)
        return;
    pair[0] = pair[1] = eventfd(0, EFD_CLOEXEC);
    if (pair[0] < 0)
        err(2, "eventfd");
}

static void start(pthread_t *thread, void *(*side)(void *), struct floor *f)
{
    if (pthread_create(thread, NULL, side, f) != 0)
        errx(2, "pthread_create");
}

static void two_sides(struct floor *f)
{
    pthread_t other;
    start(&other, other_side, f);
    this_side(f);
    pthread_join(other, NULL);
}

static void three_sides(struct floor *f)
{
    pthread_t last;
    const pid_t agent = fork();
    if (agent < 0)
        err(2, "fork");
    if (agent == 0) {
        this_side(f);
        _exit(0);
    }
    sem_init(&f->told, 0, 0);
    start(&last, last_side, f);
    middle_side(f);
    pthread_join(last, NULL);
    waitpid(agent, NULL, 0);
}

int main(int argc, char **argv)
{
    static struct floor f;
    const char *const kind = argc == 4 || argc == 6 ? argv[1] : "";
    const bool hops = strcmp(kind, "hops") == 0;
    f.answers = strcmp(kind, "eventfd") == 0;
    f.rate = *kind ? strtoull(argv[2], NULL, 10) : 0;
    if (!f.rate || (!f.answers && !hops && strcmp(kind, "pipe") != 0))
        errx(2, "floor eventfd|pipe|hops RATE SECONDS [CORE CORE]");
    for (int i = 0; i < 2; i++)
        f.cores[i] = argc == 6 ? atoi(argv[4 + i]) : -1;
    f.rounds = f.rate * strtoull(argv[3], NULL, 10);
    open_pair(f.there, f.answers);
    open_pair(f.back, f.answers);
    (hops ? three_sides : two_sides)(&f);
    percentile_print("floor", f.times);
    return 0;
}
