/* SPDX-License-Identifier: MIT
 * Reader for `qwen -o stream-json`: claude's format, with API failures as assistant text. Uses
 * the claude reader with its own profile. */
#include "dialect/claude/claude.h"

struct qwen {
    struct claude claude;
    char last_text[CLAUDE_UUID]; /* line whose text a retry retracts */
    int64_t index, shown;        /* id of the streaming block: in the line, and as emitted */
};

/* Start of an error text of the CLI at the end of a text; its length: none. */
static size_t find_failure(struct str text)
{
    static const char mark[] = "[API Error: ";
    size_t found = text.len;
    if (!text.len || text.p[text.len - 1] != ']')
        return found;
    for (const char *p = text.p;
         (p = memmem(p, (size_t)(text.p + text.len - p), mark, sizeof(mark) - 1)); p++)
        found = (size_t)(p - text.p);
    return found;
}

/* Version 0.15 reports errors of the API as successful results. */
static bool qwen_is_failure(struct str text)
{
    return find_failure(text) < text.len;
}

/* Cuts the error text off; it is emitted as an error if no result repeats it. */
static void cut_failure(struct claude *c, struct str *text)
{
    const size_t at = find_failure(*text);
    if (at == text->len)
        return;
    claude_set_unescaped(c, &c->api_error.text, (struct str){text->p + at, text->len - at});
    text->len = at;
}

/* Removes the API's error text, and converts the mark of an interrupt. */
static void adjust(struct claude *c, struct claude_line *l)
{
    if (l->parent.len)
        return;
    if (str_is(l->type, "assistant"))
        cut_failure(c, &l->body.block.text);
    else if (str_is(l->type, "stream_event") && str_is(l->body.delta, "text_delta"))
        cut_failure(c, &l->body.piece);
    else if (str_is(l->type, "result") &&
             value_equals(value_get_last(value_get_last(l->self, "error"), "message"),
                          "Operation cancelled."))
        c->interrupted = true;
}

/* A text restarts at the index of the preceding thinking, and the lines that repeat blocks of one
 * message have separate ids: neither must look like another message. */
static void join_message(struct qwen *q, struct claude_line *l)
{
    struct claude_message *const m = &q->claude.main.message;
    if (l->parent.len || !m->started)
        return;
    if (str_is(l->type, "assistant"))
        l->body.message_id = (struct str){0};
    if (str_is(l->body.event, "content_block_start")) {
        const struct claude_block *const same = claude_block_at(m, l->body.index);
        q->index = l->body.index;
        q->shown = same && !claude_block_is_waiting(same) ? m->next_index : l->body.index;
    }
    if (str_has_prefix(l->body.event, STR("content_block_")) && l->body.index == q->index)
        l->body.index = q->shown;
}

static void qwen_read_retry(struct qwen *q, const struct claude_line *l)
{
    struct claude *const c = &q->claude;
    const struct str data = value_get_last(l->self, "data");
    c->steps.asked = true;
    claude_message_drop_open(c, &c->main);
    if (q->last_text[0] && !value_is_true(value_get_last(data, "preserveText"))) {
        const char *const uuids = arena_sprintf(c->out->scratch, "[\"%s\"]", q->last_text);
        claude_retract_lines(c, (struct str){uuids, strlen(uuids)});
    }
    q->last_text[0] = '\0';
    claude_notice(c, "warn", "retry", "The model's response was interrupted; retrying.", l->self);
}

/* Text belongs to the current attempt until a tool is called. */
static void qwen_record_text(struct qwen *q, const struct claude_line *l)
{
    if (str_is(l->type, "assistant") && str_is(l->body.block.type, "text"))
        claude_copy_code(q->last_text, sizeof(q->last_text), l->uuid);
    else if (!str_is(l->type, "stream_event"))
        q->last_text[0] = '\0';
}

static int qwen_read_line(void *state, const struct dialect_sink *out, const char *line, size_t len)
{
    static const char *const start_keys[] = {"cwd", "mcp_servers", "permission_mode",
                                             "qwen_code_version", NULL};
    static const struct claude_profile profile = {"qwen",          NULL, "qwen-code", start_keys, 1,
                                                  qwen_is_failure, true, true};
    struct qwen *const q = state;
    struct claude *const c = &q->claude;
    struct claude_line l;
    if (claude_line_parse(&l, line, len, NULL) < 0)
        return -1;
    c->profile = &profile;
    c->out = out;
    adjust(c, &l);
    join_message(q, &l);
    if (c->started && str_is(l.type, "system") && str_is(l.subtype, "retry")) {
        qwen_read_retry(q, &l);
        return 0;
    }
    claude_handle_line(c, out, &l);
    /* Messages have no stop reason, unlike Claude's; the last line of a message has its usage. */
    if (str_is(l.type, "assistant") && !l.parent.len && l.body.usage.output > 0)
        claude_message_count(c, &c->main, &l.body.usage);
    qwen_record_text(q, &l);
    return 0;
}

/* The process may exit before its output is drained: the last line, the result, is truncated
 * then. */
static void qwen_end_stream(void *state, const struct dialect_sink *out,
                            const struct stream_end_info *end)
{
    struct qwen *const q = state;
    claude_end(&q->claude, out, end);
    if (end->how == STREAM_EOF && end->truncated)
        claude_result_handle_truncated(&q->claude);
}

static int qwen_sniff_line(struct str line, const char *event)
{
    (void)event;
    if (value_get_last(line, "qwen_code_version").p)
        return DIALECT_SCORE_CERTAIN;
    return value_equals(value_get_last(line, "type"), "result") &&
                   value_get_last(value_get_last(line, "error"), "message").p
               ? DIALECT_SCORE_CERTAIN
               : 0;
}

static void qwen_next_turn(void *state, bool by_agent)
{
    struct qwen *const q = state;
    claude_next(&q->claude, by_agent);
    q->last_text[0] = '\0';
    q->index = q->shown = 0;
}

const struct dialect dialect_qwen = {
    .name = "qwen",
    .summary = "Qwen Code: qwen -o stream-json",
    .state_size = sizeof(struct qwen),
    .sniff = qwen_sniff_line,
    .line = qwen_read_line,
    .end = qwen_end_stream,
    .close = claude_close,
    .begins = claude_begins,
    .next = qwen_next_turn,
};
