/* SPDX-License-Identifier: MIT
 * Owns POST /ag-ui: a run that an AG-UI client asks for, begun or found again, and written as
 * AG-UI's events for as long as the client listens. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/ag_ui_input.h"
#include "api/api_impl.h"
#include "api/turns.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/prompt.h"
#include "core/toggle.h"
#include "core/uuid.h"
#include "dialect/writer.h"

#define PATH "/ag-ui"
#define SOURCE "ag-ui"

struct run {
    struct api *api;
    struct httpd_request *request; /* until it is answered */
    json_t *body;                  /* what `in` borrows from */
    struct ag_ui_input in;
    char *principal, *conversation, *key;
    const struct conf *conf; /* of the agent: it is kept */
    const struct conf_agent *agent;
    struct buf prompt, first;
    char turn[37];
    struct writing writing;
    bool done; /* its end is written */
};

static void free_run(struct run *run)
{
    writing_fini(&run->writing);
    ag_ui_input_fini(&run->in);
    json_decref(run->body);
    buf_fini(&run->prompt);
    buf_fini(&run->first);
    free(run->principal);
    free(run->conversation);
    free(run->key);
    conf_unref(run->conf);
    free(run);
}

/* ---- what is written ---- */

static void write_event(struct run *run, struct buf *out, const struct event *ev)
{
    run->done |= ev->kind == TC_DONE;
    writing_event(&run->writing, out, ev);
}

static void write_done(struct run *run, struct buf *out, const char *reason)
{
    struct event ev;
    event_init(&ev, TC_DONE);
    ev.u.done.reason = reason;
    write_event(run, out, &ev);
}

static void write_error(struct run *run, struct buf *out, const char *code, const char *message)
{
    struct event ev;
    event_init(&ev, TC_ERROR);
    ev.u.error.code = code;
    ev.u.error.message = message;
    write_event(run, out, &ev);
    write_done(run, out, "error");
}

static void add_event(void *ctx, struct buf *out, const struct turnlog_item *item)
{
    write_event(ctx, out, event_box_get(item->box));
}

static void add_gap(void *ctx, struct buf *out, const struct turnlog_item *item)
{
    struct event ev;
    (void)item;
    event_init_notice(&ev, "warning", "gap", "what was said before is not kept any more");
    write_event(ctx, out, &ev);
}

/* A turn that was taken back, or forgotten, said nothing of its end. */
static void add_end(void *ctx, struct buf *out)
{
    struct run *const run = ctx;
    const struct turnlog_turn *const t = turnlog_find(run->api->host.turnlog, run->turn);
    if (run->done)
        return;
    if (t && t->state == TURNLOG_CANCELLED)
        write_done(run, out, "cancelled");
    else
        write_error(run, out, "lost", "the turn's end is not known");
}

static void on_closed(void *ctx, bool left)
{
    (void)left;
    free_run(ctx);
}

static const struct feed_ops ops = {
    .event = add_event, .gap = add_gap, .over = add_end, .closed = on_closed};

/* The switches, as all that such a run says. */
static void answer_switches(struct run *run, const struct toggle *t)
{
    CLEANUP_BUF struct buf text = {0}, out = {0};
    struct event ev;
    visibility_json(&text, t->visibility);
    if (t->saved == STICKY_FAILED)
        buf_add_str(&text, " (not stored)");
    event_init(&ev, TC_FINAL);
    ev.u.final.text = text.p;
    ev.u.final.text_len = text.len;
    write_event(run, &out, &ev);
    write_done(run, &out, "completed");
    struct httpd_stream *const stream = httpd_stream(run->request, 200, REPLY_SSE, NULL, 0);
    httpd_stream_write(stream, (struct str){out.p, out.len});
    httpd_stream_end(stream);
    free_run(run);
}

/* ---- the turn ---- */

static void on_submitted(void *ctx, enum tc_accepted accepted, const char *turn, const char *text)
{
    struct run *const run = ctx;
    struct api *const a = run->api;
    const struct turnlog_turn *const t = turn ? turnlog_find(a->host.turnlog, turn) : NULL;
    if (!t) {
        turns_refuse(run->request, accepted, text);
        free_run(run);
        return;
    }
    snprintf(run->turn, sizeof run->turn, "%s", t->spec.id);
    const struct feed_spec spec = {
        .ops = &ops,
        .ctx = run,
        .turn = run->turn,
        .principal = run->principal,
        .sees_all = a->conf->http.sees_all,
        .awaits = true,
    };
    feed_start(a, &spec, httpd_stream(run->request, 200, REPLY_SSE, NULL, 0));
}

static void add_context(const struct run *run, struct buf *prompt)
{
    if (run->in.context.len)
        prompt_join(prompt, (struct str){run->in.context.p, run->in.context.len});
}

/* Of one agent as long as something waits or runs in it. */
static bool is_of_another(const struct run *run)
{
    const struct conversation *const c =
        conversations_find(run->api->host.conversations, run->conversation);
    return c && strcmp(c->agent->name, run->agent->name) != 0;
}

static void on_toggled(void *ctx, const struct toggle *t)
{
    struct run *const run = ctx;
    if (t->empty) {
        answer_switches(run, t);
        return;
    }
    if (is_of_another(run)) {
        reply_error(run->request, 409, "thread_busy", "another agent answers in this thread now");
        free_run(run);
        return;
    }
    buf_add(&run->prompt, t->rest.p, t->rest.len);
    messages_flatten(&run->in.said, &run->first, t->rest);
    add_context(run, &run->prompt);
    add_context(run, &run->first);
    const struct conversations_message m = {
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
    };
    conversations_submit(run->api->host.conversations, &m, on_submitted, run);
}

/* Its body is the run's from now on, refused or not. */
static struct run *new_run(struct api *a, struct httpd_request *r, const struct principal *p,
                           json_t *body)
{
    struct run *const run = xcalloc(1, sizeof *run);
    struct ag_ui_refusal why;
    uuid_make(run->turn);
    run->api = a;
    run->request = r;
    run->body = body;
    const bool good = ag_ui_input_read(&run->in, body, &why);
    writing_init(&run->writing, writer_find("ag-ui"),
                 &(struct writer_conf){.framing = FRAMING_SSE,
                                       .protocol = run->in.protocol,
                                       .thread = run->in.thread,
                                       .run = run->in.run,
                                       .parent_run = run->in.parent});
    if (!good) {
        reply_error(r, why.status, why.code, why.message);
        free_run(run);
        return NULL;
    }
    run->principal = xstrdup(p->name);
    run->conversation = xasprintf(SOURCE ":%s:%s", p->name, run->in.thread);
    run->key = xasprintf("%s\n%s\n%s", p->name, run->in.thread, run->in.run);
    return run;
}

/* The path's agent before the one that the client passes on, before the default one. */
static const struct conf_agent *find_agent(const struct run *run)
{
    const char *const path = run->request->path;
    const char *const name = strlen(path) > sizeof PATH ? path + sizeof PATH : NULL;
    return conf_agent_find(run->api->conf, name ? name : run->in.agent);
}

static void begin(struct run *run)
{
    const struct messages *const said = &run->in.said;
    run->conf = conf_ref(run->api->conf);
    run->agent = find_agent(run);
    if (run->agent) {
        toggle_apply(run->api->host.switches, run->agent->name,
                     (struct str){said->last.p, said->last.len}, on_toggled, run);
        return;
    }
    reply_error(run->request, 404, "no_such_agent", "there is no such agent");
    free_run(run);
}

/* ---- the request ---- */

/* No header takes everything. */
static bool takes_events(const struct httpd_request *r)
{
    const char *const accept = httpd_header(r, "Accept");
    return !accept || strcasestr(accept, "text/event-stream") || strstr(accept, "*/*") ||
           strcasestr(accept, "text/*");
}

static void on_run(void *arg, struct httpd_request *r)
{
    struct api *const a = arg;
    const struct principal *const p = auth_demand(a->auth, r, CONF_SUBMIT);
    if (!p)
        return;
    if (!takes_events(r)) {
        reply_error(r, 406, "not_acceptable", "the answer is text/event-stream");
        return;
    }
    json_t *const body = reply_take_body(r);
    struct run *const run = body ? new_run(a, r, p, body) : NULL;
    if (run)
        begin(run);
}

void ag_ui_route(struct api *a)
{
    httpd_route(a->host.httpd, PATH, HTTPD_POST, on_run, a);
    httpd_route(a->host.httpd, PATH "/", HTTPD_POST, on_run, a);
}
