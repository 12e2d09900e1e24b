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
    struct shm_ring ring; /* ring buffer of tasks */
    bool away;            /* the next task of the ring buffer follows on the socket */
    struct buf in, out;
    size_t read;        /* processed bytes of `in` */
    struct buf event;   /* memory of the event being delivered */
    struct buf aligned; /* a copy of an event from the socket */
    struct buf held;    /* an earlier `in`, which the current callback may still use */
    struct arena arena;
    struct ipc_setup setup;
    struct status_page *status;
    struct instance *instance;
    struct child_turn *turns[CHILD_BUCKETS];
    uint64_t handled; /* number of tasks whose callbacks have returned */
    uint64_t told;    /* number of them reported to the host */
    uint64_t asks;
    unsigned unsaid;             /* processed or released since the last report */
    int64_t told_ms;             /* time of the last report, monotonic */
    int ready[INSTANCE_WATCHED]; /* descriptors that the last child_poll found readable */
    size_t n_ready;
    bool heard; /* whether it found data from the host */
    bool stopping;
};

/* child.c: the stream to the host. */
__attribute__((__noreturn__)) void child_exit_corrupted(void);
void child_flush(struct child *c);
/* False: no data within the time. */
bool child_receive(struct child *c, int wait_ms);
/* Like ipc_frame_decode_next, from byte `at` of the received bytes; ends the process on an
 * error. */
int64_t child_next_frame(const struct child *c, size_t at, struct ipc_frame *f);
void child_send_number(struct child *c, enum frame_type type, uint64_t number);
void child_send_text(struct child *c, enum frame_type type, const char *text);

/* child_host.c: calls of the instance to the host, as frames. */
void child_send_answer(struct child *c, uint64_t hit, const struct tc_answer *answer);
struct channel_callbacks child_make_host(struct child *c);

#endif
