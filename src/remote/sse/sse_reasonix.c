/* SPDX-License-Identifier: MIT
 * Service reasonix: `reasonix serve`, and its fork ok. The server has one session and one stream
 * for all clients, without IDs: events sent while nobody reads are lost. So the stream is opened
 * before the message is sent, and an interruption ends the turn. A turn without a session begins a
 * new one on the server. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/sys/uuid.h"
#include "dialect/reader/value.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"
#include "remote/sse/sse_run.h"

#define REFUSAL "covenant violation: "

struct sse_reasonix {
    char *input;       /* JSON of POST /submit */
    char session[37];  /* session name: only identifies the conversation */
    bool continues;    /* an earlier turn has started the session */
    bool has_begun;    /* the stream was opened before the message was sent */
    bool is_submitted; /* events now belong to the turn */
    bool is_refused;   /* a turn_done that precedes another one was read */
};

static void sse_reasonix_post(struct sse_run *r, const char *path, const char *body, unsigned flags,
                              void (*done)(struct sse_run *r, const struct sse_reply *reply))
{
    sse_run_call(r, "POST", path, body, NULL, flags, done);
}

/* ---- the turn ---- */

static void sse_reasonix_prompt(struct sse_run *r, const char *text, const char *session)
{
    struct sse_reasonix *const s = sse_run_state(r);
    struct buf body = {0};
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "input", text);
    buf_add_char(&body, '}');
    s->input = buf_steal(&body);
    s->continues = session && strlen(session) < sizeof s->session;
    if (s->continues)
        memcpy(s->session, session, strlen(session) + 1);
    else
        uuid_make(s->session);
    sse_run_open_events(r, "/events", (struct event_source_spec){.method = "GET", .beats = true});
}

static void sse_reasonix_on_submitted(struct sse_run *r, const struct sse_reply *reply)
{
    if (!reply->ok)
        sse_run_fail_call(r, "cannot start a turn", reply);
    else if (reply->status != 202)
        sse_run_fail(r, "remote_invalid", "POST /submit did not start a turn (HTTP %d)",
                     reply->status);
}

static void sse_reasonix_submit(struct sse_run *r)
{
    struct sse_reasonix *const s = sse_run_state(r);
    if (sse_run_is_cancelled(r)) {
        sse_run_end(r);
        return;
    }
    sse_run_write_open(r, "reasonix", s->session);
    s->is_submitted = true; /* events may arrive before the response */
    sse_reasonix_post(r, "/submit", s->input, 0, sse_reasonix_on_submitted);
}

static void sse_reasonix_on_new(struct sse_run *r, const struct sse_reply *reply)
{
    if (reply->ok)
        sse_reasonix_submit(r);
    else
        sse_run_fail_call(r, "cannot begin a session", reply);
}

/* Servers without this path cannot report whether they are busy. */
static void sse_reasonix_on_status(struct sse_run *r, const struct sse_reply *reply)
{
    const struct sse_reasonix *const s = sse_run_state(r);
    struct str running = {0};
    const struct value_row rows[] = {{"running", &running}};
    const bool told =
        reply->ok && value_parse_line(reply->body.p, reply->body.len, VALUE_ROWS(rows)) == 0;
    if (!reply->ok && reply->status != 404 && reply->status != 405)
        sse_run_fail_call(r, "cannot read the status", reply);
    else if (told && value_is_true(running))
        sse_run_fail(r, "remote_refused", "the session of the server is busy with another turn");
    else if (s->continues)
        sse_reasonix_submit(r);
    else
        sse_reasonix_post(r, "/new", "{}", SSE_REPEATABLE, sse_reasonix_on_new);
}

static void sse_reasonix_opened(void *ctx)
{
    struct sse_reasonix *const s = sse_run_state(ctx);
    if (s->has_begun)
        return;
    s->has_begun = true;
    sse_run_call(ctx, "GET", "/status", NULL, NULL, SSE_REPEATABLE, sse_reasonix_on_status);
}

/* ---- events ---- */

static void sse_reasonix_report_request(struct sse_run *r, struct str object, bool question)
{
    struct arena a = {0};
    const char *const id = value_text(&a, value_get_last(object, "id"), NULL);
    if (id)
        sse_run_write_request(r, id, question, false);
    arena_fini(&a);
}

/* ok writes a refusal as two events turn_done. */
static bool sse_reasonix_is_end(struct sse_reasonix *s, struct str err)
{
    const struct str text = value_string(err);
    const bool refusal = text.p && str_has_prefix(text, STR(REFUSAL));
    const bool ends = !refusal || s->is_refused;
    s->is_refused = true;
    return ends;
}

static void sse_reasonix_frame(void *ctx, const struct sse_event *frame)
{
    struct sse_run *const r = ctx;
    struct sse_reasonix *const s = sse_run_state(r);
    struct str kind = {0}, approval = {0}, ask = {0}, err = {0};
    const struct value_row rows[] = {
        {"kind", &kind}, {"approval", &approval}, {"ask", &ask}, {"err", &err}};
    if (!s->is_submitted)
        return; /* event of an earlier turn */
    const bool valid = value_parse_line(frame->data, frame->len, VALUE_ROWS(rows)) == 0;
    const bool ends = valid && value_equals(kind, "turn_done") && sse_reasonix_is_end(s, err);
    if (valid && value_equals(kind, "approval_request"))
        sse_reasonix_report_request(r, approval, false);
    else if (valid && value_equals(kind, "ask_request"))
        sse_reasonix_report_request(r, ask, true);
    /* A cancelled turn ends like any other; the host knows that it was cancelled. */
    if (!ends || err.p || !sse_run_is_cancelled(r))
        sse_run_write_data(r, frame->data, frame->len);
    if (ends)
        sse_run_end(r);
}

static void sse_reasonix_closed(void *ctx, const struct event_source_closed *closed)
{
    const struct sse_reasonix *const s = sse_run_state(ctx);
    if (s->is_submitted && !sse_run_is_cancelled(ctx))
        sse_reasonix_post(ctx, "/cancel", "{}", 0, sse_run_ignore);
    sse_run_fail_closed(ctx, closed);
}

/* ---- decisions ---- */

static void sse_reasonix_cancel(struct sse_run *r)
{
    const struct sse_reasonix *const s = sse_run_state(r);
    if (s->is_submitted)
        sse_reasonix_post(r, "/cancel", "{}", SSE_REPEATABLE, sse_run_ignore);
    else
        sse_run_end(r);
}

static void sse_reasonix_approve(struct sse_run *r, const struct remote_answer *answer)
{
    CLEANUP_BUF struct buf body = {0};
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "id", answer->id);
    jsonw_member_bool(&body, "allow", answer->decision == REMOTE_ALLOW);
    jsonw_member_bool(&body, "session", answer->decision == REMOTE_ALLOW && answer->remember);
    buf_add_char(&body, '}');
    sse_reasonix_post(r, "/approve", body.p, SSE_REPEATABLE, NULL);
}

/* Converts {"Q":"label","P":["a","b"]} to [{"questionId":"Q","selected":["label"]},…]. */
static void sse_reasonix_add_answers(struct buf *out, const char *answers)
{
    struct json j;
    struct str key, value;
    bool first = true;
    json_init(&j, answers, strlen(answers));
    json_reader_enter_object(&j);
    while (json_reader_next_key(&j, &key)) {
        json_reader_skip(&j, &value);
        const bool list = value.len && *value.p == '[';
        buf_printf(out, "%s{\"questionId\":\"%.*s\",\"selected\":%s%.*s%s}", first ? "" : ",",
                   (int)key.len, key.p, list ? "" : "[", (int)value.len, value.p, list ? "" : "]");
        first = false;
    }
}

/* Without answers, sends an empty selection. */
static void sse_reasonix_answer_question(struct sse_run *r, const struct remote_answer *answer)
{
    CLEANUP_BUF struct buf body = {0};
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "id", answer->id);
    buf_add_str(&body, ",\"answers\":[");
    if (answer->answers)
        sse_reasonix_add_answers(&body, answer->answers);
    buf_add_str(&body, "]}");
    sse_reasonix_post(r, "/answer", body.p, SSE_REPEATABLE, NULL);
}

static void sse_reasonix_answer(struct sse_run *r, const struct remote_answer *answer)
{
    if (answer->question)
        sse_reasonix_answer_question(r, answer);
    else
        sse_reasonix_approve(r, answer);
    if (answer->interrupt && !sse_run_is_cancelled(r))
        sse_reasonix_post(r, "/cancel", "{}", SSE_REPEATABLE, sse_run_ignore);
}

static void sse_reasonix_close(void *state)
{
    struct sse_reasonix *const s = state;
    free(s->input);
}

const struct sse_service sse_reasonix = {
    .name = "reasonix",
    .probe = "/status",
    .state_size = sizeof(struct sse_reasonix),
    .prompt = sse_reasonix_prompt,
    .answer = sse_reasonix_answer,
    .cancel = sse_reasonix_cancel,
    .events = {.opened = sse_reasonix_opened,
               .frame = sse_reasonix_frame,
               .closed = sse_reasonix_closed},
    .close = sse_reasonix_close,
};
