/* SPDX-License-Identifier: MIT
 * Messages of people for a turn that another host runs: sent to that host one after the other, each
 * until it has answered. It recognises a message that it has received already, so an answer that
 * was lost does no harm. A message that has no answer at the end of the run gets a turn of its own,
 * like one that the agent has not taken. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/log.h"
#include "core/work/work_internal.h"
#include "dialect/turncast/turncast_run.h"

#define AGAIN_MS 500

struct work_said {
    STAILQ_ENTRY(work_said) next;
    char *line; /* of turncast_run.h */
    char *id;   /* NULL: a withdrawal */
};

/* The answer may come when the run has been freed. */
struct work_say_ask {
    struct work_run *run; /* NULL: freed */
};

static void work_said_free(struct work_run *r, struct work_said *said)
{
    STAILQ_REMOVE(&r->says.list, said, work_said, next);
    free(said->line);
    free(said->id);
    free(said);
}

static bool work_say_is_given(struct str body)
{
    return str_is(bus_message_text(body, "/message"), "given");
}

static void work_say_on_answer(void *ctx, enum nats_client_result result, struct str body)
{
    struct work_say_ask *const ask = ctx;
    struct work_run *const r = ask->run;
    free(ask);
    if (!r)
        return;
    r->says.ask = NULL;
    struct work_said *const said = STAILQ_FIRST(&r->says.list);
    if (!said)
        return;
    if (result != NATS_CLIENT_REPLIED) {
        loop_timer_set(r->says.timer, AGAIN_MS);
        return;
    }
    CLEANUP_FREE char *refused = said->id && !work_say_is_given(body) ? xstrdup(said->id) : NULL;
    work_said_free(r, said);
    loop_timer_set(r->says.timer, 0);
    if (refused)
        work_run_print_notice(r, "info", TURNCAST_RUN_REFUSED, refused);
}

static void work_say_next(struct work_run *r)
{
    CLEANUP_BUF struct buf body = {0};
    const struct work_said *const said = STAILQ_FIRST(&r->says.list);
    if (!said || r->says.ask || r->state != RUN_RUNNING)
        return;
    r->says.ask = xmalloc(sizeof *r->says.ask);
    r->says.ask->run = r;
    work_process_write_call(&body, r, said->line);
    bus_ask(r->work->bus, r->runner.host, "run", (struct str){body.p, body.len}, work_say_on_answer,
            r->says.ask);
}

static void work_say_on_timer(void *run)
{
    work_say_next(run);
}

bool work_say_take(struct work_run *r, struct str line)
{
    struct arena arena = {0};
    struct turncast_run_message m;
    const bool is_message = turncast_run_read_message(line, &arena, &m) == 0;
    if (is_message && r->state <= RUN_RUNNING) {
        struct work_said *const said = xcalloc(1, sizeof *said);
        said->line = xstrndup(line.p, line.len);
        said->id = m.text ? xstrdup(m.id) : NULL;
        STAILQ_INSERT_TAIL(&r->says.list, said, next);
        loop_timer_set(r->says.timer, 0);
    }
    arena_fini(&arena);
    return is_message;
}

void work_say_begin(struct work_run *r)
{
    STAILQ_INIT(&r->says.list);
    r->says.timer = loop_timer_new(r->work->link->loop, work_say_on_timer, r);
}

void work_say_end(struct work_run *r)
{
    struct work_said *said;
    while ((said = STAILQ_FIRST(&r->says.list)))
        work_said_free(r, said);
    if (r->says.ask)
        r->says.ask->run = NULL;
    loop_timer_free(r->says.timer);
}
