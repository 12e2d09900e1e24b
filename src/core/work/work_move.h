/* SPDX-License-Identifier: MIT
 * Moves a conversation to another host: makes that host its home in the bucket of homes, by
 * compare-and-set, with a mark that the session is on another host. The next turn of the
 * conversation, and a turn that waits for a slot of the previous home, runs there; a running turn
 * ends where it runs. Loop thread only. */
#ifndef CORE_WORK_WORK_MOVE_H
#define CORE_WORK_WORK_MOVE_H

#include "core/bus/bus_kv.h"

struct work_move_spec {
    struct bus_link *link;
    const char *agent, *conversation, *host; /* copied */
    /* Called once, from the loop. moved: number of homes that are on the host now, one for each
     * working directory in which the agent has a session; 0: the conversation has no home. -1: the
     * servers do not answer. */
    void (*done)(void *ctx, int moved);
    void *ctx;
};

/* Frees itself; if the client ends first, `done` is called with -1. */
void work_move_conversation(const struct work_move_spec *spec);
/* Whether the value of a home has the mark. */
bool work_home_is_moved(struct str value);
/* Whether it says that the conversation and its session are on this host. */
bool work_home_is_here(const struct bus_link *l, const struct bus_kv_entry *home);

#endif
