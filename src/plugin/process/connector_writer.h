/* SPDX-License-Identifier: MIT
 * Writer to a connector process: encodes tasks into the ring buffer or the socket, keeps each until
 * the process has confirmed it (connector_writer.c), and queues them again when it has died
 * (connector_requeue.c). Only these two write the members. Loop thread. */
#ifndef PLUGIN_PROCESS_CONNECTOR_WRITER_H
#define PLUGIN_PROCESS_CONNECTOR_WRITER_H

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "plugin/ipc/shm_ring.h"
#include "plugin/process/connector_task.h"
#include "plugin/process/connector_turns.h"

#define CONNECTOR_STAGED 64

struct staged_event {
    struct turn_backlog *turn_backlog;
    struct shared_event *shared; /* one reference, owned */
};

struct connector_writer {
    /* In this order: again (from an earlier process), control messages, events. */
    struct connector_task_list again, control;
    struct backlog backlog;
    struct task_window sent;                      /* and not confirmed */
    struct staged_event staged[CONNECTOR_STAGED]; /* of a burst: not looked at yet */
    size_t n_staged;
    bool batching;
    struct shm_ring ring; /* of the process that runs */
    struct buf out;       /* to its socket: its setup, answers, wake-ups, what is too big */
    size_t out_at;
    struct buf frame;         /* memory of one that is made */
    uint64_t handled;         /* tasks that have been taken off `sent`, of this process */
    uint64_t sent_until;      /* tasks that have gone out to it */
    int64_t flushed_us;       /* monotonic */
    struct loop_timer *timer; /* of the next flush */
    bool flush_due;           /* at once */
    bool gather_due;          /* within a millisecond */
};

void connector_writer_init(struct connector_process *g, const struct backlog_limits *limits);
/* Drops all tasks; then, when the turns are gone, the memory. */
void connector_writer_fini(struct connector_process *g);
void connector_writer_free_memory(struct connector_process *g);
/* The ring buffer of a process that starts: shared memory. -1 with err. */
int connector_writer_attach(struct connector_process *g, int fd, struct tc_err *err) MUST_CHECK;
void connector_writer_detach(struct connector_process *g);
void connector_writer_send_setup(struct connector_process *g);
void connector_writer_put_control(struct connector_process *g, enum frame_type type,
                                  struct connector_turn *t, struct control_msg *m);
/* Takes over one reference of the event. In a burst it is staged, for one event after the other
 * costs less than one instance after the other. */
void connector_writer_put_event(struct connector_process *g, struct turn_backlog *turn_backlog,
                                struct shared_event *shared);
void connector_writer_set_batching(struct connector_process *g, bool on);
/* What has been staged is on its way. */
void connector_writer_flush_staged(struct connector_process *g);
/* It has done all that went out, as its status page shows; else it says so as soon as it has. */
bool connector_writer_is_drained(const struct connector_process *g);
/* Soon, together with what else comes until then. */
void connector_writer_flush_soon(struct connector_process *g);
/* As much as it can take now. */
void connector_writer_flush(struct connector_process *g);
/* So many tasks of this process are done; maybe that is known already. */
void connector_writer_confirm(struct connector_process *g, uint64_t handled);
/* The task that it is at, or would be; NULL: none. */
struct connector_task *connector_writer_oldest_task(struct connector_process *g);
/* That one is given up. */
void connector_writer_drop_oldest(struct connector_process *g);
/* A task that is nothing, so that it says whether it lives. */
void connector_writer_ping(struct connector_process *g);
/* It is to end when it has done what it was sent. */
void connector_writer_stop(struct connector_process *g);
/* What is encoded goes out as far as it can. */
void connector_writer_write(struct connector_process *g);
/* Nothing waits, and it is at nothing. */
bool connector_writer_is_idle(const struct connector_process *g);

/* For connector_requeue.c: the task is done or given up; counts begin anew. */
void connector_writer_finish_task(struct connector_process *g, const struct connector_task *t);
void connector_writer_reset(struct connector_process *g);
/* The process has died: what it had not done has to be done again, but for what cannot be. */
void connector_requeue_all(struct connector_process *g);

#endif
