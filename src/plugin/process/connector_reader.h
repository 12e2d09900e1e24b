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

/* Limit of the bytes that are kept from a process that has not started or is not released. */
#define HELD_MAX ((size_t)160 << 20)

/* Whether the frames of the process are passed on to the host. */
enum connector_release {
    CONNECTOR_HELD,    /* nothing: its owner has not released it */
    CONNECTOR_AWAITED, /* the loop releases it with its first round */
    CONNECTOR_RELEASED,
};

struct connector_reader {
    struct buf in;
    enum connector_release release;
    size_t looked;   /* while it is held: bytes of `in` already searched for its IPC_STARTED */
    bool start_seen; /* IPC_STARTED was found; the frame itself is read after the release */
    bool gone;       /* the process has closed its side of the socket */
    struct outbound_request **requests; /* requests of the batch whose frame follows */
    size_t n_requests, request_bytes;
    uint64_t last_request;   /* highest number of a request so far */
    size_t bytes_under_way;  /* bytes of requests that have no final reply yet */
    size_t context_requests; /* requests without a final reply that belong to no turn */
    size_t open_sockets, routes;
    uint64_t socket_base; /* socket numbers of this process are greater than this */
    uint64_t last_socket; /* last socket number of this process */
};

/* Called when a process starts, when its socket is closed, and after its end: clears everything
 * that was in flight. */
void connector_reader_begin(struct connector_process *g);
void connector_reader_set_gone(struct connector_process *g);
void connector_reader_reset(struct connector_process *g);
/* Reads what the process has sent so far. True: everything was read. */
bool connector_reader_read(struct connector_process *g);
/* Handles the frames that were kept until the release. */
void connector_reader_resume(struct connector_process *g);
/* The first schedules the release for the next round of the loop; the second is that round. */
void connector_reader_await_release(struct connector_process *g);
void connector_reader_release_awaited(struct connector_process *g);
void connector_reader_count_closed_socket(struct connector_process *g);
/* Removes the request whose reply is this task; the process will not answer it. */
void connector_reader_abandon_reply(struct connector_process *g, const struct connector_task *t);

#endif
