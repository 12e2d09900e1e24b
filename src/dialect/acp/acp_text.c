/* SPDX-License-Identifier: MIT
 * Agent messages, thoughts and plans, which arrive as chunks without an end marker. */
#include "dialect/acp/acp.h"
#include "dialect/reader/dialect_emit.h"

/* Messages of the program that arrive as model text, each in a separate chunk. */
static const struct aside {
    const char *agent, *prefix, *level, *code;
} asides[] = {
    {"Copilot", "Info: ", "info", "info"},
    {"Copilot", "Error: ", "error", "stream_error"},
    {"gemini-cli", "[MODE_UPDATE] ", "info", "mode"},
};

static const struct aside *find_aside(const struct acp *a, const char *text)
{
    for (size_t i = 0; i < sizeof(asides) / sizeof(asides[0]); i++)
        if (a->agent.len && strcmp(a->agent.p, asides[i].agent) == 0 &&
            strncmp(text, asides[i].prefix, strlen(asides[i].prefix)) == 0)
            return &asides[i];
    return NULL;
}

static void acp_text_emit_notice(const struct acp_line *call, const struct aside *aside,
                                 const char *text)
{
    const char *const words = text + strlen(aside->prefix);
    if (strcmp(aside->level, "error") == 0) {
        buf_reset(&call->a->trouble);
        buf_add_str(&call->a->trouble, words);
    }
    dialect_emit_notice(call->out, aside->level, aside->code, words, NULL);
}

void acp_complete_message(struct acp *a, const struct dialect_sink *out)
{
    if (a->text.len)
        dialect_emit_message(out, a->text.p, a->text.len, a->text_id.len ? a->text_id.p : NULL);
    buf_reset(&a->text);
    buf_reset(&a->text_id);
}

/* All messages after the last tool call together are the answer. */
static void acp_text_add_text(const struct acp_line *call, const char *text, size_t len,
                              const char *id)
{
    struct acp *const a = call->a;
    const char *const now = id ? id : "";
    if (a->text.len && strcmp(a->text_id.len ? a->text_id.p : "", now) != 0)
        acp_complete_message(a, call->out);
    if (!a->text.len && a->answer.len)
        buf_add_str(&a->answer, "\n\n");
    buf_reset(&a->text_id);
    buf_add_str(&a->text_id, now);
    buf_add(&a->text, text, len);
    buf_add(&a->answer, text, len);
}

/* Text of a chunk; NULL: other content, which is emitted unchanged. */
static char *piece_text(const struct acp_line *call, size_t *len)
{
    const struct str content = value_get_last(call->update, "content");
    char *const text = value_text(call->out->scratch, value_get_last(content, "text"), len);
    if (!text)
        acp_emit_raw(call);
    return text;
}

void acp_handle_message(const struct acp_line *call)
{
    size_t len = 0;
    const char *const text = piece_text(call, &len);
    const char *const id = acp_text(call, value_get_last(call->update, "messageId"));
    if (!len)
        return;
    const struct aside *const aside = find_aside(call->a, text);
    if (aside) {
        acp_text_emit_notice(call, aside, text);
        return;
    }
    buf_reset(&call->a->trouble);
    acp_text_add_text(call, text, len, id);
    dialect_emit_narration(call->out, text, len, id);
}

void acp_handle_thought(const struct acp_line *call)
{
    size_t len = 0;
    const char *const text = piece_text(call, &len);
    dialect_emit_thinking(call->out, text, text ? len : 0,
                          acp_text(call, value_get_last(call->update, "messageId")));
}

void acp_handle_user(const struct acp_line *call)
{
    struct event ev;
    size_t len = 0;
    const char *const text = piece_text(call, &len);
    if (!len)
        return;
    event_init(&ev, TC_MESSAGE);
    ev.u.message.role = "user";
    ev.u.message.text = text;
    ev.u.message.text_len = len;
    ev.u.message.message_id = acp_text(call, value_get_last(call->update, "messageId"));
    acp_emit(call, &ev);
}

void acp_handle_plan(const struct acp_line *call)
{
    struct event ev;
    event_init(&ev, TC_STATE);
    ev.u.state.scope = "activity";
    ev.u.state.op = "snapshot";
    ev.u.state.activity_type = "plan";
    ev.u.state.key = "plan";
    ev.u.state.value =
        value_json(call->out->scratch, value_get_last(call->update, "entries"), NULL);
    acp_emit(call, &ev);
}
