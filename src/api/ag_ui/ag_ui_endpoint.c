/* SPDX-License-Identifier: MIT
 * Owns POST /ag-ui: a run that an AG-UI client asks for, begun or found again, and written as
 * AG-UI's events for as long as the client listens.
 *
 * A turn that asks people ends the run of a client that may answer, with an interrupt, and goes on
 * waiting; the run that brings the answers tells the rest of it. Its writer sees all that the runs
 * before were told, so that ids fit together. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/ag_ui/ag_ui_resume.h"
#include "api/ag_ui/ag_ui_run_input.h"
#include "api/ag_ui/ag_ui_runs.h"
#include "api/shared/api_internal.h"
#include "api/shared/past_turns.h"
#include "api/turns/turn_api.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/uuid.h"
#include "core/conversation/prompt.h"
#include "core/settings/visibility_command.h"
#include "dialect/writer/writer.h"

#define PATH "/ag-ui"
#define SOURCE CONVERSATIONS_AG_UI
#define GATHER_MS 100 /* what an agent asks at the same time is one interrupt */

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

    bool may_answer; /* then it is interrupted by what the turn asks */
    char *scope;     /* the turn's first run; NULL: this one */
    uint64_t after, until, told;
    struct tool_set open; /* that were told, and have choices */
    struct loop_timer *gather;
    struct feed *feed;
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
    tool_set_fini(&run->open);
    free(run->scope);
    loop_timer_free(run->gather);
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

/* What its client may not answer is none of its interrupts: it is asked elsewhere, or of somebody
 * else, and the run goes on. */
static bool is_barred(const struct run *run, const struct event *ev, struct event *told)
{
    const struct principal p = {run->principal, run->may_answer ? CONF_ANSWER : 0};
    return asked_tell(run->api->host.requests, &p, run->turn, ev, told);
}

static void write_told(struct run *run, struct buf *out, const struct event *ev)
{
    struct event told;
    if (!is_barred(run, ev, &told)) {
        write_event(run, out, ev);
        return;
    }
    told.u.request.choices = NULL;
    told.u.request.blocking = false;
    write_event(run, out, &told);
}

/* Nothing but this: no request. */
static void write_suspended(struct run *run, struct buf *out)
{
    struct event ev;
    event_init(&ev, TC_DONE);
    ev.u.done.reason = "suspended";
    writing_event(&run->writing, out, &ev);
}

/* ---- what the turn asks ---- */

static void note_request(struct run *run, const struct event *ev)
{
    const struct tc_request *const r = &ev->u.request;
    struct event told;
    tool_set_take(&run->open, r->request_id);
    if (strcmp(r->state, "open") == 0 && r->choices && !is_barred(run, ev, &told))
        tool_set_add(&run->open, r->request_id, NULL);
}

/* That somebody else may have answered by now. */
static bool is_asked(const struct run *run)
{
    struct requests_view v;
    for (size_t i = 0; i < run->open.n; i++)
        if (asked_find(run->api->host.requests, run->turn, run->open.ids[i], &v))
            return true;
    return false;
}

static struct ag_ui_leg *leg_of(const struct run *run)
{
    struct ag_ui_legs *const legs = run->api->legs;
    struct ag_ui_leg *const known = ag_ui_legs_find(legs, run->conversation, run->in.run);
    return known ? known
                 : ag_ui_legs_add(legs, run->conversation, run->in.run, run->turn, run->in.run, 0);
}

static void on_gathered(void *arg)
{
    struct run *const run = arg;
    if (!is_asked(run))
        return;
    if (!feed_is_even(run->feed)) {
        loop_timer_set(run->gather, GATHER_MS);
        return;
    }
    struct ag_ui_leg *const leg = leg_of(run);
    if (!leg->until)
        ag_ui_leg_interrupt(leg, run->told, &run->open);
    run->until = run->told;
    feed_finish(run->feed);
}

static void add_event(void *ctx, struct buf *out, const struct turnlog_item *item)
{
    struct run *const run = ctx;
    const struct event *const ev = event_box_get(item->box);
    run->told = item->seq;
    write_told(run, out, ev);
    if (ev->kind != TC_REQUEST)
        return;
    note_request(run, ev);
    if (run->open.n && !run->until)
        loop_timer_set(run->gather, GATHER_MS);
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
    if (run->until)
        write_suspended(run, out);
    else if (turns_is_dismissed(run->api, t))
        write_error(run, out, "host_shutdown", TURNS_DISMISSED);
    else if (t && t->state == TURNLOG_CANCELLED)
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

/* All that such a run says. */
static void answer_whole(struct run *run, const struct buf *out)
{
    struct httpd_stream *const stream = reply_stream(run->request, NULL, 0);
    httpd_stream_write(stream, (struct str){out->p, out->len});
    httpd_stream_end(stream);
    free_run(run);
}

static void answer_error(struct run *run, const char *code, const char *message)
{
    CLEANUP_BUF struct buf out = {0};
    write_error(run, &out, code, message);
    answer_whole(run, &out);
}

static void answer_switches(struct run *run, const struct toggle *t)
{
    CLEANUP_BUF struct buf text = {0}, out = {0};
    struct event ev;
    visibility_json(&text, t->visibility);
    event_init(&ev, TC_FINAL);
    ev.u.final.text = text.p;
    ev.u.final.text_len = text.len;
    write_event(run, &out, &ev);
    write_done(run, &out, "completed");
    answer_whole(run, &out);
}

/* ---- following the turn ---- */

static void ignore(void *ctx)
{
    (void)ctx;
}

/* To the writer alone: what the runs before this one were told, with their ends. */
static void retell(struct run *run)
{
    struct api *const a = run->api;
    CLEANUP_BUF struct buf unread = {0};
    struct turnlog_item item;
    enum turnlog_step step;
    struct turnlog_follower *const f =
        turnlog_follow(a->host.turnlog, run->turn, 0, a->conf->http.sees_all, ignore, NULL);
    uint64_t cut = ag_ui_legs_next_cut(a->legs, run->turn, 0);
    do {
        step = turnlog_next(f, &item);
        const uint64_t at = step == TURNLOG_EVENT ? item.seq : step == TURNLOG_GAP ? item.to : 0;
        for (; cut && cut <= run->after && (!at || at > cut);
             cut = ag_ui_legs_next_cut(a->legs, run->turn, cut))
            write_suspended(run, &unread);
        if (at > run->after)
            break;
        if (step == TURNLOG_EVENT)
            write_told(run, &unread, event_box_get(item.box));
        buf_reset(&unread);
    } while (step == TURNLOG_EVENT || step == TURNLOG_GAP);
    turnlog_unfollow(f);
}

static void follow(struct run *run)
{
    struct api *const a = run->api;
    const struct feed_spec spec = {
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
    run->gather = loop_timer_new(a->host.loop, on_gathered, run);
    run->feed = feed_start(a, &spec, reply_stream(run->request, NULL, 0));
}

/* The run of a leg, which may have been told before. */
static void follow_leg(struct run *run, const struct ag_ui_leg *leg)
{
    CLEANUP_BUF struct buf out = {0};
    struct event ev;
    snprintf(run->turn, sizeof run->turn, "%s", leg->turn);
    run->after = leg->after;
    run->until = leg->until;
    if (!run->after) {
        follow(run);
        return;
    }
    run->scope = xstrdup(leg->scope);
    run->writing.conf.scope = run->scope;
    retell(run);
    event_init(&ev, TC_START);
    write_event(run, &out, &ev);
    follow(run);
    feed_write(run->feed, (struct str){out.p, out.len});
}

static void resume(struct run *run, const struct principal *p)
{
    struct ag_ui_legs *const legs = run->api->legs;
    struct ag_ui_resume_refusal why = {0};
    const struct ag_ui_leg *const leg =
        ag_ui_resume(run->api, legs, p, run->conversation, run->in.resume, &why);
    if (leg)
        follow_leg(run, ag_ui_legs_add(legs, run->conversation, run->in.run, leg->turn, leg->scope,
                                       leg->until));
    else
        answer_error(run, why.code, why.message.p);
    buf_fini(&why.message);
}

/* ---- the turn ---- */

struct past_run {
    struct run *run;
    struct buf out;
};

static void add_past(void *ctx, const struct event *ev)
{
    struct past_run *const p = ctx;
    write_event(p->run, &p->out, ev);
}

/* The same run again, whose turn is over and not in the turn log any more. */
static void on_known(void *ctx, const struct record_turn *turn)
{
    struct past_run p = {.run = ctx};
    if (!turn) {
        turns_refuse(p.run->request, &(struct conversations_result){.accepted = TC_KNOWN});
        free_run(p.run);
        return;
    }
    past_tell(turn, add_past, &p);
    answer_whole(p.run, &p.out);
    buf_fini(&p.out);
}

static void on_submitted(void *ctx, const struct conversations_result *answer)
{
    const char *const turn = answer->turn;
    struct run *const run = ctx;
    struct api *const a = run->api;
    const struct turnlog_turn *const t = turn ? turnlog_find(a->host.turnlog, turn) : NULL;
    if (!t && answer->accepted == TC_KNOWN && turn) {
        past_find(a->past, turn, &(struct principal){run->principal, 0}, on_known, run);
        return;
    }
    if (!t) {
        turns_refuse(run->request, answer);
        free_run(run);
        return;
    }
    snprintf(run->turn, sizeof run->turn, "%s", t->spec.id);
    follow(run);
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
    if (t->why) {
        answer_error(run, "visibility_not_stored", t->why);
        return;
    }
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
        .follows = run->in.follows,
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
    run->may_answer = p->grants & CONF_ANSWER;
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

static void begin_turn(struct run *run)
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

/* A run that is known is told again; a thread that waits for answers takes nothing else. */
static void begin(struct run *run, const struct principal *p)
{
    struct api *const a = run->api;
    const struct ag_ui_leg *const known = ag_ui_legs_find(a->legs, run->conversation, run->in.run);
    const struct ag_ui_leg *const last = ag_ui_legs_last(a->legs, run->conversation);
    if (known) {
        follow_leg(run, known);
    } else if (run->in.resume && !run->may_answer) {
        reply_error(run->request, 403, "not_granted", "this key is not granted that");
        free_run(run);
    } else if (run->in.resume) {
        resume(run, p);
    } else if (last && ag_ui_leg_waits(last, a->host.requests)) {
        answer_error(run, "interrupted", "this thread waits for answers: say them in resume");
    } else {
        begin_turn(run);
    }
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
        begin(run, p);
}

void ag_ui_route(struct api *a)
{
    a->legs = ag_ui_legs_new(a->host.turnlog);
    httpd_route(a->host.httpd, PATH, HTTPD_POST, on_run, a);
    httpd_route(a->host.httpd, PATH "/", HTTPD_POST, on_run, a);
}
