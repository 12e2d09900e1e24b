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
    struct task_window sent;                      /* but not confirmed */
    struct staged_event staged[CONNECTOR_STAGED]; /* events of a burst that are not encoded yet */
    size_t n_staged;
    bool batching;
    struct shm_ring ring; /* ring buffer of the running process */
    struct buf out; /* for its socket: setup, answers, wake-ups, frames too big for the ring */
    size_t out_at;
    struct buf frame;         /* scratch memory for the frame that is encoded */
    uint64_t handled;         /* tasks of this process that were removed from `sent` */
    uint64_t sent_until;      /* number of tasks sent to this process */
    int64_t flushed_us;       /* monotonic */
    struct loop_timer *timer; /* for the next flush */
    bool flush_due;           /* in the next round of the loop */
    bool gather_due;          /* `timer` flushes within a millisecond */
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
/* Takes over one reference of the event. While batching is on, the event is only
 * staged: encoding all events of a burst for one instance, then for the next one, costs less. */
void connector_writer_put_event(struct connector_process *g, struct turn_backlog *turn_backlog,
                                struct shared_event *shared);
void connector_writer_set_batching(struct connector_process *g, bool on);
/* Encodes and sends the staged events. */
void connector_writer_flush_staged(struct connector_process *g);
/* Whether the process has handled all tasks that were sent, according to its status page. If not,
 * it reports when it has. */
bool connector_writer_is_drained(const struct connector_process *g);
/* Schedules a flush within a millisecond, so that several events are sent together. */
void connector_writer_flush_soon(struct connector_process *g);
/* Sends as many tasks as the ring and the window have room for. */
void connector_writer_flush(struct connector_process *g);
/* Records that the process has handled `handled` tasks in total; a repeated number is harmless. */
void connector_writer_confirm(struct connector_process *g, uint64_t handled);
/* The task that the process handles now or next; NULL: none. */
struct connector_task *connector_writer_oldest_task(struct connector_process *g);
/* Drops the task that connector_writer_oldest_task returns. */
void connector_writer_drop_oldest(struct connector_process *g);
/* Sends an empty task, whose confirmation shows that the process is alive. */
void connector_writer_ping(struct connector_process *g);
/* Requests the process to exit after the tasks that were sent to it. */
void connector_writer_stop(struct connector_process *g);
/* Writes the encoded bytes to the socket, as many as it takes. */
void connector_writer_write(struct connector_process *g);
/* Whether no task waits and none is being handled. */
bool connector_writer_is_idle(const struct connector_process *g);

/* For connector_requeue.c: the task is done or dropped; resets its counts. */
void connector_writer_finish_task(struct connector_process *g, const struct connector_task *t);
void connector_writer_reset(struct connector_process *g);
/* After the death of the process: queues the tasks that it had not confirmed again, except those
 * that cannot be repeated. */
void connector_requeue_all(struct connector_process *g);

#endif
