/* SPDX-License-Identifier: MIT
 * End of a turn: keeps a refusal or error until the stream confirms it, then emits the outcome. */
#include <string.h>

#include "base/bytes/utf8.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reasonix/reasonix.h"
#include "event/json/json_writer.h"

static const char violation[] = "covenant violation: ";
static const char blocked[] = "blocked by core covenant";

static const char *reasonix_end_after(const char *text, const char *prefix)
{
    const size_t n = strlen(prefix);
    return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

char *reasonix_covenant(struct arena *a, const char *text)
{
    const char *id = text ? reasonix_end_after(text, violation) : NULL;
    if (text && !id)
        id = reasonix_end_after(text, blocked);
    if (!id)
        return NULL;
    id += strspn(id, ": ");
    return arena_strndup(a, id, strcspn(id, " :;,"));
}

static void reasonix_end_set_pending(struct reasonix *r, enum reasonix_pending_end verdict,
                                     const char *code, const char *text)
{
    r->verdict = verdict;
    utf8_copy_truncated(r->code, sizeof(r->code), code);
    buf_reset(&r->verdict_text);
    buf_add_str(&r->verdict_text, text ? text : "");
}

void reasonix_refuse(const struct reasonix_ctx *call, const char *covenant, const char *text,
                     const char *x)
{
    dialect_emit_notice(call->out, "warn", "turn_aborted", text ? text : "", x);
    reasonix_end_set_pending(call->r, REASONIX_REFUSED, covenant, text);
}

void reasonix_fail(const struct reasonix_ctx *call, const char *text, const char *code)
{
    reasonix_end_set_pending(call->r, REASONIX_FAILED, code, text);
}

void reasonix_stop(const struct reasonix_ctx *call, const char *code, const char *text)
{
    reasonix_end_set_pending(call->r, REASONIX_STOPPED, code, text);
}

/* An error that was not the end becomes a warning; refusals and limits were emitted. */
void reasonix_clear_pending_end(const struct reasonix_ctx *call)
{
    struct reasonix *const r = call->r;
    if (r->verdict == REASONIX_FAILED)
        dialect_emit_notice(call->out, "error", *r->code ? r->code : "error", r->verdict_text.p,
                            NULL);
    r->verdict = REASONIX_NONE;
}

static void reasonix_end_emit_end(const struct reasonix_ctx *call, struct event *done)
{
    struct reasonix *const r = call->r;
    const bool failed = strcmp(done->u.done.reason, "error") == 0;
    const struct buf *const text = r->streamed.len ? &r->streamed : &r->answer;
    if (!failed)
        dialect_emit_final(call->out, text->p, text->len,
                           r->message_id.len ? r->message_id.p : NULL);
    usage_totals_emit(&r->tally, call->out, failed);
    dialect_emit_draft(call->out, done);
    r->ended = true;
}

static void reasonix_end_init_done(struct event *done, const char *reason, const char *code,
                                   const char *x)
{
    event_init(done, TC_DONE);
    done->u.done.reason = reason;
    done->u.done.code = code && *code ? code : NULL;
    done->meta.x = x;
}

static void reasonix_end_end_failed(const struct reasonix_ctx *call, const char *text,
                                    const char *code, const char *x)
{
    struct event done;
    code = code && *code ? code : NULL;
    dialect_emit_error(call->out, text && *text ? text : "the turn failed", code);
    reasonix_end_init_done(&done, "error", code, x);
    reasonix_end_emit_end(call, &done);
}

static void end_refused(const struct reasonix_ctx *call, const char *code, const char *text,
                        const char *x)
{
    struct event done;
    reasonix_end_init_done(&done, "refused", code, x);
    done.u.done.detail = text && *text ? text : NULL;
    reasonix_end_emit_end(call, &done);
}

static void reasonix_end_end_well(const struct reasonix_ctx *call, const char *reason,
                                  const char *code, const char *x)
{
    struct event done;
    reasonix_end_init_done(&done, reason, code, x);
    reasonix_end_emit_end(call, &done);
}

/* The turn_done after a refusal may repeat it in other words, which are kept in x. */
static const char *with_err(const struct reasonix_ctx *call, const char *x, const char *err)
{
    CLEANUP_BUF struct buf json = {0};
    if (!err)
        return x;
    jsonw_string(&json, err, strlen(err));
    return reasonix_prepend_member(call->out->scratch, x, "err", json.p);
}

void reasonix_end_turn(const struct reasonix_ctx *call, const char *err, const char *outcome,
                       const char *x)
{
    struct reasonix *const r = call->r;
    const char *const covenant = reasonix_covenant(call->out->scratch, err);
    const char *const kept = r->verdict_text.p;
    if (r->ended) {
        if (err && !covenant)
            dialect_emit_error(call->out, err, outcome);
    } else if (r->verdict == REASONIX_REFUSED && (!err || covenant)) {
        end_refused(call, r->code, kept, with_err(call, x, err));
    } else if (covenant) {
        end_refused(call, covenant, err, with_err(call, x, err));
    } else if (err) {
        reasonix_end_end_failed(call, err, outcome, x);
    } else if (r->verdict == REASONIX_FAILED) {
        reasonix_end_end_failed(call, kept, r->code, x);
    } else if (outcome || r->verdict == REASONIX_STOPPED) {
        reasonix_end_end_well(call, "stopped", outcome ? outcome : r->code, x);
    } else {
        reasonix_end_end_well(call, "completed", NULL, x);
    }
}

void reasonix_end(void *state, const struct dialect_sink *out, const struct stream_end_info *end)
{
    struct reasonix *const r = state;
    const struct reasonix_ctx call = {.r = r, .out = out};
    if (r->ended)
        return;
    if (r->task.len)
        reasonix_start(&call, NULL, NULL);
    if (end->how == STREAM_CANCELLED)
        reasonix_end_end_well(&call, "cancelled", NULL, NULL);
    else if (r->verdict != REASONIX_NONE)
        reasonix_end_turn(&call, NULL, NULL, NULL);
    else
        usage_totals_emit(&r->tally, out, true);
}

void reasonix_close(void *state)
{
    struct reasonix *const r = state;
    buf_fini(&r->streamed);
    buf_fini(&r->answer);
    buf_fini(&r->message_id);
    buf_fini(&r->task);
    buf_fini(&r->opened);
    buf_fini(&r->verdict_text);
    open_calls_fini(&r->calls);
    open_calls_fini(&r->parents);
    open_calls_fini(&r->readers);
    open_calls_fini(&r->partial);
    open_calls_fini(&r->asked);
    open_calls_fini(&r->asks);
}
