/* SPDX-License-Identifier: MIT
 * Input side of Claude Code (--input-format stream-json): the mode, the message, the interrupt.
 * claude_control.c handles its requests, which need --permission-prompt-tool stdio.
 *
 * The end of input ends the process: end_session would kill background work at once, which may use
 * the grace period of the agent, and was not tested before 2.1. */
#include "dialect/claude/input/claude_input.h"

#include <string.h>

#include "base/bytes/utf8.h"
#include "dialect/claude/input/claude_control.h"
#include "dialect/reader/value.h"
#include "event/json/json_writer.h"

static void claude_input_add_text(struct buf *out, const char *text, size_t len)
{
    CLEANUP_BUF struct buf good = {0};
    utf8_repair(&good, text, len);
    jsonw_string(out, good.p ? good.p : "", good.len);
}

static void claude_input_write_mode_request(struct buf *out, const char *mode)
{
    buf_add_str(out, "{\"type\":\"control_request\",\"request_id\":\"" CLAUDE_CONTROL_MODE_ID "\","
                     "\"request\":{\"subtype\":\"set_permission_mode\",\"mode\":");
    claude_input_add_text(out, mode, strlen(mode));
    buf_add_str(out, "}}\n");
}

/* client_composed: the text goes to the model unchanged, without interpretation of commands and
 * file mentions. */
static void write_line(struct buf *out, const char *id, struct str text)
{
    buf_add_str(out, "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
    claude_input_add_text(out, text.p, text.len);
    buf_add_str(out, "},\"parent_tool_use_id\":null,\"session_id\":\"\"");
    if (id)
        buf_printf(out, ",\"uuid\":\"%s\"", id);
    buf_add_str(out, ",\"client_composed\":true}\n");
}

static void claude_input_write_message(void *state, struct buf *out,
                                       const struct dialect_prompt *prompt)
{
    (void)state;
    write_line(out, NULL, (struct str){prompt->text, prompt->len});
}

/* A message with a uuid is acknowledged by lines command_lifecycle: "started" comes before the
 * result of the turn that takes it, or else with a turn of its own (measured with 2.1.330). */
static enum dialect_steer claude_input_steer(void *state, struct buf *out, const char *id,
                                             struct str text)
{
    struct claude_control *const c = state;
    if (c->over || !steered_messages_add(&c->steered, id))
        return DIALECT_REFUSED;
    write_line(out, id, text);
    return DIALECT_WRITTEN;
}

static enum dialect_settled claude_input_settled(void *state, char id[DIALECT_STEER_ID])
{
    return steered_messages_next(&((struct claude_control *)state)->steered, id);
}

/* The CLI drops a message that it has not taken, and confirms with a lifecycle "cancelled". */
static bool claude_input_withdraw(void *state, struct buf *out, const char *id)
{
    struct claude_control *const c = state;
    if (c->over || !steered_messages_waits(&c->steered, id))
        return false;
    buf_printf(out,
               "{\"type\":\"control_request\",\"request_id\":\"turncast-withdraw\","
               "\"request\":{\"subtype\":\"cancel_async_message\",\"message_uuid\":\"%s\"}}\n",
               id);
    return true;
}

/* Otherwise the CLI would answer these messages in a separate turn, although the host has ended
 * it. */
static void withdraw_all(void *state, struct buf *out)
{
    const struct claude_control *const c = state;
    for (size_t i = 0; i < c->steered.n; i++)
        claude_input_withdraw(state, out, c->steered.all[i].id);
}

static void claude_input_begin(void *state, struct buf *out, const struct dialect_prompt *prompt)
{
    if (prompt->mode)
        claude_input_write_mode_request(out, prompt->mode);
    claude_input_write_message(state, out, prompt);
}

static bool claude_input_goes_on(void *state)
{
    const struct claude_control *const c = state;
    return !c->over && !c->n;
}

static void claude_input_read_lifecycle(struct claude_control *c, const char *line, size_t len)
{
    struct str type = {0}, uuid = {0}, state = {0};
    const struct value_row wants[] = {{"type", &type}, {"command_uuid", &uuid}, {"state", &state}};
    if (!c->steered.n || !memmem(line, len, "\"command_lifecycle\"", 19) ||
        value_parse_line(line, len, VALUE_ROWS(wants)) < 0 || !value_string(uuid).len)
        return;
    if (value_equals(state, "started"))
        steered_messages_settle(&c->steered, value_string(uuid), DIALECT_TAKEN);
    else if (value_equals(state, "cancelled"))
        steered_messages_settle(&c->steered, value_string(uuid), DIALECT_NOT_TAKEN);
}

static void claude_input_read_line(void *state, struct buf *out, const char *line, size_t len)
{
    claude_control_handle_line(state, out, line, len);
    claude_input_read_lifecycle(state, line, len);
}

static int claude_input_answer_request(void *state, struct buf *out,
                                       const struct dialect_answer *answer)
{
    return claude_control_answer(state, out, answer);
}

static bool claude_input_waits(void *state, const char *request_id)
{
    return claude_control_waits(state, request_id);
}

/* The CLI withdraws a request. */
static void claude_input_interrupt(void *state, struct buf *out)
{
    withdraw_all(state, out);
    claude_control_end(state);
    buf_add_str(out, "{\"type\":\"control_request\",\"request_id\":\"turncast-interrupt\","
                     "\"request\":{\"subtype\":\"interrupt\"}}\n");
}

static void claude_input_end(void *state)
{
    claude_control_end(state);
}

const struct dialect_input claude_input = {
    .state_size = sizeof(struct claude_control),
    .begin = claude_input_begin,
    .next = claude_input_write_message,
    .goes_on = claude_input_goes_on,
    .steer = claude_input_steer,
    .settled = claude_input_settled,
    .withdraw = claude_input_withdraw,
    .line = claude_input_read_line,
    .answer = claude_input_answer_request,
    .waits = claude_input_waits,
    .takes_args = claude_input_waits,
    .interrupt = claude_input_interrupt,
    .leave = withdraw_all,
    .close = claude_input_end,
    .keep_open = true,
    .ends_by_eof = true,
};
