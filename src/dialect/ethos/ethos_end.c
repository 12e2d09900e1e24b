/* SPDX-License-Identifier: MIT
 * End of an Ethos run, which may be reported twice: an error and then done, or two times done. */
#include <string.h>

#include "base/bytes/utf8.h"
#include "dialect/ethos/ethos.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/value.h"

/* The seed's spelling of a code, and the canonical one. */
static const char *real_code(const char *code)
{
    static const char *const spellings[][2] = {{"abort", "aborted"},
                                               {"llm_timeout", "streaming_timeout"}};
    for (size_t i = 0; code && i < sizeof(spellings) / sizeof(spellings[0]); i++)
        if (strcmp(code, spellings[i][0]) == 0)
            return spellings[i][1];
    return code;
}

static const char *code_x(const struct ethos_ctx *call, const char *code)
{
    const bool other = code && real_code(code) != code;
    return other ? arena_sprintf(call->out->scratch, "{\"code\":\"%s\"}", code) : NULL;
}

static void ethos_end_init_done(struct event *ev, const char *reason, const char *code)
{
    event_init(ev, TC_DONE);
    ev->u.done.reason = reason;
    ev->u.done.code = code && *code ? code : NULL;
}

static void ethos_end_emit_end(const struct ethos_ctx *call, struct event *done)
{
    call->e->ended = true;
    usage_totals_emit(&call->e->tally, call->out, call->e->failed);
    dialect_emit_draft(call->out, done);
}

static void end_cancelled(const struct ethos_ctx *call, const char *text, const char *x)
{
    struct event done;
    dialect_emit_final(call->out, call->e->text.p, call->e->text.len, NULL);
    ethos_end_init_done(&done, "cancelled", NULL);
    done.u.done.detail = text;
    done.meta.x = x;
    ethos_end_emit_end(call, &done);
}

static void ethos_end_emit_failure(const struct ethos_ctx *call, const char *message,
                                   const char *code)
{
    struct ethos *const e = call->e;
    struct event ev;
    event_init(&ev, TC_ERROR);
    ev.u.error.message = message ? message : "";
    ev.u.error.code = real_code(code);
    ev.meta.x = code_x(call, code);
    e->failed = true;
    utf8_copy_truncated(e->code, sizeof(e->code), ev.u.error.code);
    dialect_emit_draft(call->out, &ev);
    usage_totals_emit(&e->tally, call->out, true);
}

void ethos_end_error(const struct ethos_ctx *call, const char *message, const char *code)
{
    const struct ethos *const e = call->e;
    const char *const real = real_code(code);
    if (e->failed || e->ended)
        dialect_emit_notice(call->out, "error", code, message ? message : "",
                            "{\"type\":\"error\"}");
    else if (real && strcmp(real, "aborted") == 0)
        end_cancelled(call, message, code_x(call, code));
    else
        ethos_end_emit_failure(call, message, code);
}

static void ethos_end_end_failed(const struct ethos_ctx *call, struct event *done)
{
    ethos_end_init_done(done, "error", call->e->code);
}

void ethos_close_failed(const struct ethos_ctx *call)
{
    struct event done;
    if (!call->e->failed || call->e->ended)
        return;
    ethos_end_end_failed(call, &done);
    ethos_end_emit_end(call, &done);
}

/* The text of done is the answer, even if it differs from the streamed text. */
static void ethos_end_end_well(const struct ethos_ctx *call, struct event *done, const char *text,
                               size_t len)
{
    const struct ethos *const e = call->e;
    const char *const answer = len ? text : e->text.p;
    const size_t answer_len = len ? len : e->text.len;
    if (answer_len)
        dialect_emit_message(call->out, answer, answer_len, NULL);
    dialect_emit_final(call->out, answer, answer_len, NULL);
    ethos_end_init_done(done, *e->rule ? "stopped" : "completed", e->rule);
    if (!len && answer_len)
        done->meta.x = "{\"text\":\"\"}";
}

void ethos_end_done(const struct ethos_ctx *call, struct str text, struct str turns,
                    struct str trace)
{
    size_t len = 0;
    const char *const told = value_text(call->out->scratch, text, &len);
    struct event done;
    if (call->e->ended)
        return;
    if (call->e->failed) {
        ethos_end_end_failed(call, &done);
        const char *const json = value_json(call->out->scratch, text, NULL);
        done.meta.x = arena_sprintf(call->out->scratch, "{\"text\":%s}", json ? json : "\"\"");
    } else {
        ethos_end_end_well(call, &done, told, len);
    }
    done.u.done.turns = value_int(turns, -1);
    done.u.done.trace_id = ethos_copy(call, trace);
    ethos_end_emit_end(call, &done);
}

void ethos_end(void *state, const struct dialect_sink *out, const struct stream_end_info *end)
{
    struct ethos *const e = state;
    const struct ethos_ctx call = {.e = e, .out = out, .dialect = "ethos"};
    ethos_replay_early(&call);
    if (e->ended)
        return;
    if (e->failed)
        ethos_close_failed(&call);
    else if (end->how == STREAM_CANCELLED)
        end_cancelled(&call, NULL, NULL);
    else
        usage_totals_emit(&e->tally, out, true);
}

void ethos_close(void *state)
{
    struct ethos *const e = state;
    buf_fini(&e->text);
    buf_fini(&e->early);
    open_calls_fini(&e->open);
}
