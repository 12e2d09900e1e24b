/* SPDX-License-Identifier: MIT
 * Lines for the host that runs a turn. */
#include "dialect/turncast/turncast_run.h"

#include <string.h>

#include "base/cleanup.h"
#include "dialect/protocol/steered_messages.h"
#include "dialect/reader/value.h"
#include "event/codec.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

/* Of the line of a message: the servers take 1 MiB. A longer one waits for the end of the turn. */
#define MESSAGE_MAX ((size_t)768 << 10)

struct turncast_run {
    struct steered steered; /* messages whose fate is not known */
    bool runs;              /* the agent has printed something */
};

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

/* Before the agent has printed something, it may not have been started. */
static enum dialect_steer turncast_run_steer(void *state, struct buf *out, const char *id,
                                             struct str text)
{
    struct turncast_run *const r = state;
    CLEANUP_BUF struct buf line = {0};
    buf_add_char(&line, '{');
    jsonw_member_str(&line, "do", "message");
    jsonw_member_str(&line, "id", id);
    jsonw_key(&line, "text");
    jsonw_string(&line, text.p, text.len);
    buf_add_str(&line, "}\n");
    if (!r->runs || line.len > MESSAGE_MAX || !steered_messages_add(&r->steered, id))
        return DIALECT_REFUSED;
    buf_add(out, line.p, line.len);
    return DIALECT_WRITTEN;
}

static enum dialect_settled turncast_run_settled(void *state, char id[DIALECT_STEER_ID])
{
    return steered_messages_next(&((struct turncast_run *)state)->steered, id);
}

static bool turncast_run_withdraw(void *state, struct buf *out, const char *id)
{
    if (!steered_messages_waits(&((struct turncast_run *)state)->steered, id))
        return false;
    buf_add_char(out, '{');
    jsonw_member_str(out, "do", "withdraw");
    jsonw_member_str(out, "id", id);
    buf_add_str(out, "}\n");
    return true;
}

bool turncast_run_is_fate(const char *code)
{
    return code &&
           (strcmp(code, TURNCAST_RUN_TAKEN) == 0 || strcmp(code, TURNCAST_RUN_REFUSED) == 0);
}

/* A gateway that was restarted has not written the message, but knows it. */
static void turncast_run_settle(struct turncast_run *r, const char *code, const char *id)
{
    const struct str text = {id, strlen(id)};
    if (!steered_messages_waits(&r->steered, id) && !steered_messages_add(&r->steered, id))
        return;
    steered_messages_settle(&r->steered, text,
                            strcmp(code, TURNCAST_RUN_TAKEN) == 0 ? DIALECT_TAKEN
                                                                  : DIALECT_NOT_TAKEN);
}

static void turncast_run_line(void *state, struct buf *out, const char *line, size_t len)
{
    struct turncast_run *const r = state;
    struct arena arena = {0};
    struct event ev;
    const char *why;
    (void)out;
    const bool is_fate = len && memmem(line, len, "\"message_", 9);
    if (r->runs && !is_fate)
        return;
    if (codec_decode(&ev, &arena, line, len, &why) == 0) {
        /* The gateway adds notices of its own; bus_begun is one in place of the start. */
        r->runs |= ev.kind != TC_NOTICE ||
                   (ev.u.notice.code && strcmp(ev.u.notice.code, "bus_begun") == 0);
        if (ev.kind == TC_NOTICE && ev.u.notice.text && turncast_run_is_fate(ev.u.notice.code))
            turncast_run_settle(r, ev.u.notice.code, ev.u.notice.text);
    }
    arena_fini(&arena);
}

const struct dialect_input turncast_run_input = {
    .state_size = sizeof(struct turncast_run),
    .begin = turncast_run_begin,
    .answer = turncast_run_answer,
    .waits = turncast_run_waits,
    .takes_args = turncast_run_waits,
    .interrupt = turncast_run_interrupt,
    .steer = turncast_run_steer,
    .settled = turncast_run_settled,
    .withdraw = turncast_run_withdraw,
    .line = turncast_run_line,
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

int turncast_run_read_message(struct str line, struct arena *a, struct turncast_run_message *m)
{
    *m = (struct turncast_run_message){0};
    if (!json_reader_is_valid(line))
        return -1;
    const struct str what = value_get_last(line, "do");
    const bool is_message = value_equals(what, "message");
    if (!is_message && !value_equals(what, "withdraw"))
        return -1;
    const struct str text = value_string(value_get_last(line, "text"));
    m->id = turncast_run_text(line, a, "id");
    m->text = is_message && text.p ? json_reader_unescape(a, text, &m->len) : NULL;
    return m->id && strlen(m->id) < DIALECT_STEER_ID && is_message == (m->text != NULL) ? 0 : -1;
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
