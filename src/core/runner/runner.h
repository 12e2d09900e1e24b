/* SPDX-License-Identifier: MIT
 * Runs turns of other hosts: takes messages of the work queue while there are free slots, and runs
 * each turn as one of its own, of which no connector instance is told; its events go to the other
 * host over the bus, as if it read the standard output of an agent. A turn is begun once: the host
 * that begins it writes so before its agent starts, and whoever finds that written does not. Loop
 * thread only. */
#ifndef CORE_RUNNER_RUNNER_H
#define CORE_RUNNER_RUNNER_H

#include "core/bus/bus.h"
#include "core/conversation/turn_scheduler.h"

/* The source of these turns in the journal. */
#define RUNNER_SOURCE "bus"

struct runner;

struct runner_spec {
    struct bus *bus;
    /* The host's own: its parts, but for dispatch, turn log and requests. */
    struct turn_scheduler_spec parts;
    struct turn_scheduler *own; /* whose turns use slots, too */
};

struct runner_counters {
    uint64_t taken; /* turns of other hosts that were begun here */
    uint64_t late;  /* … that had an outcome by another host before they were over */
};

struct runner *runner_new(const struct runner_spec *spec);
void runner_set_conf(struct runner *r, const struct conf *conf);
/* Takes no more turns. `drained` (or NULL) is called, from the loop, when none runs; those that do
 * after the configured time are ended. Again: they are ended now, and once more: killed. */
void runner_drain(struct runner *r, void (*drained)(void *ctx), void *ctx);
/* Takes no turns until it is told the contrary; those that run go on. */
void runner_set_aside(struct runner *r, bool is_aside);
/* Before the bus is freed; nothing is asked any more. */
void runner_stop(struct runner *r);
/* Behind the bus and the journal. NULL is fine. */
void runner_free(struct runner *r);

/* Whether it takes turns of that agent. */
bool runner_may_run(const struct runner *r, const struct conf_agent *agent);
/* Turns of the agent that could be taken now. */
size_t runner_free_slots(const struct runner *r, const struct conf_agent *agent);
size_t runner_count(const struct runner *r); /* turns that it has taken and that are not over */
struct runner_counters runner_get_counters(const struct runner *r);

#endif
