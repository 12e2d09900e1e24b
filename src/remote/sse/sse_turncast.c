/* SPDX-License-Identifier: MIT
 * Service turncast: the HTTP API of another host, see turncast-http(7). The session is the name of
 * the conversation there. The event stream is resumed behind the last event, so nothing is lost or
 * repeated while that host keeps the events; afterwards the outcome is read from the turn
 * itself. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/sys/uuid.h"
#include "dialect/reader/value.h"
#include "event/json/json_writer.h"
#include "remote/sse/sse_run.h"

#define TURN_MAX 64 /* length of a turn's ID */

struct sse_turncast {
    char conversation[129];  /* the session */
    char turn[TURN_MAX + 1]; /* "": not accepted yet */
};

/* Excludes other characters, because IDs are part of paths. */
static bool sse_turncast_is_id(const char *id)
{
    const size_t len = id ? strlen(id) : 0;
    return len > 0 && len <= TURN_MAX &&
           strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

static void sse_turncast_call(struct sse_run *r, const char *method, const char *end,
                              void (*done)(struct sse_run *r, const struct sse_reply *reply))
{
    const struct sse_turncast *const t = sse_run_state(r);
    CLEANUP_BUF struct buf path = {0};
    buf_printf(&path, "/turns/%s%s", t->turn, end);
    sse_run_call(r, method, path.p, NULL, NULL, SSE_REPEATABLE, done);
}

/* ---- the turn ---- */

static void sse_turncast_follow(struct sse_run *r, const char *turn)
{
    struct sse_turncast *const t = sse_run_state(r);
    memcpy(t->turn, turn, strlen(turn) + 1);
    CLEANUP_BUF struct buf path = {0};
    buf_printf(&path, "/turns/%s/events", turn);
    sse_run_open_events(r, path.p,
                        (struct event_source_spec){
                            .method = "GET", .resumes = true, .numbered = true, .beats = true});
}

static void sse_turncast_on_accepted(struct sse_run *r, const struct sse_reply *reply)
{
    struct sse_turncast *const t = sse_run_state(r);
    struct arena a = {0};
    struct str id = {0};
    const struct value_row rows[] = {{"id", &id}};
    if (!reply->ok) {
        sse_run_fail_call(r, "cannot start a turn", reply);
        return;
    }
    const bool valid = value_parse_line(reply->body.p, reply->body.len, VALUE_ROWS(rows)) == 0;
    const char *const turn = valid ? value_text(&a, id, NULL) : NULL;
    if (sse_turncast_is_id(turn)) {
        sse_run_write_open(r, "turncast", t->conversation);
        sse_turncast_follow(r, turn);
        if (sse_run_is_cancelled(r))
            sse_turncast_call(r, "POST", "/cancel", sse_run_ignore);
    } else {
        sse_run_fail(r, "remote_invalid", "the response to POST /turns contains no turn");
    }
    arena_fini(&a);
}

static void sse_turncast_prompt(struct sse_run *r, const char *text, const char *session)
{
    struct sse_turncast *const t = sse_run_state(r);
    CLEANUP_BUF struct buf body = {0};
    char key[37];
    uuid_make(key);
    if (session && strlen(session) < sizeof t->conversation)
        memcpy(t->conversation, session, strlen(session) + 1);
    else
        uuid_make(t->conversation);
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "prompt", text);
    jsonw_member_str(&body, "agent", sse_run_setting(r, "remote_agent"));
    jsonw_member_str(&body, "conversation", t->conversation);
    buf_add_char(&body, '}');
    sse_run_call(r, "POST", "/turns", body.p, key, SSE_REPEATABLE, sse_turncast_on_accepted);
}

/* ---- events ---- */

static void sse_turncast_handle_request(struct sse_run *r, struct str payload)
{
    struct str id = {0}, state = {0}, kind = {0}, choices = {0};
    struct arena a = {0};
    const struct value_row rows[] = {
        {"request_id", &id}, {"state", &state}, {"kind", &kind}, {"choices", &choices}};
    value_get_members(payload, VALUE_ROWS(rows));
    const char *const name = value_text(&a, id, NULL);
    if (name && !value_equals(state, "open"))
        sse_run_write_settled(r, name);
    else if (name && choices.p) /* absent: the API key may not answer */
        sse_run_write_request(r, name, !value_equals(kind, "approval"), true);
    arena_fini(&a);
}

static void sse_turncast_report_gap(struct sse_run *r, struct str data)
{
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "events %lld to %lld of the turn are no longer available",
               (long long)value_int(value_get_last(data, "from"), 0),
               (long long)value_int(value_get_last(data, "to"), 0));
    sse_run_write_notice(r, "remote_gap", text.p);
}

static void sse_turncast_frame(void *ctx, const struct sse_event *frame)
{
    struct sse_run *const r = ctx;
    struct str type = {0}, payload = {0};
    const struct str data = {frame->data, frame->len};
    const struct value_row rows[] = {{"type", &type}, {"payload", &payload}};
    const bool valid = value_parse_line(data.p, data.len, VALUE_ROWS(rows)) == 0;
    if (frame->event && strcmp(frame->event, "gap") == 0 && valid) {
        sse_turncast_report_gap(r, data);
        return;
    }
    if (frame->event && strcmp(frame->event, "message") != 0)
        return; /* the host shuts down; after its restart it may still have the turn */
    if (valid && value_equals(type, "request"))
        sse_turncast_handle_request(r, payload);
    sse_run_write_data(r, data.p, data.len);
    if (valid && value_equals(type, "done"))
        sse_run_end(r);
}

/* ---- a stream that ended without the end of the turn ---- */

static void sse_turncast_add_event(struct buf *out, const char *type, const char *key,
                                   const char *text, const char *code)
{
    CLEANUP_BUF struct buf line = {0};
    buf_printf(&line, "{\"type\":\"%s\",\"payload\":{", type);
    jsonw_member_str(&line, key, text ? text : "");
    jsonw_member_str(&line, "code", code);
    buf_add_str(&line, "}}\n");
    buf_add(out, line.p, line.len);
}

/* Reads the turn itself: writes its outcome if it has ended. */
static bool sse_turncast_report_outcome(struct sse_run *r, struct arena *a, struct str turn)
{
    CLEANUP_BUF struct buf lines = {0};
    const struct str state = value_get_last(turn, "state");
    const char *const answer = value_text(a, value_get_last(turn, "answer"), NULL);
    const char *const code = value_text(a, value_get_last(turn, "code"), NULL);
    const char *reason = "completed";
    if (value_equals(state, "error")) {
        const char *const error = value_text(a, value_get_last(turn, "error"), NULL);
        reason = "error";
        sse_turncast_add_event(&lines, "error", "message", error ? error : "the turn failed", code);
    } else if (value_equals(state, "final") || value_equals(state, "cancelled")) {
        reason = value_equals(state, "final") ? "completed" : "cancelled";
        if (answer && *answer)
            sse_turncast_add_event(&lines, "final", "text", answer, NULL);
    } else {
        return false;
    }
    sse_turncast_add_event(&lines, "done", "reason", reason, code);
    sse_run_write(r, &lines);
    sse_run_end(r);
    return true;
}

static void sse_turncast_on_turn(struct sse_run *r, const struct sse_reply *reply)
{
    const struct sse_turncast *const t = sse_run_state(r);
    const struct str turn = reply->body;
    struct arena a = {0};
    struct str id = {0};
    const struct value_row rows[] = {{"id", &id}};
    if (!reply->ok)
        sse_run_fail_call(r, "cannot read the turn", reply);
    else if (value_parse_line(turn.p, turn.len, VALUE_ROWS(rows)) < 0)
        sse_run_fail(r, "remote_invalid", "the response to GET /turns/%s contains no turn",
                     t->turn);
    else if (value_equals(value_get_last(turn, "state"), "merged") &&
             sse_turncast_is_id(value_text(&a, value_get_last(turn, "into"), NULL)))
        sse_turncast_follow(r, value_text(&a, value_get_last(turn, "into"), NULL));
    else if (!sse_turncast_report_outcome(r, &a, turn))
        sse_run_reopen_events(r);
    arena_fini(&a);
}

static void sse_turncast_closed(void *ctx, const struct event_source_closed *closed)
{
    const bool asks =
        closed->how == EVENT_SOURCE_EOF ||
        (closed->how == EVENT_SOURCE_REFUSED && closed->status != 401 && closed->status != 403);
    if (asks)
        sse_turncast_call(ctx, "GET", "", sse_turncast_on_turn);
    else
        sse_run_fail_closed(ctx, closed);
}

/* ---- decisions ---- */

static const char *sse_turncast_choice(const struct remote_answer *answer)
{
    if (answer->decision == REMOTE_DENY)
        return answer->interrupt ? "deny_stop" : "deny";
    if (answer->decision == REMOTE_ANSWERED)
        return "answer";
    return answer->remember ? "allow_session" : "allow";
}

/* Percent-encodes the request's ID, which an agent chose: it may contain any characters. */
static void sse_turncast_add_escaped(struct buf *out, const char *text)
{
    for (; *text; text++)
        if (strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") > 0)
            buf_add_char(out, *text);
        else
            buf_printf(out, "%%%02X", (unsigned char)*text);
}

static void sse_turncast_answer(struct sse_run *r, const struct remote_answer *answer)
{
    const struct sse_turncast *const t = sse_run_state(r);
    CLEANUP_BUF struct buf path = {0}, body = {0};
    buf_printf(&path, "/turns/%s/requests/", t->turn);
    sse_turncast_add_escaped(&path, answer->id);
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "choice", sse_turncast_choice(answer));
    jsonw_member_str(&body, "reason", answer->reason);
    jsonw_member_json(&body, "answers", answer->answers);
    jsonw_member_json(&body, "input", answer->args);
    buf_add_char(&body, '}');
    sse_run_call(r, "POST", path.p, body.p, NULL, SSE_REPEATABLE, NULL);
}

static void sse_turncast_cancel(struct sse_run *r)
{
    const struct sse_turncast *const t = sse_run_state(r);
    if (*t->turn) /* otherwise cancels when the ID is known */
        sse_turncast_call(r, "POST", "/cancel", sse_run_ignore);
}

const struct sse_service sse_turncast = {
    .name = "turncast",
    .probe = "/turns?limit=1",
    .state_size = sizeof(struct sse_turncast),
    .prompt = sse_turncast_prompt,
    .answer = sse_turncast_answer,
    .cancel = sse_turncast_cancel,
    .events = {.frame = sse_turncast_frame, .closed = sse_turncast_closed},
};
