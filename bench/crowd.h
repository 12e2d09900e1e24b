/* SPDX-License-Identifier: MIT
 * Many HTTP clients of one server, in one thread: those that ask for turns, one that watches
 * what becomes of them, and those that follow a turn and hear nothing. */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <stdbool.h>
#include <stddef.h>

struct crowd;

struct crowd_count {
    unsigned open, gone;     /* streams that have begun; that have ended */
    unsigned accepted;       /* turns */
    unsigned refused;        /* answers that were neither */
    unsigned running, final; /* what the list of turns said of turns that were asked for */
    unsigned error;
};

/* All of them end the program when the system refuses. */
struct crowd *crowd_new(unsigned port);
void crowd_free(struct crowd *c);
/* One request for a connection of its own; its answer goes to `out`. Blocks. */
void crowd_ask_once(const struct crowd *c, const char *method, const char *path, const char *body,
                    char *out, size_t size);
/* Beginning: crowd_step brings them on. */
void crowd_add_idle(struct crowd *c, const char *turn);
void crowd_add_watcher(struct crowd *c);
void crowd_add_turns(struct crowd *c, unsigned turns, unsigned connections, bool quiet);
/* Waits for something to happen, for at most so long. */
void crowd_step(struct crowd *c, int ms);
const struct crowd_count *crowd_look(const struct crowd *c);

#endif
