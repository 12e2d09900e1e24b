/* SPDX-License-Identifier: MIT
 * Presents a run on another host to the executor as the process of an agent: start, input, end. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/work/work_files.h"
#include "core/work/work_internal.h"
#include "event/json/json_writer.h"
#include "text/sentence/texts.h"

/* ctx: id of the turn, owned: the run may have been freed. */
static void work_process_on_line_answered(void *ctx, enum nats_client_result result,
                                          struct str body)
{
    CLEANUP_FREE char *turn = ctx;
    (void)body;
    if (result != NATS_CLIENT_REPLIED)
        log_write(LOG_WARN, "bus",
                  "turn %s: its host did not answer a request of this host; the "
                  "agent may not have received it",
                  turn);
}

/* line: of JSON, see turncast_run.h. */
void work_process_write_call(struct buf *out, const struct work_run *r, const char *line)
{
    buf_add_char(out, '{');
    jsonw_member_str(out, "run", r->id);
    jsonw_member_json(out, "line", line);
    buf_add_char(out, '}');
}

static void work_process_send_line(struct work_run *r, struct str line)
{
    CLEANUP_BUF struct buf body = {0}, text = {0};
    buf_add(&text, line.p, line.len);
    work_process_write_call(&body, r, text.p);
    bus_ask(r->work->bus, r->runner.host, "run", (struct str){body.p, body.len},
            work_process_on_line_answered, xstrdup(r->order.turn));
}

static void work_process_cancel_early(struct work_run *r)
{
    TEXTS_IN(r->notices.language);
    work_run_end(r, "cancelled", texts_get(TEXT_CANCELLED_EARLY));
}

static void work_process_write(void *run, const char *bytes, size_t n)
{
    struct work_run *const r = run;
    struct str rest = {bytes, n}, line;
    while (r->work && bus_batch_next_line(&rest, &line))
        if (work_steer_enqueue(r, line))
            continue;
        else if (r->state == RUN_RUNNING)
            work_process_send_line(r, line);
        else if (r->state < RUN_RUNNING)
            work_process_cancel_early(r);
}

static void work_process_close_stdin(void *run)
{
    (void)run;
}

static void work_process_cancel(struct work_run *r)
{
    const struct str line = STR("{\"do\":\"cancel\"}\n");
    work_process_write(r, line.p, line.len);
}

static void work_process_signal(void *run, int signo)
{
    (void)signo;
    work_process_cancel(run);
}

static unsigned work_process_kill_tree(void *run)
{
    struct work_run *const r = run;
    if (r->state == RUN_OVER || !r->work)
        return 0;
    if (!r->cancels++)
        work_process_cancel(r);
    return 1;
}

static unsigned work_process_count_killed(void *run)
{
    (void)run;
    return 0;
}

static pid_t work_process_pid(void *run)
{
    (void)run;
    return 0;
}

void work_run_stop(struct work_run *r)
{
    LIST_REMOVE(r, next);
    work_steer_end(r);
    bus_reader_free(r->reader);
    work_outcome_free(r->outcome);
    nats_client_forget(r->work->link->client, r);
    loop_timer_free(r->timer);
    loop_timer_free(r->exit);
    r->work = NULL;
}

/* A run that is not over is cancelled: no process reads its events any more. */
static void work_process_free(void *run)
{
    struct work_run *const r = run;
    TEXTS_IN(r->notices.language);
    if (r->work && r->state != RUN_OVER)
        work_store_farewell(r->work, &r->order, "cancelled", texts_get(TEXT_CANCELLED));
    if (r->work)
        work_run_stop(r);
    buf_fini(&r->home_key);
    buf_fini(&r->out);
    arena_fini(&r->arena);
    free(r);
}

const struct agent_backend work_run_backend = {
    .write = work_process_write,
    .close_stdin = work_process_close_stdin,
    .signal = work_process_signal,
    .kill_tree = work_process_kill_tree,
    .count_killed = work_process_count_killed,
    .pid = work_process_pid,
    .free = work_process_free,
};

/* ---- begin ---- */

bool work_can_run(const char *turn, const char *source, const struct conf_agent *agent)
{
    char run[WORK_ID];
    return bus_stream_is_token(turn) && bus_stream_is_token(source) &&
           bus_stream_is_token(agent->name) && work_run_id(turn, run);
}

/* Paths of the prompt's files, so that the host that runs it fetches them; or NULL. */
static char *work_process_find_files(struct work_run *r)
{
    CLEANUP_BUF struct buf paths = {0};
    CLEANUP_FREE char *dir = work_files_dir(r->work, r->order.source);
    work_files_find(&paths, r->order.prompt, dir);
    return paths.len ? arena_strdup(&r->arena, paths.p) : NULL;
}

static void work_process_copy_order(struct work_run *r, const struct work_order *o)
{
    struct arena *const a = &r->arena;
    r->order = (struct work_order){
        .turn = arena_strdup(a, o->turn),
        .agent = arena_strdup(a, o->agent),
        .conversation = arena_strdup(a, o->conversation),
        .source = arena_strdup(a, o->source),
        .gateway = arena_strdup(a, o->gateway),
        .route = arena_strdup(a, o->route),
        .owner = arena_strdup(a, o->owner),
        .instances = arena_strdup(a, o->instances),
        .user = arena_strdup(a, o->user),
        .seen = arena_strdup(a, o->seen),
        .session = arena_strdup(a, o->session),
        .prompt = {arena_memdup(a, o->prompt.p, o->prompt.len), o->prompt.len},
        .message = arena_strdup(a, o->message),
        .also = arena_strdup(a, o->also),
        .follows = arena_strdup(a, o->follows),
        .shared = arena_strdup(a, o->shared),
        .after = o->after,
        .admitted_ms = o->admitted_ms,
    };
}

void *work_run_start(struct work *w, const struct work_run_spec *spec,
                     const struct process_events *events, void *events_ctx)
{
    const struct work_order *const order = spec->order;
    const struct conf_agent *const agent = spec->agent;
    struct work_run *const r = xcalloc(1, sizeof *r);
    r->work = w;
    r->events = events;
    r->ctx = events_ctx;
    r->notices.language = spec->language;
    r->stored.done = spec->stored;
    r->stored.ctx = spec->ctx;
    r->stored.is_done = spec->is_stored;
    r->hosts = agent->runners.hosts;
    r->since_ms.placing = r->since_ms.waiting = clock_mono_ms();
    work_process_copy_order(r, order);
    r->order.files = work_process_find_files(r);
    r->order.gateway = arena_strdup(&r->arena, w->link->names.host);
    ASSERT(work_run_id(order->turn, r->id));
    work_home_key(&r->home_key, conf_agent_session_name(agent), order->conversation);
    r->timer = loop_timer_new(w->link->loop, work_run_on_timer, r);
    r->exit = loop_timer_new(w->link->loop, work_run_on_exit, r);
    work_steer_begin(r);
    r->reader = bus_reader_new(w->link, r->id, NULL, &work_run_sink, r);
    r->state = spec->again ? RUN_RECALL : RUN_PLACING;
    w->counters.given += !spec->again;
    LIST_INSERT_HEAD(&w->runs, r, next);
    work_run_go_on(r);
    return r;
}
