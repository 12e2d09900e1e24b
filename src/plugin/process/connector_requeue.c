/* SPDX-License-Identifier: MIT
 * Re-queues the tasks of a connector process that has died, so that the next one gets the
 * unfinished ones: its turns as resumed, then the rest in order. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "plugin/process/connector_process.h"

/* Tasks that end with a process: frames of its sockets, and HTTP requests, whose clients retry. */
static bool connector_requeue_is_repeatable(const struct connector_task *t)
{
    return (t->type == IPC_EVENT || t->type == IPC_REPLY) && !t->settled &&
           !(t->turn && t->turn->closed);
}

static void connector_requeue_task(struct connector_process *g, const struct connector_task *t)
{
    if (!connector_requeue_is_repeatable(t)) {
        connector_writer_finish_task(g, t);
        return;
    }
    if (t->turn) {
        t->turn->starts = t->turn->starts || connector_task_kind(t) == TC_START;
        t->turn->ends = t->turn->ends || connector_task_kind(t) == TC_DONE;
    }
    connector_task_list_queue(&g->writer.again, t);
}

/* Requests whose performance the dead process had been offered, and may have begun. */
struct doubtful_request {
    struct doubtful_request *next;
    char *turn;
    uint64_t request;
};

/* They are not sent again. */
static bool connector_requeue_add_doubtful(struct connector_process *g,
                                           const struct connector_task *t,
                                           struct doubtful_request **list)
{
    if (t->settled || !connector_task_is_offer(t))
        return false;
    struct doubtful_request *const d = xmalloc(sizeof *d);
    *d = (struct doubtful_request){*list, xstrdup(t->turn ? t->turn->named.id : ""),
                                   t->control->reply->request};
    *list = d;
    connector_writer_finish_task(g, t);
    return true;
}

/* Instead, the next process performs each later, and the attempt has ended in doubt. */
static void connector_requeue_report_doubtful(struct connector_process *g,
                                              struct doubtful_request *list)
{
    while (list) {
        struct doubtful_request *const d = list;
        const char *why;
        list = d->next;
        struct callback_batch *const b = xcalloc(1, sizeof *b);
        *b = (struct callback_batch){.settles = BATCH_REQUEST,
                                     .turn = d->turn,
                                     .request = d->request,
                                     .verdict = {.next = TC_NEXT_LATER}};
        b->results = outbound_result_new(
            d->request,
            &(struct tc_completion){.size = sizeof(struct tc_completion),
                                    .outcome = TC_AMBIGUOUS,
                                    .error = "the connector crashed while it performed this"},
            &why);
        g->host.batch(g->host.ctx, b);
        free(d);
    }
}

static void connector_requeue_list(struct connector_process *g, struct connector_task_list *from)
{
    for (struct connector_task *t; (t = connector_task_list_take(from));) {
        connector_requeue_task(g, t);
        free(t);
    }
}

static void connector_requeue_add_resumed(struct connector_task_list *to,
                                          struct connector_turn *turn)
{
    struct event start;
    event_init_resumed(&start, turn->named.id, clock_wall_s());
    struct connector_task t = connector_task_make(IPC_EVENT, turn);
    t.shared = shared_event_new(&start);
    connector_task_list_queue(to, &t);
}

/* Announces every known turn again, before its remaining tasks. */
static void resume_turns(struct connector_process *g, struct connector_task_list *starts)
{
    for (struct connector_turn *t = g->turns.first; t; t = t->next) {
        t->opened = false;
        if (t->told && !t->lost && !t->starts && (!t->done || t->ends))
            connector_requeue_add_resumed(starts, t);
    }
}

/* A turn whose last batch has arrived is complete. */
static void connector_requeue_end_closed_turns(struct connector_process *g)
{
    for (struct connector_turn *t = g->turns.first, *next; t; t = next) {
        next = t->next;
        t->over = t->over || t->closed;
        if (t->over && !t->tasks)
            connector_turns_free(g, t);
    }
}

static void connector_requeue_append(struct connector_task_list *to,
                                     struct connector_task_list *from)
{
    for (struct connector_task *t; (t = connector_task_list_take(from));)
        connector_task_list_add(to, t);
}

void connector_requeue_all(struct connector_process *g)
{
    struct connector_task_list left, control, starts;
    struct doubtful_request *doubtful = NULL;
    connector_task_list_init(&left);
    connector_task_list_init(&control);
    connector_task_list_init(&starts);
    connector_requeue_end_closed_turns(g);
    connector_requeue_append(&left, &g->writer.again);
    connector_requeue_append(&control, &g->writer.control);
    for (struct connector_turn *t = g->turns.first; t; t = t->next)
        t->starts = t->ends = false;
    for (struct connector_task t; task_window_take(&g->writer.sent, &t);)
        if (!connector_requeue_add_doubtful(g, &t, &doubtful))
            connector_requeue_task(g, &t);
    connector_requeue_list(g, &left);
    connector_requeue_list(g, &control);
    connector_requeue_append(&left, &g->writer.again);
    resume_turns(g, &starts);
    connector_requeue_append(&g->writer.again, &starts);
    connector_requeue_append(&g->writer.again, &left);
    connector_writer_reset(g);
    connector_requeue_report_doubtful(g, doubtful);
}
