/* SPDX-License-Identifier: MIT
 * floor eventfd|pipe RATE SECONDS [CORE CORE]: what a wake-up costs on this machine, at the pace of
 * the agent that is measured: there and back between two threads by eventfd, or one way by a pipe;
 * where the kernel puts the two, or on a core each. */
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "bench/meter.h"
#include "bench/pace.h"
#include "bench/percentile.h"

struct floor {
    int there[2], back[2]; /* to read from, to write to */
    bool answers;
    int cores[2]; /* of this side and of the other; negative: any */
    uint64_t rounds;
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

static void this_side(struct floor *f, uint64_t rate)
{
    const int64_t began = pace_now();
    stay_on(f->cores[0]);
    for (uint64_t i = 0; i < f->rounds; i++) {
        pace_sleep_until(began + (int64_t)i * PACE_SECOND / (int64_t)rate);
        const uint64_t sent = (uint64_t)pace_now();
        put(f->there, f->answers ? 1 : sent);
        if (!f->answers)
            continue;
        take(f->back);
        f->times[meter_bucket((uint64_t)pace_now() - sent)]++;
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

int main(int argc, char **argv)
{
    const uint64_t rate = argc == 4 || argc == 6 ? strtoull(argv[2], NULL, 10) : 0;
    if (!rate || (strcmp(argv[1], "eventfd") != 0 && strcmp(argv[1], "pipe") != 0))
        errx(2, "floor eventfd|pipe RATE SECONDS [CORE CORE]");
    static struct floor f;
    for (int i = 0; i < 2; i++)
        f.cores[i] = argc == 6 ? atoi(argv[4 + i]) : -1;
    f.answers = strcmp(argv[1], "eventfd") == 0;
    f.rounds = rate * strtoull(argv[3], NULL, 10);
    open_pair(f.there, f.answers);
    open_pair(f.back, f.answers);
    pthread_t other;
    if (pthread_create(&other, NULL, other_side, &f) != 0)
        errx(2, "pthread_create");
    this_side(&f, rate);
    pthread_join(other, NULL);
    percentile_print("floor", f.times);
    return 0;
}
