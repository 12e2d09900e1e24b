/* SPDX-License-Identifier: MIT
 * Internal interface between the files of a connector process. */
#ifndef PLUGIN_CHILD_CHILD_INTERNAL_H
#define PLUGIN_CHILD_CHILD_INTERNAL_H

#include "plugin/child/child.h"
#include "plugin/instance/instance.h"
#include "plugin/ipc/ipc_frame.h"
#include "plugin/ipc/shm_ring.h"

#define CHILD_BUCKETS 256

struct child_turn {
    struct child_turn *next;
    uint64_t number;
    struct instance_turn *turn;
};

struct child {
    struct shm_ring ring; /* what it is to do */
    bool away;            /* the next of that is to come on the socket */
    struct buf in, out;
    size_t read;        /* of in: done with */
    struct buf event;   /* memory of the one that is delivered */
    struct buf aligned; /* a copy of one that came on the socket */
    struct buf held;    /* an earlier `in`, which a callback that asked may still look at */
    struct arena arena;
    struct ipc_setup setup;
    struct status_page *status;
    struct instance *instance;
    struct child_turn *turns[CHILD_BUCKETS];
    uint64_t handled; /* tasks whose callbacks have returned */
    uint64_t told;    /* of those, so many has the host been told to be done */
    uint64_t asks;
    unsigned unsaid;             /* handled or released since the host was told */
    int64_t told_ms;             /* when that was, monotonic */
    int ready[INSTANCE_WATCHED]; /* descriptors that the last child_poll found readable */
    size_t n_ready;
    bool heard; /* and whether it found that the host has sent something */
    bool stopping;
};

/* child.c: the stream to the host. */
__attribute__((__noreturn__)) void child_leave_broken(void);
void child_flush(struct child *c);
/* False: nothing came within the time. */
bool child_receive(struct child *c, int wait_ms);
/* Like ipc_frame_decode_next, from byte `at` of the received bytes; ends the process on an error.
 */
int64_t child_next_frame(const struct child *c, size_t at, struct ipc_frame *f);
void child_tell_number(struct child *c, enum frame_type type, uint64_t number);
void child_tell_text(struct child *c, enum frame_type type, const char *text);

/* child_host.c: what the instance asks of the host, as frames. */
void child_tell_answer(struct child *c, uint64_t hit, const struct tc_answer *answer);
struct channel_callbacks child_make_host(struct child *c);

#endif
