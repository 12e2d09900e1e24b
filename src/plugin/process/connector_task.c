/* SPDX-License-Identifier: MIT
 * List and window of tasks for a connector process. */
#include "plugin/process/connector_task.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "plugin/process/connector_turns.h"

struct connector_task connector_task_make(enum frame_type type, struct connector_turn *turn)
{
    if (turn)
        turn->tasks++;
    return (struct connector_task){.type = type, .turn = turn};
}

void connector_task_list_init(struct connector_task_list *l)
{
    *l = (struct connector_task_list){.end = &l->first};
}

void connector_task_list_add(struct connector_task_list *l, struct connector_task *t)
{
    t->next = NULL;
    ASSERT(!*l->end);
    *l->end = t;
    l->end = &t->next;
    l->count++;
}

struct connector_task *connector_task_list_take(struct connector_task_list *l)
{
    struct connector_task *const t = l->first;
    if (!t)
        return NULL;
    ASSERT(l->count > 0);
    l->first = t->next;
    if (!l->first)
        l->end = &l->first;
    l->count--;
    return t;
}

void connector_task_list_queue(struct connector_task_list *l, const struct connector_task *task)
{
    struct connector_task *const t = xmalloc(sizeof *t);
    *t = *task;
    connector_task_list_add(l, t);
}

/* Size in memory. */
static size_t connector_task_size(const struct connector_task *t)
{
    return t->shared ? shared_event_size(t->shared) : sizeof *t;
}

bool task_window_take(struct task_window *w, struct connector_task *t)
{
    if (!w->count)
        return false;
    ASSERT(w->count <= WINDOW_TASKS && w->first < WINDOW_TASKS);
    *t = w->tasks[w->first];
    w->first = --w->count ? (w->first + 1) % WINDOW_TASKS : 0;
    ASSERT(w->bytes >= connector_task_size(t));
    w->bytes -= connector_task_size(t);
    return true;
}

void task_window_commit(struct task_window *w)
{
    ASSERT(w->count < WINDOW_TASKS);
    w->bytes += connector_task_size(task_window_next_slot(w));
    w->count++;
}
