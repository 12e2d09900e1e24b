/* SPDX-License-Identifier: MIT
 * Lines for the host that runs a turn. */
#include "dialect/turncast/turncast_run.h"

#include "dialect/reader/value.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

static const char *const decisions[] = {
    [DIALECT_ALLOW] = "allow", [DIALECT_DENY] = "deny", [DIALECT_ANSWERED] = "answered"};

/* ---- writing ---- */

static void turncast_run_begin(void *state, struct buf *out, const struct dialect_prompt *prompt)
{
    (void)state;
    (void)out;
    (void)prompt;
}

static int turncast_run_answer(void *state, struct buf *out, const struct dialect_answer *answer)
{
    (void)state;
    buf_add_char(out, '{');
    jsonw_member_str(out, "do", "answer");
    jsonw_member_str(out, "request_id", answer->request_id);
    jsonw_member_str(out, "decision", decisions[answer->decision]);
    jsonw_member_str(out, "reason", answer->reason);
    jsonw_member_json(out, "args", answer->args);
    jsonw_member_json(out, "answers", answer->answers);
    jsonw_member_bool(out, "remember", answer->remember);
    jsonw_member_bool(out, "interrupt", answer->interrupt);
    buf_add_str(out, "}\n");
    return 0;
}

static bool turncast_run_waits(void *state, const char *request_id)
{
    (void)state;
    (void)request_id;
    return true;
}

static void turncast_run_interrupt(void *state, struct buf *out)
{
    (void)state;
    buf_add_str(out, "{\"do\":\"cancel\"}\n");
}

const struct dialect_input turncast_run_input = {
    .begin = turncast_run_begin,
    .answer = turncast_run_answer,
    .waits = turncast_run_waits,
    .takes_args = turncast_run_waits,
    .interrupt = turncast_run_interrupt,
    .keep_open = true,
    .ends_by_eof = true,
};

/* ---- reading ---- */

static const char *turncast_run_text(struct str line, struct arena *a, const char *key)
{
    const struct str raw = value_string(value_get_last(line, key));
    return raw.p ? json_reader_unescape(a, raw, NULL) : NULL;
}

static const char *turncast_run_object(struct str line, struct arena *a, const char *key)
{
    const struct str raw = value_get_last(line, key);
    return raw.len && *raw.p == '{' ? arena_strndup(a, raw.p, raw.len) : NULL;
}

bool turncast_run_is_cancel(struct str line)
{
    return json_reader_is_valid(line) && value_equals(value_get_last(line, "do"), "cancel");
}

int turncast_run_read_answer(struct str line, struct arena *a, struct dialect_answer *answer)
{
    *answer = (struct dialect_answer){0};
    if (!json_reader_is_valid(line) || !value_equals(value_get_last(line, "do"), "answer"))
        return -1;
    answer->request_id = turncast_run_text(line, a, "request_id");
    answer->reason = turncast_run_text(line, a, "reason");
    answer->args = turncast_run_object(line, a, "args");
    answer->answers = turncast_run_object(line, a, "answers");
    answer->remember = str_is(value_get_last(line, "remember"), "true");
    answer->interrupt = str_is(value_get_last(line, "interrupt"), "true");
    for (int i = DIALECT_ALLOW; i <= DIALECT_ANSWERED; i++)
        if (value_equals(value_get_last(line, "decision"), decisions[i])) {
            answer->decision = i;
            return answer->request_id ? 0 : -1;
        }
    return -1;
}
