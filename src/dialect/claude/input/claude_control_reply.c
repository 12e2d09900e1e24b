/* SPDX-License-Identifier: MIT
 * Response to can_use_tool; an allow always carries updatedInput, which CLIs before 2.1 require.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes/utf8.h"
#include "dialect/claude/input/claude_control.h"
#include "dialect/reader/value.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

/* A valid JSON object, or p NULL. */
static struct str claude_control_reply_read_object(const char *text)
{
    struct json j;
    struct str object = {0};
    json_init(&j, text, strlen(text));
    if (json_reader_peek(&j) == JSON_AT_OBJECT)
        json_reader_skip(&j, &object);
    return json_reader_finish(&j) == 0 ? object : (struct str){0};
}

/* Texts for the agent may come from any source. */
static void claude_control_reply_add_text(struct buf *out, const char *text)
{
    CLEANUP_BUF struct buf good = {0};
    utf8_repair(&good, text, strlen(text));
    jsonw_string(out, good.p ? good.p : "", good.len);
}

/* ---- the answers of AskUserQuestion ---- */

/* One text, or several joined like in the CLI's dialog; this form of an answer to a multiSelect
 * question was not tested. Raw slices are copied between quotes. */
static void add_chosen(struct buf *out, struct str chosen)
{
    struct json j;
    const struct str one = value_string(chosen);
    buf_add(out, one.p, one.len);
    json_reader_open_array(&j, chosen);
    for (bool first = true; json_reader_next_element(&j);) {
        struct str text = {0};
        if (!json_reader_read_string(&j, &text))
            continue;
        buf_add_str(out, first ? "" : ", ");
        buf_add(out, text.p, text.len);
        first = false;
    }
}

/* Ids of questions are their positions, from 0; the CLI identifies them by their texts. */
static void claude_control_reply_add_answers(struct buf *out, struct str questions,
                                             struct str answers)
{
    struct json j;
    struct str question;
    const size_t begin = out->len;
    json_reader_open_array(&j, questions);
    for (unsigned i = 0; json_reader_next_value(&j, &question); i++) {
        char id[16];
        snprintf(id, sizeof id, "%u", i);
        const struct str text = value_string(value_get_last(question, "question"));
        const struct str chosen = value_get_last(answers, id);
        if (!text.p || !chosen.p)
            continue;
        buf_add_str(out, out->len > begin ? ",\"" : "\"");
        buf_add(out, text.p, text.len);
        buf_add_str(out, "\":\"");
        add_chosen(out, chosen);
        buf_add_char(out, '"');
    }
}

/* The input, with the answers added. */
static int add_answered(struct buf *out, const struct claude_control_pending *ask, const char *text)
{
    const struct str input = {ask->input, strlen(ask->input)};
    const struct str answers = text ? claude_control_reply_read_object(text) : (struct str){0};
    struct json j;
    struct str key = {0}, value = {0};
    if (!answers.p || !ask->questions)
        return -1;
    json_init(&j, input.p, input.len);
    json_reader_enter_object(&j);
    buf_add_char(out, '{');
    while (json_reader_next_key(&j, &key)) {
        json_reader_skip(&j, &value);
        if (json_reader_string_is(key, "answers"))
            continue;
        buf_add(out, key.p - 1, key.len + 2);
        buf_add_char(out, ':');
        buf_add(out, value.p, value.len);
        buf_add_char(out, ',');
    }
    buf_add_str(out, "\"answers\":{");
    claude_control_reply_add_answers(out, value_get_last(input, "questions"), answers);
    buf_add_str(out, "}}");
    return 0;
}

/* ---- the reply ---- */

static int claude_control_reply_add_input(struct buf *out, const struct claude_control_pending *ask,
                                          const struct dialect_answer *answer)
{
    if (answer->decision == DIALECT_ANSWERED)
        return add_answered(out, ask, answer->answers);
    if (!answer->args) {
        buf_add_str(out, ask->input);
        return 0;
    }
    const struct str args = claude_control_reply_read_object(answer->args);
    if (!args.p)
        return -1;
    json_reader_compact(out, args); /* on one line */
    return 0;
}

static void add_denial(struct buf *out, const struct dialect_answer *answer)
{
    buf_add_str(out, "{\"behavior\":\"deny\",\"message\":");
    claude_control_reply_add_text(
        out, answer->reason && *answer->reason ? answer->reason : "This tool call was denied.");
    if (answer->interrupt)
        buf_add_str(out, ",\"interrupt\":true");
    buf_add_char(out, '}');
}

int claude_control_append_reply(struct buf *out, const struct claude_control_pending *ask,
                                const struct dialect_answer *answer)
{
    if (answer->decision == DIALECT_DENY) {
        add_denial(out, answer);
        return 0;
    }
    buf_add_str(out, "{\"behavior\":\"allow\",\"updatedInput\":");
    if (claude_control_reply_add_input(out, ask, answer) < 0)
        return -1;
    if (answer->remember && ask->suggestions) {
        buf_add_str(out, ",\"updatedPermissions\":");
        buf_add_str(out, ask->suggestions);
    }
    buf_add_char(out, '}');
    return 0;
}
