/* SPDX-License-Identifier: MIT
 * Service awaken: POST /v1/runs of awaken-server, whose response is the event stream of the run,
 * without IDs: an interruption ends the turn. The session is the thread. A run that waits for
 * decisions finishes as "suspended" and continues in the same stream: this finish and the following
 * start are held back, so that both parts form one turn. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/sys/uuid.h"
#include "dialect/reader/value.h"
#include "event/json/json_writer.h"
#include "remote/sse/sse_run.h"

#define ID_MAX 128
#define WAITING_MAX 64

/* A suspended tool call: id of the request for people, and id of the call for decisions. */
struct sse_awaken_request {
    char *id, *call;
};

struct sse_awaken {
    char thread[ID_MAX + 1], run[ID_MAX + 1]; /* run "": unknown yet */
    struct sse_awaken_request waiting[WAITING_MAX];
    size_t n;
    struct buf finish; /* the held finish; empty: the run is not suspended */
    bool is_cancel_sent;
};

/* Excludes other characters, because IDs are part of paths. */
static bool sse_awaken_is_id(const char *id)
{
    const size_t len = id ? strlen(id) : 0;
    return len > 0 && len <= ID_MAX &&
           strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

static void sse_awaken_post(struct sse_run *r, const char *end, const char *body,
                            void (*done)(struct sse_run *r, const struct sse_reply *reply))
{
    const struct sse_awaken *const s = sse_run_state(r);
    CLEANUP_BUF struct buf path = {0};
    buf_printf(&path, "/v1/runs/%s/%s", s->run, end);
    sse_run_call(r, "POST", path.p, body, NULL, SSE_REPEATABLE, done);
}

/* ---- the run ---- */

static void sse_awaken_prompt(struct sse_run *r, const char *text, const char *session)
{
    struct sse_awaken *const s = sse_run_state(r);
    CLEANUP_BUF struct buf body = {0};
    if (sse_awaken_is_id(session))
        memcpy(s->thread, session, strlen(session) + 1);
    else
        uuid_make(s->thread);
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "agentId", sse_run_setting(r, "remote_agent"));
    jsonw_member_str(&body, "threadId", s->thread);
    buf_add_str(&body, ",\"messages\":[{\"role\":\"user\"");
    jsonw_member_str(&body, "content", text);
    buf_add_str(&body, "}]}");
    sse_run_open_events(r, "/v1/runs",
                        (struct event_source_spec){.method = "POST", .body = body.p});
}

static void sse_awaken_opened(void *ctx)
{
    const struct sse_awaken *const s = sse_run_state(ctx);
    sse_run_write_open(ctx, "awaken", s->thread);
}

static void sse_awaken_send_cancel(struct sse_run *r)
{
    struct sse_awaken *const s = sse_run_state(r);
    if (s->is_cancel_sent || !*s->run)
        return;
    s->is_cancel_sent = true;
    sse_awaken_post(r, "cancel", "{}", sse_run_ignore);
}

/* ---- requests ---- */

static void sse_awaken_remove_waiting(struct sse_awaken *s, size_t i)
{
    free(s->waiting[i].id);
    free(s->waiting[i].call);
    s->waiting[i] = s->waiting[--s->n];
}

static void sse_awaken_settle(struct sse_run *r, const char *call)
{
    struct sse_awaken *const s = sse_run_state(r);
    for (size_t i = s->n; i-- > 0;)
        if (strcmp(s->waiting[i].call, call) == 0) {
            sse_run_write_settled(r, s->waiting[i].id);
            sse_awaken_remove_waiting(s, i);
        }
}

/* As the dialect reads it: the request is named by its ticket, else by its call. */
static void sse_awaken_suspend(struct sse_run *r, struct arena *a, const char *call,
                               struct str result)
{
    struct sse_awaken *const s = sse_run_state(r);
    const struct str ticket = value_get_last(value_get_last(result, "suspension"), "suspension");
    const char *const named = value_text(a, value_get_last(ticket, "id"), NULL);
    const char *const action = value_text(a, value_get_last(ticket, "action"), NULL);
    const bool approval = action && (strstr(action, "approv") || strstr(action, "permission") ||
                                     strstr(action, "confirm"));
    sse_awaken_settle(r, call);
    if (s->n == WAITING_MAX)
        return;
    s->waiting[s->n++] = (struct sse_awaken_request){xstrdup(named ? named : call), xstrdup(call)};
    sse_run_write_request(r, named ? named : call, !approval, false);
}

static void sse_awaken_handle_result(struct sse_run *r, struct arena *a, struct str line)
{
    const char *const call = value_text(a, value_get_last(line, "id"), NULL);
    const struct str outcome = value_get_last(line, "outcome");
    const struct str result = value_get_last(line, "result");
    if (!call)
        return;
    if (value_equals(outcome, "suspended") ||
        value_equals(value_get_last(result, "status"), "pending"))
        sse_awaken_suspend(r, a, call, result);
    else
        sse_awaken_settle(r, call);
}

/* ---- events ---- */

/* False: the line is kept back. */
static bool sse_awaken_handle_start(struct sse_run *r, struct arena *a, struct str line)
{
    struct sse_awaken *const s = sse_run_state(r);
    const char *const run = value_text(a, value_get_last(line, "run_id"), NULL);
    const char *const thread = value_text(a, value_get_last(line, "thread_id"), NULL);
    const bool resumes = s->finish.len && thread && strcmp(thread, s->thread) == 0;
    if ((*s->run && !resumes) || !sse_awaken_is_id(run))
        return true; /* of a child */
    memcpy(s->run, run, strlen(run) + 1);
    buf_reset(&s->finish);
    if (sse_run_is_cancelled(r))
        sse_awaken_send_cancel(r);
    return !resumes;
}

/* False: the line is held back. */
static bool sse_awaken_handle_finish(struct sse_run *r, struct str line, bool *ends)
{
    struct sse_awaken *const s = sse_run_state(r);
    const struct str run = value_get_last(line, "run_id");
    const struct str why = value_get_last(value_get_last(line, "termination"), "type");
    if (!value_equals(run, s->run))
        return true;
    *ends = !(value_equals(why, "suspended") && s->n > 0);
    if (!*ends) {
        buf_reset(&s->finish);
        buf_add(&s->finish, line.p, line.len);
    }
    return *ends;
}

static void sse_awaken_frame(void *ctx, const struct sse_event *frame)
{
    struct sse_run *const r = ctx;
    struct arena a = {0};
    struct str type = {0}, target = {0};
    const struct str line = {frame->data, frame->len};
    const struct value_row rows[] = {{"event_type", &type}, {"target_id", &target}};
    const bool valid = value_parse_line(line.p, line.len, VALUE_ROWS(rows)) == 0;
    bool shows = true, ends = false;
    if (valid && value_equals(type, "run_start"))
        shows = sse_awaken_handle_start(r, &a, line);
    else if (valid && value_equals(type, "run_finish"))
        shows = sse_awaken_handle_finish(r, line, &ends);
    else if (valid && value_equals(type, "tool_call_done"))
        sse_awaken_handle_result(r, &a, line);
    else if (valid && value_equals(type, "tool_call_resumed") && value_string(target).p)
        sse_awaken_settle(r, value_text(&a, target, NULL));
    if (shows)
        sse_run_write_data(r, line.p, line.len);
    if (ends)
        sse_run_end(r);
    arena_fini(&a);
}

static void sse_awaken_closed(void *ctx, const struct event_source_closed *closed)
{
    const struct sse_awaken *const s = sse_run_state(ctx);
    if (closed->how == EVENT_SOURCE_EOF && s->finish.len) {
        sse_run_write_data(ctx, s->finish.p, s->finish.len);
        sse_run_end(ctx);
        return;
    }
    sse_awaken_send_cancel(ctx);
    sse_run_fail_closed(ctx, closed);
}

/* ---- decisions ---- */

static const char *sse_awaken_find_call(const struct sse_awaken *s, const char *id)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->waiting[i].id, id) == 0)
            return s->waiting[i].call;
    return NULL;
}

static void sse_awaken_answer(struct sse_run *r, const struct remote_answer *answer)
{
    struct sse_awaken *const s = sse_run_state(r);
    const char *const call = sse_awaken_find_call(s, answer->id);
    const bool denies = answer->decision == REMOTE_DENY;
    CLEANUP_BUF struct buf body = {0};
    if (!call)
        return;
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "toolCallId", call);
    jsonw_member_str(&body, "action", denies ? "cancel" : "resume");
    if (answer->decision == REMOTE_ANSWERED && answer->answers) {
        jsonw_member_json(&body, "payload", answer->answers);
    } else {
        buf_printf(&body, ",\"payload\":{\"approved\":%s", denies ? "false" : "true");
        jsonw_member_str(&body, "reason", answer->reason);
        buf_add_char(&body, '}');
    }
    buf_add_char(&body, '}');
    sse_awaken_post(r, "decision", body.p, NULL);
    if (answer->interrupt)
        sse_awaken_send_cancel(r);
}

/* A run without a known ID cannot be cancelled yet: see sse_awaken_handle_start. */
static void sse_awaken_cancel(struct sse_run *r)
{
    sse_awaken_send_cancel(r);
}

static void sse_awaken_close(void *state)
{
    struct sse_awaken *const s = state;
    while (s->n)
        sse_awaken_remove_waiting(s, s->n - 1);
    buf_fini(&s->finish);
}

const struct sse_service sse_awaken = {
    .name = "awaken",
    .probe = "/v1/threads?limit=1",
    .state_size = sizeof(struct sse_awaken),
    .prompt = sse_awaken_prompt,
    .answer = sse_awaken_answer,
    .cancel = sse_awaken_cancel,
    .events = {.opened = sse_awaken_opened, .frame = sse_awaken_frame, .closed = sse_awaken_closed},
    .close = sse_awaken_close,
};
