/* SPDX-License-Identifier: MIT
 * Owns what is written to Claude Code's stdin (--input-format stream-json). */
#include "base/utf8.h"
#include "dialect/claude.h"
#include "event/jsonw.h"

/* client_composed: the text goes to the model as it is, without commands and file mentions. */
static void write_prompt(void *state, struct buf *out, const struct dialect_prompt *prompt)
{
    (void)state;
    CLEANUP_BUF struct buf text = {0};
    utf8_repair(&text, prompt->text, prompt->len);
    buf_add_str(out, "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
    jsonw_string(out, text.p ? text.p : "", text.len);
    buf_add_str(out,
                "},\"parent_tool_use_id\":null,\"session_id\":\"\",\"client_composed\":true}\n");
}

static void write_interrupt(void *state, struct buf *out)
{
    (void)state;
    buf_add_str(out, "{\"type\":\"control_request\",\"request_id\":\"turncast-interrupt\","
                     "\"request\":{\"subtype\":\"interrupt\"}}\n");
}

const struct dialect_input claude_input = {
    .begin = write_prompt,
    .interrupt = write_interrupt,
    .keep_open = true,
    .ends_by_eof = true,
};
