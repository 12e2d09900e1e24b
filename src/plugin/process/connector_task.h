/* SPDX-License-Identifier: MIT
 * Tasks of a connector process: events, replies, HTTP requests and socket messages that it has to
 * handle. A list for those that wait, a window for those that it has been sent and has not
 * confirmed. Loop thread. */
#ifndef PLUGIN_PROCESS_CONNECTOR_TASK_H
#define PLUGIN_PROCESS_CONNECTOR_TASK_H

#include "plugin/ipc/ipc_frame.h"
#include "plugin/queue/control_msg.h"

struct connector_turn;

struct connector_task {
    struct connector_task *next;
    enum frame_type type;
    unsigned short deaths;       /* number of processes that died while they handled it */
    bool settled;                /* the host has its batch */
    struct connector_turn *turn; /* NULL: the task belongs to no turn */
    struct shared_event *shared; /* IPC_EVENT */
    struct control_msg *control; /* IPC_REPLY, IPC_HIT, IPC_SOCKET */
};

/* TC_RAW: the task is not an event. */
static inline enum tc_kind connector_task_kind(const struct connector_task *t)
{
    return t->shared ? shared_event_get(t->shared)->kind : TC_RAW;
}

/* Whether the task offers a request to the plugin, which performs it. */
static inline bool connector_task_is_offer(const struct connector_task *t)
{
    return t->type == IPC_REPLY && t->control->reply->reply.outcome == TC_YOUR_TURN;
}

struct connector_task_list {
    struct connector_task *first, **end;
    size_t count;
};

/* FIFO of sent tasks, contiguous in memory because each is accessed twice. */
#define WINDOW_TASKS ((size_t)1024)
struct task_window {
    struct connector_task tasks[WINDOW_TASKS];
    size_t first, count, bytes;
};

/* Makes a task and counts it in its turn (or NULL). */
struct connector_task connector_task_make(enum frame_type type, struct connector_turn *turn);

void connector_task_list_init(struct connector_task_list *l);
/* Takes over `t`, which was allocated by xmalloc. */
void connector_task_list_add(struct connector_task_list *l, struct connector_task *t);
/* Adds a copy. */
void connector_task_list_queue(struct connector_task_list *l, const struct connector_task *task);
/* The oldest, for free(); NULL: empty. */
struct connector_task *connector_task_list_take(struct connector_task_list *l);

/* The task at index i, 0 being the oldest; NULL: the index is past the end. */
static inline struct connector_task *task_window_at(struct task_window *w, size_t i)
{
    return i < w->count ? &w->tasks[(w->first + i) % WINDOW_TASKS] : NULL;
}
/* The slot in which the caller makes the next task; task_window_commit adds it. */
static inline struct connector_task *task_window_next_slot(struct task_window *w)
{
    return &w->tasks[(w->first + w->count) % WINDOW_TASKS];
}
void task_window_commit(struct task_window *w);
/* Moves the oldest task to *t. False: the window is empty. */
bool task_window_take(struct task_window *w, struct connector_task *t);

#endif
