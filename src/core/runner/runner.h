/* SPDX-License-Identifier: MIT
 * Runs turns of other hosts: pulls messages of the work queue while there are free slots, and runs
 * each turn like one of its own, but for no connector instance; the gateway reads its events over
 * the bus like the output of an agent. A turn is started once: a host writes a claim before it
 * starts the agent, and a host that finds a claim does not start the turn. Loop thread only. */
#ifndef CORE_RUNNER_RUNNER_H
#define CORE_RUNNER_RUNNER_H

#include "core/bus/bus.h"
#include "core/conversation/turn_scheduler.h"

/* Source of these turns in the journal. */
#define RUNNER_SOURCE "bus"

struct runner;

struct runner_spec {
    struct bus *bus;
    /* The host's parts, except dispatch, turn log and requests. */
    struct turn_scheduler_spec parts;
    struct turn_scheduler *own; /* scheduler whose turns use slots, too */
};

struct runner_counters {
    uint64_t taken; /* turns of other hosts that were started here */
    uint64_t late;  /* … for which another host stored the outcome before their end */
};

struct runner *runner_new(const struct runner_spec *spec);
void runner_set_conf(struct runner *r, const struct conf *conf);
/* Starts no more turns. `drained` (or NULL) is called, from the loop, when none runs; turns still
 * running after the configured time are cancelled. Second call: cancels them now; third call: kills
 * them. */
void runner_drain(struct runner *r, void (*drained)(void *ctx), void *ctx);
/* Pauses or resumes starting turns; running ones continue. */
void runner_set_aside(struct runner *r, bool is_aside);
/* Call it before the bus is freed; sends no further requests. */
void runner_stop(struct runner *r);
/* Call it after the bus and the journal were freed. NULL is allowed. */
void runner_free(struct runner *r);

/* Whether this host runs turns of that agent for other hosts. */
bool runner_may_run(const struct runner *r, const struct conf_agent *agent);
/* Number of free slots for that agent. */
size_t runner_free_slots(const struct runner *r, const struct conf_agent *agent);
size_t runner_count(const struct runner *r); /* turns of other hosts that have not ended here */
struct runner_counters runner_get_counters(const struct runner *r);

#endif
