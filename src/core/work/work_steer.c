/* SPDX-License-Identifier: MIT
 * Messages of people for a turn that another host runs. Sends them to that host one after the
 * other, and repeats each until that host answers; the host recognises repetitions. A message
 * without an answer at the end of the run becomes a turn of its own, like one that the agent has
 * not accepted. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/log.h"
#include "core/work/work_internal.h"
#include "dialect/turncast/turncast_run.h"

#define AGAIN_MS 500

struct work_steer_message {
    STAILQ_ENTRY(work_steer_message) next;
    char *line; /* of turncast_run.h */
    char *id;   /* NULL: a withdrawal */
};

/* The answer may come when the run has been freed. */
struct work_steer_request {
    struct work_run *run; /* NULL: freed */
};

static void work_steer_message_free(struct work_run *r, struct work_steer_message *message)
{
    STAILQ_REMOVE(&r->steering.list, message, work_steer_message, next);
    free(message->line);
    free(message->id);
    free(message);
}

static bool work_steer_is_accepted(struct str body)
{
    return str_is(bus_message_text(body, "/message"), "given");
}

static void work_steer_on_answer(void *ctx, enum nats_client_result result, struct str body)
{
    struct work_steer_request *const request = ctx;
    struct work_run *const r = request->run;
    free(request);
    if (!r)
        return;
    r->steering.request = NULL;
    struct work_steer_message *const message = STAILQ_FIRST(&r->steering.list);
    if (!message)
        return;
    if (result != NATS_CLIENT_REPLIED) {
        loop_timer_set(r->steering.timer, AGAIN_MS);
        return;
    }
    CLEANUP_FREE char *refused =
        message->id && !work_steer_is_accepted(body) ? xstrdup(message->id) : NULL;
    work_steer_message_free(r, message);
    loop_timer_set(r->steering.timer, 0);
    if (refused)
        work_run_print_notice(r, "info", TURNCAST_RUN_REFUSED, refused);
}

static void work_steer_send_next(struct work_run *r)
{
    CLEANUP_BUF struct buf body = {0};
    const struct work_steer_message *const message = STAILQ_FIRST(&r->steering.list);
    if (!message || r->steering.request || r->state != RUN_RUNNING)
        return;
    r->steering.request = xmalloc(sizeof *r->steering.request);
    r->steering.request->run = r;
    work_process_write_call(&body, r, message->line);
    bus_ask(r->work->bus, r->runner.host, "run", (struct str){body.p, body.len},
            work_steer_on_answer, r->steering.request);
}

static void work_steer_on_timer(void *run)
{
    work_steer_send_next(run);
}

bool work_steer_enqueue(struct work_run *r, struct str line)
{
    struct arena arena = {0};
    struct turncast_run_message m;
    const bool is_message = turncast_run_read_message(line, &arena, &m) == 0;
    if (is_message && r->state <= RUN_RUNNING) {
        struct work_steer_message *const message = xcalloc(1, sizeof *message);
        message->line = xstrndup(line.p, line.len);
        message->id = m.text ? xstrdup(m.id) : NULL;
        STAILQ_INSERT_TAIL(&r->steering.list, message, next);
        loop_timer_set(r->steering.timer, 0);
    }
    arena_fini(&arena);
    return is_message;
}

void work_steer_begin(struct work_run *r)
{
    STAILQ_INIT(&r->steering.list);
    r->steering.timer = loop_timer_new(r->work->link->loop, work_steer_on_timer, r);
}

void work_steer_end(struct work_run *r)
{
    struct work_steer_message *message;
    while ((message = STAILQ_FIRST(&r->steering.list)))
        work_steer_message_free(r, message);
    if (r->steering.request)
        r->steering.request->run = NULL;
    loop_timer_free(r->steering.timer);
}
