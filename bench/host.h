/* SPDX-License-Identifier: MIT
 * A `turncast serve` of the benchmark's own: its configuration, its process, what it uses. */
#ifndef BENCH_HOST_H
#define BENCH_HOST_H

#include <sys/types.h>

#include "bench/meter.h"

struct host_spec {
    unsigned turns, seconds, rate;
    unsigned connectors;   /* each from a file of its own; they share the meter */
    const char *isolation; /* of the connectors: "thread" or "process" */
};

struct oneshot_host {
    pid_t pid;
    unsigned port;
    struct meter *meter;
    char folder[200]; /* of all that is its own; gone when it has ended well */
};

struct host_use {
    double loop, threads; /* CPU seconds: of the loop's thread, and of the others */
    double agents;        /* of those that have ended */
    double connectors;    /* of their processes, if they have some */
    double loop_waited;   /* seconds that the loop's thread could have run, but got no core */
    long rss, rss_peak;   /* KiB */
};

/* What it works in, its configuration turncast.conf among it, without the host. */
void host_prepare(struct oneshot_host *h, const struct host_spec *spec);
void host_forget(struct oneshot_host *h);
/* Ends the program when it cannot be started. */
void oneshot_host_start(struct oneshot_host *h, const struct host_spec *spec);
struct host_use host_look(const struct oneshot_host *h);
/* Asks it to end; 0 when it did so well. */
int oneshot_host_stop(struct oneshot_host *h);

#endif
