/* SPDX-License-Identifier: MIT
 * Reader of the frames of a connector process. The process is untrusted: a frame that is malformed,
 * unexpected or too much ends the process (connector_supervisor_fail), never the host.
 * connector_reader.c writes the members. Loop thread. */
#ifndef PLUGIN_PROCESS_CONNECTOR_READER_H
#define PLUGIN_PROCESS_CONNECTOR_READER_H

#include "base/bytes/buf.h"
#include "plugin/outbound.h"

struct connector_process;
struct connector_task;

/* Of what a process says before it has started, or is released. */
#define HELD_MAX ((size_t)160 << 20)

/* What of it reaches the host. */
enum connector_release {
    CONNECTOR_HELD,    /* nothing: its owner has not released it */
    CONNECTOR_AWAITED, /* the loop releases it with its first round */
    CONNECTOR_RELEASED,
};

struct connector_reader {
    struct buf in;
    enum connector_release release;
    size_t looked;   /* bytes of `in` in which its start was looked for, while it is held */
    bool start_seen; /* then: the frame is still to be read */
    bool gone;       /* its side of the socket is closed */
    struct outbound_request **requests; /* of the batch that comes */
    size_t n_requests, request_bytes;
    uint64_t last_request;   /* the highest number */
    size_t bytes_under_way;  /* of requests without their last reply */
    size_t context_requests; /* such requests of no turn */
    size_t open_sockets, routes;
    uint64_t socket_base; /* numbers of this process's sockets begin behind it */
    uint64_t last_socket; /* of this process */
};

/* A process begins, has gone, its life is over. */
void connector_reader_begin(struct connector_process *g);
void connector_reader_note_gone(struct connector_process *g);
void connector_reader_reset(struct connector_process *g);
/* True: all that it had said until then. */
bool connector_reader_read(struct connector_process *g);
/* What was held is read now. */
void connector_reader_resume(struct connector_process *g);
/* That happens with the first round of the loop; which it is. */
void connector_reader_await_release(struct connector_process *g);
void connector_reader_release_awaited(struct connector_process *g);
void connector_reader_note_closed_socket(struct connector_process *g);
/* The reply that this task is will not be answered. */
void connector_reader_abandon_reply(struct connector_process *g, const struct connector_task *t);

#endif
