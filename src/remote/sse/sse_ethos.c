/* SPDX-License-Identifier: MIT
 * Service ethos: the web API of Ethos, procedures of oRPC below /rpc/ and the event stream of a
 * session. A new session gets its message first, and its stream is read from the beginning. The
 * stream of an existing session begins with stored events of earlier turns: the stream is opened
 * first, and events received before the message is sent are skipped. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/sys/uuid.h"
#include "dialect/reader/value.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"
#include "remote/sse/sse_run.h"

#define ID_MAX 128

struct sse_ethos {
    char *text; /* the prompt of the turn */
    char session[ID_MAX + 1];
    char client[37];
    bool has_begun; /* the stream was opened before the message was sent */
    bool is_sent;   /* events now belong to the turn */
};

/* Excludes other characters, because IDs are part of paths. */
static bool sse_ethos_is_id(const char *id)
{
    const size_t len = id ? strlen(id) : 0;
    return len > 0 && len <= ID_MAX &&
           strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

/* Begins the input of a procedure; sse_ethos_call completes it. */
static void sse_ethos_begin(struct buf *body)
{
    buf_add_str(body, "{\"json\":{");
}

static void sse_ethos_call(struct sse_run *r, const char *path, struct buf *body, unsigned flags,
                           void (*done)(struct sse_run *r, const struct sse_reply *reply))
{
    buf_add_str(body, "}}");
    sse_run_call(r, "POST", path, body->p, NULL, flags, done);
}

/* ---- the turn ---- */

static void sse_ethos_open_events(struct sse_run *r)
{
    const struct sse_ethos *const s = sse_run_state(r);
    CLEANUP_BUF struct buf path = {0};
    buf_printf(&path, "/sse/sessions/%s", s->session);
    sse_run_open_events(
        r, path.p, (struct event_source_spec){.method = "GET", .resumes = true, .numbered = true});
}

static void sse_ethos_abort(struct sse_run *r,
                            void (*done)(struct sse_run *r, const struct sse_reply *reply))
{
    const struct sse_ethos *const s = sse_run_state(r);
    CLEANUP_BUF struct buf body = {0};
    sse_ethos_begin(&body);
    jsonw_member_str(&body, "sessionId", s->session);
    sse_ethos_call(r, "/rpc/chat/abort", &body, SSE_REPEATABLE, done);
}

/* The stream does not report the failure. */
static void sse_ethos_on_aborted(struct sse_run *r, const struct sse_reply *reply)
{
    (void)reply;
    sse_run_end(r);
}

static void sse_ethos_on_sent(struct sse_run *r, const struct sse_reply *reply)
{
    struct sse_ethos *const s = sse_run_state(r);
    struct str output = {0};
    struct arena a = {0};
    const struct value_row rows[] = {{"json", &output}};
    const bool valid =
        reply->ok && value_parse_line(reply->body.p, reply->body.len, VALUE_ROWS(rows)) == 0;
    const char *const id = valid ? value_text(&a, value_get_last(output, "sessionId"), NULL) : NULL;
    if (!reply->ok) {
        sse_run_fail_call(r, "cannot send the message", reply);
    } else if (!sse_ethos_is_id(id)) {
        sse_run_fail(r, "remote_invalid", "the response to chat.send contains no session");
    } else if (!s->has_begun) {
        memcpy(s->session, id, strlen(id) + 1);
        sse_run_write_open(r, "ethos-web", s->session);
        sse_ethos_open_events(r);
    }
    if (sse_run_is_cancelled(r))
        sse_ethos_abort(r, sse_ethos_on_aborted);
    arena_fini(&a);
}

static void sse_ethos_send(struct sse_run *r)
{
    struct sse_ethos *const s = sse_run_state(r);
    CLEANUP_BUF struct buf body = {0};
    sse_ethos_begin(&body);
    jsonw_member_str(&body, "sessionId", *s->session ? s->session : NULL);
    jsonw_member_str(&body, "clientId", s->client);
    jsonw_member_str(&body, "text", s->text);
    jsonw_member_str(&body, "personalityId", sse_run_setting(r, "remote_agent"));
    s->is_sent = true;
    sse_ethos_call(r, "/rpc/chat/send", &body, 0, sse_ethos_on_sent);
}

static void sse_ethos_prompt(struct sse_run *r, const char *text, const char *session)
{
    struct sse_ethos *const s = sse_run_state(r);
    struct buf copy = {0};
    buf_add_str(&copy, text);
    s->text = buf_steal(&copy);
    uuid_make(s->client);
    if (!sse_ethos_is_id(session)) {
        sse_ethos_send(r);
        return;
    }
    memcpy(s->session, session, strlen(session) + 1);
    sse_ethos_open_events(r);
}

/* Stored events of earlier turns arrive while this request is answered. */
static void sse_ethos_on_session(struct sse_run *r, const struct sse_reply *reply)
{
    struct sse_ethos *const s = sse_run_state(r);
    if (sse_run_is_cancelled(r)) {
        sse_run_end(r);
        return;
    }
    if (!reply->ok && reply->status != 404) {
        sse_run_fail_call(r, "cannot read the session", reply);
        return;
    }
    if (reply->ok) {
        sse_run_write_open(r, "ethos-web", s->session);
    } else { /* the session was deleted: creates another one and opens its stream */
        s->session[0] = '\0';
        s->has_begun = false;
    }
    sse_ethos_send(r);
}

static void sse_ethos_opened(void *ctx)
{
    struct sse_ethos *const s = sse_run_state(ctx);
    if (s->has_begun || s->is_sent)
        return;
    CLEANUP_BUF struct buf body = {0};
    s->has_begun = true;
    sse_ethos_begin(&body);
    jsonw_member_str(&body, "id", s->session);
    sse_ethos_call(ctx, "/rpc/sessions/get", &body, SSE_REPEATABLE, sse_ethos_on_session);
}

/* ---- events ---- */

static void sse_ethos_handle_request(struct sse_run *r, struct str type, struct str event)
{
    struct arena a = {0};
    const bool approval = value_equals(type, "tool.approval_required");
    const struct str request = approval ? value_get_last(event, "request") : event;
    const bool of_tool = approval || value_equals(type, "approval.resolved");
    const char *const id =
        value_text(&a, value_get_last(request, of_tool ? "approvalId" : "requestId"), NULL);
    if (id && (approval || value_equals(type, "clarify.request")))
        sse_run_write_request(r, id, !approval, false);
    else if (id && (of_tool || value_equals(type, "clarify.resolved")))
        sse_run_write_settled(r, id);
    arena_fini(&a);
}

static void sse_ethos_frame(void *ctx, const struct sse_event *frame)
{
    struct sse_run *const r = ctx;
    const struct sse_ethos *const s = sse_run_state(r);
    const struct str event = {frame->data, frame->len};
    struct str type = {0};
    const struct value_row rows[] = {{"type", &type}};
    if (!s->is_sent)
        return; /* event of an earlier turn */
    const bool valid = value_parse_line(event.p, event.len, VALUE_ROWS(rows)) == 0;
    if (valid && !value_equals(type, "stream_meta"))
        sse_ethos_handle_request(r, type, event);
    sse_run_write_data(r, event.p, event.len);
    if (valid && (value_equals(type, "done") || value_equals(type, "error")))
        sse_run_end(r);
}

static void sse_ethos_closed(void *ctx, const struct event_source_closed *closed)
{
    const struct sse_ethos *const s = sse_run_state(ctx);
    if (closed->how == EVENT_SOURCE_EOF) {
        sse_run_reopen_events(ctx);
        return;
    }
    if (s->is_sent && !sse_run_is_cancelled(ctx))
        sse_ethos_abort(ctx, sse_run_ignore);
    sse_run_fail_closed(ctx, closed);
}

/* ---- decisions ---- */

/* The answer to a single question: a text, or the selected options with commas. */
static void sse_ethos_add_answer(struct buf *body, const char *answers)
{
    struct arena a = {0};
    struct json j;
    struct str key, value = {0};
    json_init(&j, answers ? answers : "{}", answers ? strlen(answers) : 2);
    json_reader_enter_object(&j);
    if (json_reader_next_key(&j, &key))
        json_reader_skip(&j, &value);
    const bool list = value.len && *value.p == '[';
    const char *const text =
        list ? value_join_texts(&a, value, ", ", NULL) : value_text(&a, value, NULL);
    jsonw_member_str(body, "answer", text ? text : "");
    arena_fini(&a);
}

static void sse_ethos_answer(struct sse_run *r, const struct remote_answer *answer)
{
    const struct sse_ethos *const s = sse_run_state(r);
    const bool denies = answer->decision == REMOTE_DENY;
    CLEANUP_BUF struct buf body = {0};
    sse_ethos_begin(&body);
    jsonw_member_str(&body, answer->question ? "requestId" : "approvalId", answer->id);
    if (answer->question) {
        sse_ethos_add_answer(&body, answer->answers);
        jsonw_member_str(&body, "source", denies ? "cancel" : "user");
        sse_ethos_call(r, "/rpc/clarify/respond", &body, SSE_REPEATABLE, NULL);
    } else {
        jsonw_member_str(&body, "clientId", s->client);
        jsonw_member_str(&body, denies ? "reason" : "scope",
                         denies             ? answer->reason
                         : answer->remember ? "exact-args"
                                            : "once");
        sse_ethos_call(r, denies ? "/rpc/tools/deny" : "/rpc/tools/approve", &body, SSE_REPEATABLE,
                       NULL);
    }
    if (answer->interrupt && !sse_run_is_cancelled(r))
        sse_ethos_abort(r, sse_ethos_on_aborted);
}

/* The session is not known yet: see sse_ethos_on_sent. */
static void sse_ethos_cancel(struct sse_run *r)
{
    const struct sse_ethos *const s = sse_run_state(r);
    if (s->is_sent && *s->session)
        sse_ethos_abort(r, sse_ethos_on_aborted);
    else if (!s->is_sent)
        sse_run_end(r);
}

static void sse_ethos_close(void *state)
{
    struct sse_ethos *const s = state;
    free(s->text);
}

const struct sse_service sse_ethos = {
    .name = "ethos",
    .probe = "/rpc/sessions/list",
    .probe_body = "{\"json\":{\"limit\":1}}",
    .state_size = sizeof(struct sse_ethos),
    .prompt = sse_ethos_prompt,
    .answer = sse_ethos_answer,
    .cancel = sse_ethos_cancel,
    .events = {.opened = sse_ethos_opened, .frame = sse_ethos_frame, .closed = sse_ethos_closed},
    .close = sse_ethos_close,
};
