/* SPDX-License-Identifier: MIT
 * Emits common events with default values. */
#include "dialect/reader/dialect_emit.h"

#include "event/json/json_reader.h"

void dialect_emit_narration(const struct dialect_sink *out, const char *text, size_t len,
                            const char *message_id)
{
    struct event ev;
    if (!len)
        return;
    event_init_text(&ev, TC_NARRATION, text, len, message_id);
    dialect_emit_draft(out, &ev);
}

void dialect_emit_thinking(const struct dialect_sink *out, const char *text, size_t len,
                           const char *message_id)
{
    struct event ev;
    if (!len)
        return;
    event_init_text(&ev, TC_THINKING, text, len, message_id);
    dialect_emit_draft(out, &ev);
}

void dialect_emit_message(const struct dialect_sink *out, const char *text, size_t len,
                          const char *message_id)
{
    struct event ev;
    event_init(&ev, TC_MESSAGE);
    ev.u.message.role = "assistant";
    ev.u.message.text = text;
    ev.u.message.text_len = len;
    ev.u.message.message_id = message_id;
    dialect_emit_draft(out, &ev);
}

void dialect_emit_final(const struct dialect_sink *out, const char *text, size_t len,
                        const char *message_id)
{
    struct event ev;
    if (!len)
        return;
    event_init(&ev, TC_FINAL);
    ev.u.final.text = text;
    ev.u.final.text_len = len;
    ev.u.final.message_id = message_id;
    dialect_emit_draft(out, &ev);
}

void dialect_emit_notice(const struct dialect_sink *out, const char *level, const char *code,
                         const char *text, const char *x)
{
    struct event ev;
    event_init_notice(&ev, level, code, text);
    ev.meta.x = x;
    dialect_emit_draft(out, &ev);
}

void dialect_emit_error(const struct dialect_sink *out, const char *message, const char *code)
{
    struct event ev;
    event_init(&ev, TC_ERROR);
    ev.u.error.message = message;
    ev.u.error.code = code;
    dialect_emit_draft(out, &ev);
}

void dialect_emit_done(const struct dialect_sink *out, const char *reason, const char *code)
{
    struct event ev;
    event_init(&ev, TC_DONE);
    ev.u.done.reason = reason;
    ev.u.done.code = code;
    dialect_emit_draft(out, &ev);
}

void dialect_emit_raw(const struct dialect_sink *out, const char *dialect, struct str value,
                      const char *name)
{
    struct event ev;
    event_init(&ev, TC_RAW);
    ev.u.raw.dialect = dialect;
    ev.u.raw.event = json_reader_compact_dup(out->scratch, value, &ev.u.raw.event_len);
    ev.u.raw.name = name;
    dialect_emit_draft(out, &ev);
}
