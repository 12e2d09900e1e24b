/* SPDX-License-Identifier: MIT
 * POST /ag-ui: starts the run that an AG-UI client requests, or finds a known run again, and writes
 * it as AG-UI events for as long as the client listens. POST /ai-sdk does the same for clients of
 * the AI SDK, with another form of input and events; its runs cannot be interrupted.
 *
 * When a turn asks people, the run of a client that may answer ends with an interrupt, and the turn
 * keeps waiting; the run that brings the answers receives the rest of the turn. The writer of that
 * run also gets the events of the earlier runs, so that ids stay consistent. */
#include <stdlib.h>
#include <string.h>

#include "api/ag_ui/ag_ui_resume.h"
#include "api/ag_ui/ag_ui_run_input.h"
#include "api/ag_ui/ag_ui_runs.h"
#include "api/ag_ui/ai_sdk_input.h"
#include "api/shared/api_internal.h"
#include "api/shared/past_turns.h"
#include "api/turns/turn_api.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/uuid.h"
#include "core/conversation/prompt.h"
#include "core/settings/visibility_command.h"
#include "dialect/writer/writer.h"

#define SOURCE CONVERSATIONS_AG_UI
#define GATHER_MS 100 /* requests of an agent within this time become one interrupt */

/* A kind of client. */
static const struct ag_ui_format {
    const char *path, *writer;
    json_t *(*convert)(const json_t *body); /* converts the body to a RunAgentInput; NULL: the body
                                             * is one already */
    bool may_answer;
    struct httpd_header header; /* of the response; name NULL: none */
} formats[] = {
    {"/ag-ui", "ag-ui", NULL, true, {NULL, NULL}},
    {"/ai-sdk", "ai-sdk", ai_sdk_input_convert, false, {"x-vercel-ai-ui-message-stream", "v1"}},
};
#define FORMATS (sizeof formats / sizeof *formats)

struct ag_ui_endpoint_run {
    const struct ag_ui_format *format;
    struct api_context *api;
    struct httpd_request *request; /* NULL once it is answered */
    json_t *body;                  /* JSON from which `in` borrows */
    struct ag_ui_run_input in;
    char *principal, *conversation, *key;
    const struct conf *conf; /* configuration of the agent; holds a reference */
    const struct conf_agent *agent;
    struct buf prompt, first;
    char turn[37];
    struct writer_stream writing;
    bool done; /* the end of the run is written */

    bool may_answer; /* when it fires, the requests of the turn interrupt the run */
    char *scope;     /* first run of the turn; NULL: this one */
    uint64_t after, until, told;
    struct open_calls open; /* open requests that were written and have choices */
    struct loop_timer *gather;
    struct event_stream *feed;
};

static void ag_ui_endpoint_free_run(struct ag_ui_endpoint_run *run)
{
    writer_stream_fini(&run->writing);
    ag_ui_run_input_fini(&run->in);
    json_decref(run->body);
    buf_fini(&run->prompt);
    buf_fini(&run->first);
    free(run->principal);
    free(run->conversation);
    free(run->key);
    conf_unref(run->conf);
    open_calls_fini(&run->open);
    free(run->scope);
    loop_timer_free(run->gather);
    free(run);
}

/* ---- output ---- */

static void ag_ui_endpoint_write_event(struct ag_ui_endpoint_run *run, struct buf *out,
                                       const struct event *ev)
{
    run->done |= ev->kind == TC_DONE;
    writer_stream_write(&run->writing, out, ev);
}

static void ag_ui_endpoint_write_done(struct ag_ui_endpoint_run *run, struct buf *out,
                                      const char *reason)
{
    struct event ev;
    event_init(&ev, TC_DONE);
    ev.u.done.reason = reason;
    ag_ui_endpoint_write_event(run, out, &ev);
}

static void ag_ui_endpoint_write_error(struct ag_ui_endpoint_run *run, struct buf *out,
                                       const char *code, const char *message)
{
    struct event ev;
    event_init(&ev, TC_ERROR);
    ev.u.error.code = code;
    ev.u.error.message = message;
    ag_ui_endpoint_write_event(run, out, &ev);
    ag_ui_endpoint_write_done(run, out, "error");
}

/* A request that the client may not answer does not interrupt the run: it is meant for another
 * place or person, and the run continues. */
static bool is_not_answerable(const struct ag_ui_endpoint_run *run, const struct event *ev,
                              struct event *told)
{
    const struct auth_principal p = {.name = run->principal,
                                     .grants = run->may_answer ? CONF_ANSWER : 0};
    return request_api_adapt_event(run->api->host.requests, &p, run->turn, ev, told);
}

static void write_request_event(struct ag_ui_endpoint_run *run, struct buf *out,
                                const struct event *ev)
{
    struct event told;
    if (!is_not_answerable(run, ev, &told)) {
        ag_ui_endpoint_write_event(run, out, ev);
        return;
    }
    told.u.request.choices = NULL;
    told.u.request.blocking = false;
    ag_ui_endpoint_write_event(run, out, &told);
}

/* Writes the end of a suspended run, which has no members other than the interrupts. */
static void ag_ui_endpoint_write_suspended(struct ag_ui_endpoint_run *run, struct buf *out)
{
    struct event ev;
    event_init(&ev, TC_DONE);
    ev.u.done.reason = "suspended";
    writer_stream_write(&run->writing, out, &ev);
}

/* ---- what the turn asks ---- */

static void ag_ui_endpoint_record_request(struct ag_ui_endpoint_run *run, const struct event *ev)
{
    const struct tc_request *const r = &ev->u.request;
    struct event told;
    open_calls_remove(&run->open, r->request_id);
    if (strcmp(r->state, "open") == 0 && r->choices && !is_not_answerable(run, ev, &told))
        open_calls_add(&run->open, r->request_id, NULL);
}

/* False if other people have answered all requests of the run in the meantime. */
static bool ag_ui_endpoint_has_open_request(const struct ag_ui_endpoint_run *run)
{
    struct request_view v;
    for (size_t i = 0; i < run->open.n; i++)
        if (request_api_find(run->api->host.requests, run->turn, run->open.ids[i], &v))
            return true;
    return false;
}

static struct ag_ui_leg *ag_ui_endpoint_get_leg(const struct ag_ui_endpoint_run *run)
{
    struct ag_ui_legs *const legs = run->api->legs;
    struct ag_ui_leg *const known = ag_ui_runs_find(legs, run->conversation, run->in.run);
    return known ? known
                 : ag_ui_runs_add(legs, run->conversation, run->in.run, run->turn, run->in.run, 0);
}

static void ag_ui_endpoint_on_requests_gathered(void *arg)
{
    struct ag_ui_endpoint_run *const run = arg;
    if (!ag_ui_endpoint_has_open_request(run))
        return;
    if (!event_stream_is_drained(run->feed)) {
        loop_timer_set(run->gather, GATHER_MS);
        return;
    }
    struct ag_ui_leg *const leg = ag_ui_endpoint_get_leg(run);
    if (!leg->until)
        ag_ui_run_interrupt(leg, run->told, &run->open);
    run->until = run->told;
    event_stream_finish(run->feed);
}

static void ag_ui_endpoint_add_event(void *ctx, struct buf *out, const struct turnlog_item *item)
{
    struct ag_ui_endpoint_run *const run = ctx;
    const struct event *const ev = shared_event_get(item->shared);
    run->told = item->seq;
    write_request_event(run, out, ev);
    if (ev->kind != TC_REQUEST)
        return;
    ag_ui_endpoint_record_request(run, ev);
    if (run->open.n && !run->until)
        loop_timer_set(run->gather, GATHER_MS);
}

static void ag_ui_endpoint_add_gap(void *ctx, struct buf *out, const struct turnlog_item *item)
{
    struct event ev;
    (void)item;
    event_init_notice(&ev, "warning", "gap", "Earlier events are no longer available.");
    ag_ui_endpoint_write_event(ctx, out, &ev);
}

/* Ends the run of a turn that was merged or forgotten, and therefore has no event of its end. */
static void ag_ui_endpoint_add_end(void *ctx, struct buf *out)
{
    struct ag_ui_endpoint_run *const run = ctx;
    const struct turnlog_turn *const t = turnlog_find_turn(run->api->host.turnlog, run->turn);
    if (run->done)
        return;
    if (run->until)
        ag_ui_endpoint_write_suspended(run, out);
    else if (turn_api_is_cancelled_by_shutdown(run->api, t))
        ag_ui_endpoint_write_error(run, out, "host_shutdown", TURNS_DISMISSED);
    else if (t && t->state == TURNLOG_CANCELLED)
        ag_ui_endpoint_write_done(run, out, "cancelled");
    else
        ag_ui_endpoint_write_error(
            run, out, "lost",
            "The outcome of the turn is unknown, because its record was deleted.");
}

static void ag_ui_endpoint_on_closed(void *ctx, bool left)
{
    (void)left;
    ag_ui_endpoint_free_run(ctx);
}

static const struct event_stream_ops ops = {.event = ag_ui_endpoint_add_event,
                                            .gap = ag_ui_endpoint_add_gap,
                                            .over = ag_ui_endpoint_add_end,
                                            .closed = ag_ui_endpoint_on_closed};

static struct httpd_stream *ag_ui_endpoint_begin_stream(const struct ag_ui_endpoint_run *run)
{
    const struct httpd_header *const header = &run->format->header;
    return api_http_stream(run->request, header, header->name ? 1 : 0);
}

/* Sends a response that is complete already, and frees the run. */
static void ag_ui_endpoint_send_complete(struct ag_ui_endpoint_run *run, const struct buf *out)
{
    struct httpd_stream *const stream = ag_ui_endpoint_begin_stream(run);
    httpd_stream_write(stream, (struct str){out->p, out->len});
    httpd_stream_end(stream);
    ag_ui_endpoint_free_run(run);
}

static void answer_error(struct ag_ui_endpoint_run *run, const char *code, const char *message)
{
    CLEANUP_BUF struct buf out = {0};
    ag_ui_endpoint_write_error(run, &out, code, message);
    ag_ui_endpoint_send_complete(run, &out);
}

static void ag_ui_endpoint_answer_switches(struct ag_ui_endpoint_run *run,
                                           const struct visibility_command_result *t)
{
    CLEANUP_BUF struct buf text = {0}, out = {0};
    struct event ev;
    visibility_append_json(&text, t->visibility);
    event_init(&ev, TC_FINAL);
    ev.u.final.text = text.p;
    ev.u.final.text_len = text.len;
    ag_ui_endpoint_write_event(run, &out, &ev);
    ag_ui_endpoint_write_done(run, &out, "completed");
    ag_ui_endpoint_send_complete(run, &out);
}

/* ---- following the turn ---- */

static void ag_ui_endpoint_ignore(void *ctx)
{
    (void)ctx;
}

/* Gives the events of earlier runs to the writer alone, so that it knows their ids. */
static void replay_earlier_runs(struct ag_ui_endpoint_run *run)
{
    struct api_context *const a = run->api;
    CLEANUP_BUF struct buf unread = {0};
    struct turnlog_item item;
    enum turnlog_next_result step;
    struct turnlog_follower *const f = turnlog_follower_new(
        a->host.turnlog, run->turn, 0, a->conf->http.sees_all, ag_ui_endpoint_ignore, NULL);
    uint64_t cut = ag_ui_runs_next_interrupt(a->legs, run->turn, 0);
    do {
        step = turnlog_follower_next(f, &item);
        const uint64_t at = step == TURNLOG_EVENT ? item.seq : step == TURNLOG_GAP ? item.to : 0;
        for (; cut && cut <= run->after && (!at || at > cut);
             cut = ag_ui_runs_next_interrupt(a->legs, run->turn, cut))
            ag_ui_endpoint_write_suspended(run, &unread);
        if (at > run->after)
            break;
        if (step == TURNLOG_EVENT)
            write_request_event(run, &unread, shared_event_get(item.shared));
        buf_reset(&unread);
    } while (step == TURNLOG_EVENT || step == TURNLOG_GAP);
    turnlog_follower_free(f);
}

static void ag_ui_endpoint_follow_turn(struct ag_ui_endpoint_run *run)
{
    struct api_context *const a = run->api;
    const struct event_stream_spec spec = {
        .ops = &ops,
        .ctx = run,
        .turn = run->turn,
        .principal = run->principal,
        .after = run->after,
        .until = run->until,
        .sees_all = a->conf->http.sees_all,
        .awaits = true,
    };
    run->told = run->after;
    run->gather = loop_timer_new(a->host.loop, ag_ui_endpoint_on_requests_gathered, run);
    run->feed = event_stream_start(a, &spec, ag_ui_endpoint_begin_stream(run));
}

/* Follows the turn of a run, which may be a repeated one. */
static void ag_ui_endpoint_follow_run(struct ag_ui_endpoint_run *run, const struct ag_ui_leg *leg)
{
    CLEANUP_BUF struct buf out = {0};
    struct event ev;
    snprintf(run->turn, sizeof run->turn, "%s", leg->turn);
    run->after = leg->after;
    run->until = leg->until;
    if (!run->after) {
        ag_ui_endpoint_follow_turn(run);
        return;
    }
    run->scope = xstrdup(leg->scope);
    run->writing.conf.scope = run->scope;
    replay_earlier_runs(run);
    event_init(&ev, TC_START);
    ag_ui_endpoint_write_event(run, &out, &ev);
    ag_ui_endpoint_follow_turn(run);
    event_stream_write(run->feed, (struct str){out.p, out.len});
}

static void ag_ui_endpoint_resume(struct ag_ui_endpoint_run *run, const struct auth_principal *p)
{
    struct ag_ui_legs *const legs = run->api->legs;
    struct ag_ui_resume_error why = {0};
    const struct ag_ui_leg *const leg =
        ag_ui_resume_apply(run->api, legs, p, run->conversation, run->in.resume, &why);
    if (leg)
        ag_ui_endpoint_follow_run(run, ag_ui_runs_add(legs, run->conversation, run->in.run,
                                                      leg->turn, leg->scope, leg->until));
    else
        answer_error(run, why.code, why.message.p);
    buf_fini(&why.message);
}

/* ---- the turn ---- */

struct past_run {
    struct ag_ui_endpoint_run *run;
    struct buf out;
};

static void ag_ui_endpoint_add_past(void *ctx, const struct event *ev)
{
    struct past_run *const p = ctx;
    ag_ui_endpoint_write_event(p->run, &p->out, ev);
}

/* Repeats a run whose turn has ended and is no longer in the turn log. */
static void ag_ui_endpoint_on_known(void *ctx, const struct journal_turn *turn)
{
    struct past_run p = {.run = ctx};
    if (!turn) {
        turn_api_send_refusal(p.run->request, &(struct conversations_result){.accepted = TC_KNOWN});
        ag_ui_endpoint_free_run(p.run);
        return;
    }
    past_turns_emit_events(turn, ag_ui_endpoint_add_past, &p);
    ag_ui_endpoint_send_complete(p.run, &p.out);
    buf_fini(&p.out);
}

static void ag_ui_endpoint_on_submitted(void *ctx, const struct conversations_result *answer)
{
    const char *const turn = answer->turn;
    struct ag_ui_endpoint_run *const run = ctx;
    struct api_context *const a = run->api;
    const struct turnlog_turn *const t = turn ? turnlog_find_turn(a->host.turnlog, turn) : NULL;
    if (!t && answer->accepted == TC_KNOWN && turn) {
        past_turns_find(a->past, turn, &(struct auth_principal){.name = run->principal},
                        ag_ui_endpoint_on_known, run);
        return;
    }
    if (!t) {
        turn_api_send_refusal(run->request, answer);
        ag_ui_endpoint_free_run(run);
        return;
    }
    snprintf(run->turn, sizeof run->turn, "%s", t->spec.id);
    ag_ui_endpoint_follow_turn(run);
}

static void add_context(const struct ag_ui_endpoint_run *run, struct buf *prompt)
{
    if (run->in.context.len)
        prompt_append_prompt(prompt, (struct str){run->in.context.p, run->in.context.len});
}

/* Whether turns of another agent are queued or running in the conversation. */
static bool ag_ui_endpoint_is_used_by_other_agent(const struct ag_ui_endpoint_run *run)
{
    const struct conversation *const c =
        turn_scheduler_find(run->api->host.conversations, run->conversation);
    return c && strcmp(c->agent->name, run->agent->name) != 0;
}

static void ag_ui_endpoint_on_toggled(void *ctx, const struct visibility_command_result *t)
{
    struct ag_ui_endpoint_run *const run = ctx;
    if (t->why) {
        answer_error(run, "visibility_not_stored", t->why);
        return;
    }
    if (t->empty) {
        ag_ui_endpoint_answer_switches(run, t);
        return;
    }
    if (ag_ui_endpoint_is_used_by_other_agent(run)) {
        api_http_error(run->request, 409, "thread_busy",
                       "This thread is in use by another agent; use another threadId.");
        ag_ui_endpoint_free_run(run);
        return;
    }
    buf_add(&run->prompt, t->rest.p, t->rest.len);
    chat_messages_append_prompt(&run->in.said, &run->first, t->rest);
    add_context(run, &run->prompt);
    add_context(run, &run->first);
    const struct turn_scheduler_message m = {
        .key = run->conversation,
        .source = SOURCE,
        .agent = run->agent,
        .user = run->principal,
        .owner = run->principal,
        .id = run->key,
        .turn = run->turn,
        .prompt = {run->prompt.p, run->prompt.len},
        .first = {run->first.p, run->first.len},
        .alone = true,
        .follows = run->in.follows,
    };
    turn_scheduler_submit(run->api->host.conversations, &m, ag_ui_endpoint_on_submitted, run);
}

static const struct ag_ui_format *find_format(const char *path)
{
    size_t i = FORMATS - 1;
    while (i > 0 && strncmp(path, formats[i].path, strlen(formats[i].path)) != 0)
        i--;
    return &formats[i];
}

/* Takes over the body in every case. NULL: the request was refused. */
static struct ag_ui_endpoint_run *ag_ui_endpoint_new_run(struct api_context *a,
                                                         struct httpd_request *r,
                                                         const struct auth_principal *p,
                                                         json_t *body)
{
    struct ag_ui_endpoint_run *const run = xcalloc(1, sizeof *run);
    struct ag_ui_error why;
    uuid_make(run->turn);
    run->api = a;
    run->request = r;
    run->format = find_format(r->path);
    run->body = body;
    if (run->format->convert) {
        run->body = run->format->convert(body);
        json_decref(body);
    }
    const bool good = ag_ui_run_input_parse(&run->in, run->body, &why);
    writer_stream_init(&run->writing, writer_find(run->format->writer),
                       &(struct writer_conf){.framing = FRAMING_SSE,
                                             .protocol = run->in.protocol,
                                             .thread = run->in.thread,
                                             .run = run->in.run,
                                             .parent_run = run->in.parent});
    if (!good) {
        api_http_error(r, why.status, why.code, why.message);
        ag_ui_endpoint_free_run(run);
        return NULL;
    }
    run->principal = xstrdup(p->name);
    run->may_answer = run->format->may_answer && p->grants & CONF_ANSWER;
    run->conversation = xasprintf(SOURCE ":%s:%s", p->name, run->in.thread);
    run->key = xasprintf("%s\n%s\n%s", p->name, run->in.thread, run->in.run);
    return run;
}

/* Precedence: the agent of the path, the agent of forwardedProps, the default agent. */
static const struct conf_agent *ag_ui_endpoint_find_agent(const struct ag_ui_endpoint_run *run)
{
    const char *const path = run->request->path;
    const size_t len = strlen(run->format->path) + 1; /* with the slash */
    const char *const name = strlen(path) > len ? path + len : NULL;
    return conf_agent_find(run->api->conf, name ? name : run->in.agent);
}

static void ag_ui_endpoint_begin_turn(struct ag_ui_endpoint_run *run)
{
    const struct chat_messages *const said = &run->in.said;
    run->conf = conf_ref(run->api->conf);
    run->agent = ag_ui_endpoint_find_agent(run);
    if (run->agent) {
        visibility_command_apply(run->api->host.switches, run->agent->name,
                                 (struct str){said->last.p, said->last.len},
                                 ag_ui_endpoint_on_toggled, run);
        return;
    }
    api_http_error(run->request, 404, "no_such_agent",
                   "Unknown agent; GET /v1/models lists the agents.");
    ag_ui_endpoint_free_run(run);
}

/* A known run is repeated. A thread with open interrupts accepts only their answers. */
static void ag_ui_endpoint_begin(struct ag_ui_endpoint_run *run, const struct auth_principal *p)
{
    struct api_context *const a = run->api;
    const struct ag_ui_leg *const known = ag_ui_runs_find(a->legs, run->conversation, run->in.run);
    const struct ag_ui_leg *const last = ag_ui_runs_find_newest(a->legs, run->conversation);
    if (known) {
        ag_ui_endpoint_follow_run(run, known);
    } else if (run->in.resume && !run->may_answer) {
        auth_refuse_grant(run->request, p, CONF_ANSWER);
        ag_ui_endpoint_free_run(run);
    } else if (run->in.resume) {
        ag_ui_endpoint_resume(run, p);
    } else if (last && ag_ui_run_is_waiting(last, a->host.requests)) {
        answer_error(run, "interrupted", "This thread has open interrupts; answer them in resume.");
    } else {
        ag_ui_endpoint_begin_turn(run);
    }
}

/* ---- the request ---- */

/* Without the header Accept, the client accepts any type. */
static bool ag_ui_accepts_events(const struct httpd_request *r)
{
    const char *const accept = httpd_find_header(r, "Accept");
    return !accept || strcasestr(accept, "text/event-stream") || strstr(accept, "*/*") ||
           strcasestr(accept, "text/*");
}

static void ag_ui_endpoint_on_run(void *arg, struct httpd_request *r)
{
    struct api_context *const a = arg;
    const struct auth_principal *const p = auth_require_grant(a->auth, r, CONF_SUBMIT);
    if (!p)
        return;
    if (!ag_ui_accepts_events(r)) {
        api_http_error(r, 406, "not_acceptable",
                       "The response is text/event-stream, which Accept does not include.");
        return;
    }
    json_t *const body = api_http_parse_body(r);
    struct ag_ui_endpoint_run *const run = body ? ag_ui_endpoint_new_run(a, r, p, body) : NULL;
    if (run)
        ag_ui_endpoint_begin(run, p);
}

void ag_ui_endpoint_add_routes(struct api_context *a)
{
    a->legs = ag_ui_runs_new(a->host.turnlog);
    for (size_t i = 0; i < FORMATS; i++) {
        CLEANUP_FREE char *below = xasprintf("%s/", formats[i].path);
        httpd_route(a->host.httpd, formats[i].path, HTTPD_POST, ag_ui_endpoint_on_run, a);
        httpd_route(a->host.httpd, below, HTTPD_POST, ag_ui_endpoint_on_run, a);
    }
}
