/* SPDX-License-Identifier: MIT
 * Owns what of a turn's events makes its result object. */
#include "core/turn/turn_result.h"
#include "text/sentence/texts.h"

#include "base/bytes/utf8.h"
#include "event/codec.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

static void turn_result_set_text(struct buf *b, const char *p, size_t n)
{
    buf_reset(b);
    buf_add(b, p, n);
}

static void set_string(struct buf *b, const char *s)
{
    turn_result_set_text(b, s ? s : "", s ? strlen(s) : 0);
}

static const char *turn_result_text_of(const struct buf *b, const char *otherwise)
{
    return b->len ? b->p : otherwise;
}

/* Stores the canonical payload without the member `scope`. */
static void turn_result_set_usage(struct buf *out, const struct event *ev)
{
    CLEANUP_BUF struct buf payload = {0};
    codec_encode_payload(&payload, ev);
    buf_reset(out);
    buf_add_char(out, '{');
    struct json j;
    struct str key, value;
    json_reader_open_object(&j, (struct str){payload.p, payload.len});
    while (json_reader_next_member(&j, &key, &value)) {
        if (str_is(key, "scope"))
            continue;
        buf_printf(out, "%s\"%.*s\":", out->len > 1 ? "," : "", (int)key.len, key.p);
        buf_add(out, value.p, value.len);
    }
    buf_add_char(out, '}');
}

static void turn_result_feed_usage(struct turn_result *r, const struct event *ev)
{
    if (strcmp(ev->u.usage.scope, "turn") != 0)
        return;
    if (ev->u.usage.cost_usd >= 0)
        r->cost_usd = ev->u.usage.cost_usd;
    turn_result_set_usage(&r->usage, ev);
}

static void feed_tool_call(struct turn_result *r, const struct tc_tool_call *call)
{
    set_string(&r->last_tool, call->name);
    const size_t size = strlen(call->name) + call->args_len;
    if (r->n_tool_uses >= RESULT_TOOL_USES || r->tool_uses.len + size > RESULT_TOOL_BYTES) {
        r->n_omitted++;
        return;
    }
    if (r->n_tool_uses++)
        buf_add_char(&r->tool_uses, ',');
    buf_add_char(&r->tool_uses, '{');
    jsonw_member_str(&r->tool_uses, "name", call->name);
    jsonw_member_json(&r->tool_uses, "input", call->args);
    buf_add_char(&r->tool_uses, '}');
}

static void turn_result_feed_error(struct turn_result *r, const struct tc_error *error)
{
    r->has_error = true;
    set_string(&r->error, error->message);
    set_string(&r->error_code, error->code);
}

/* Handles a limit or a refusal of the agent: its text so far is not an answer. */
static void feed_incomplete(struct turn_result *r, const struct tc_done *done)
{
    const bool refused = strcmp(done->reason, "refused") == 0;
    const char *const why = done->detail ? done->detail : done->code;
    if (r->has_error || !(refused || strcmp(done->reason, "stopped") == 0))
        return;
    r->incomplete = true;
    buf_reset(&r->error);
    texts_append(&r->error, refused ? TEXT_AGENT_REFUSED : TEXT_AGENT_INCOMPLETE, NULL);
    if (why)
        buf_printf(&r->error, ": %s", why);
}

static void feed_done(struct turn_result *r, const struct tc_done *done)
{
    feed_incomplete(r, done);
    r->cancelled = strcmp(done->reason, "cancelled") == 0;
    if (done->turns >= 0)
        r->num_turns = done->turns;
}

/* Notices of the agent: those of the host about its own attempts are of the level "info". */
static void feed_notice(struct turn_result *r, const struct tc_notice *notice)
{
    if (!notice->code || strcmp(notice->level, "warn") != 0 ||
        (strcmp(notice->code, "retry") != 0 && strcmp(notice->code, "api_retry") != 0))
        return;
    r->n_retries++;
    set_string(&r->retry, notice->text);
}

static void turn_result_clear_retries(struct turn_result *r)
{
    r->n_retries = 0;
    buf_reset(&r->retry);
}

static bool turn_result_is_progress(enum tc_kind kind)
{
    return kind == TC_NARRATION || kind == TC_THINKING || kind == TC_TOOL_CALL;
}

void turn_result_feed(struct turn_result *r, const struct event *ev)
{
    const char *const session = ev->meta.session_id;
    if (session && *session && strcmp(session, turn_result_text_of(&r->session_id, "")) != 0)
        set_string(&r->session_id, session);
    if (turn_result_is_progress(ev->kind))
        turn_result_clear_retries(r);
    if (ev->kind == TC_NOTICE) {
        feed_notice(r, &ev->u.notice);
    } else if (ev->kind == TC_FINAL) {
        r->has_final = true;
        turn_result_set_text(&r->text, ev->u.final.text, ev->u.final.text_len);
    } else if (ev->kind == TC_ERROR) {
        turn_result_feed_error(r, &ev->u.error);
    } else if (ev->kind == TC_USAGE) {
        turn_result_feed_usage(r, ev);
    } else if (ev->kind == TC_TOOL_CALL) {
        feed_tool_call(r, &ev->u.tool_call);
    } else if (ev->kind == TC_DONE) {
        feed_done(r, &ev->u.done);
    }
}

bool turn_result_is_error(const struct turn_result *r)
{
    return r->has_error || r->incomplete;
}

void turn_result_append_json(struct buf *out, const struct turn_result *r, int64_t duration_ms)
{
    const bool unanswered = r->has_error || (r->incomplete && !r->text.len);
    const struct buf *const text = unanswered ? &r->error : &r->text;
    buf_add_char(out, '{');
    jsonw_key(out, "result");
    jsonw_string(out, turn_result_text_of(text, ""), text->len);
    jsonw_member_str(out, "session_id", turn_result_text_of(&r->session_id, ""));
    jsonw_member_real(out, "cost_usd", r->cost_usd);
    jsonw_member_int(out, "duration_ms", duration_ms);
    jsonw_member_int(out, "num_turns", r->num_turns);
    jsonw_member_bool(out, "is_error", turn_result_is_error(r));
    jsonw_member_json(out, "usage", turn_result_text_of(&r->usage, "{}"));
    jsonw_key(out, "tool_uses");
    buf_add_char(out, '[');
    buf_add(out, turn_result_text_of(&r->tool_uses, ""), r->tool_uses.len);
    buf_add_char(out, ']');
    if (r->n_omitted)
        jsonw_member_int(out, "tool_uses_omitted", r->n_omitted);
    if (turn_result_is_error(r))
        jsonw_member_str(out, "error", turn_result_text_of(&r->error, ""));
    if (r->cancelled)
        jsonw_member_bool(out, "cancelled", true);
    buf_add_char(out, '}');
}

void turn_result_outcome(struct buf *out, const struct turn_result *r)
{
    const struct buf *const text = r->has_final ? &r->text : &r->error;
    const size_t len =
        utf8_truncated_len(turn_result_text_of(text, ""), text->len, RESULT_ANSWER_BYTES);
    jsonw_key(out, r->has_final ? "answer" : "error");
    jsonw_string(out, turn_result_text_of(text, ""), len);
    if (len < text->len)
        jsonw_member_bool(out, "answer_cut", true);
    if (r->usage.len)
        jsonw_member_json(out, "usage", r->usage.p);
}

void turn_result_fini(struct turn_result *r)
{
    struct buf *const all[] = {&r->text,  &r->session_id, &r->error,     &r->error_code,
                               &r->usage, &r->tool_uses,  &r->last_tool, &r->retry};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        buf_fini(all[i]);
    *r = (struct turn_result){0};
}
