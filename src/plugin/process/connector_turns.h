/* SPDX-License-Identifier: MIT
 * Turns that a connector instance has received, until it has received their end. Loop thread. */
#ifndef PLUGIN_PROCESS_CONNECTOR_TURNS_H
#define PLUGIN_PROCESS_CONNECTOR_TURNS_H

#include "base/arena.h"
#include "plugin/channel.h"
#include "plugin/queue/backlog.h"

#define CONNECTOR_IDS 1024

struct connector_process;

struct connector_turn {
    struct connector_turn *next, *prev;
    struct connector_turn *next_id; /* in their bucket of by_id */
    uint64_t number;
    struct arena arena;
    struct channel_turn named;
    char *memory; /* the newest; owned */
    struct turn_backlog *turn_backlog;
    size_t tasks;      /* tasks that are not confirmed */
    size_t requests;   /* requests without their final reply */
    bool opened;       /* IPC_OPEN was sent to the running process */
    bool told;         /* a process has received the turn */
    bool late;         /* opened only to deliver replies */
    bool lost;         /* no longer delivered as resumed, because that kills the process */
    bool done;         /* its last event has been removed from the backlog */
    bool closed;       /* the host has its last batch */
    bool over;         /* the instance has seen its end */
    bool starts, ends; /* its start or its end must be delivered again */
};

struct connector_turns {
    struct connector_turn *first, *by_id[CONNECTOR_IDS];
    uint64_t last_number;
};

/* Copies the strings. */
struct connector_turn *connector_turns_open(struct connector_process *g,
                                            const struct channel_turn *turn);
/* NULL: not found. If two turns have that id (one runs, one only waits for replies), returns the
 * running one. */
struct connector_turn *connector_turns_find(const struct connector_process *g, const char *id);
void connector_turns_free(struct connector_process *g, struct connector_turn *t);
void connector_turns_fini(struct connector_process *g);

#endif
