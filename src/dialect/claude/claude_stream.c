/* SPDX-License-Identifier: MIT
 * stream_event lines: provisional text, thinking and tool arguments while the model writes. */
#include "dialect/claude/claude.h"

static void start_content(struct claude *c, const struct claude_lane *lane, struct claude_block *b,
                          const struct claude_content *content)
{
    if (b->kind == CLAUDE_BLOCK_TEXT) {
        claude_block_append_raw(c, lane, b, content->text);
    } else if (b->kind == CLAUDE_BLOCK_THINKING) {
        claude_block_append_raw(c, lane, b, content->thinking);
        claude_block_set_signature(c, lane, b, content->data);
    } else if (b->kind == CLAUDE_BLOCK_TOOL) {
        claude_set_unescaped(c, &b->id, content->id);
        claude_set_unescaped(c, &b->name, content->name);
        if (content->input.p)
            buf_add(&b->input, content->input.p, content->input.len);
        claude_tool_preparing(c, lane, b);
    }
}

static void on_block_start(struct claude *c, struct claude_lane *lane, const struct claude_line *l)
{
    struct claude_message *const m = &lane->message;
    struct claude_block *const same = claude_block_at(m, l->body.index);
    /* If messages have no start, a repeated index means the next message. */
    const bool named = m->started || (m->source.len && m->count);
    if (!m->id.len || (!named && (same || !m->count)))
        claude_message_begin(c, lane, l);
    else if (same && claude_block_is_waiting(same))
        claude_retract(c, lane, same);
    struct claude_block *const b =
        claude_block_add(m, claude_block_kind_of(l->body.block.type), l->body.index);
    if (b)
        start_content(c, lane, b, &l->body.block);
}

/* A delta of a block without a start in the stream. */
static struct claude_block *block_of_delta(struct claude *c, struct claude_lane *lane,
                                           const struct claude_line *l)
{
    if (!lane->message.id.len)
        claude_message_begin(c, lane, l);
    if (str_is(l->body.delta, "text_delta"))
        return claude_block_add(&lane->message, CLAUDE_BLOCK_TEXT, l->body.index);
    if (str_is(l->body.delta, "thinking_delta"))
        return claude_block_add(&lane->message, CLAUDE_BLOCK_THINKING, l->body.index);
    return NULL;
}

static void on_delta(struct claude *c, struct claude_lane *lane, const struct claude_line *l)
{
    struct claude_block *b = claude_block_at(&lane->message, l->body.index);
    if (!b)
        b = block_of_delta(c, lane, l);
    if (!b || b->state != CLAUDE_BLOCK_OPEN)
        return;
    if (str_is(l->body.delta, "signature_delta"))
        claude_block_set_signature(c, lane, b, l->body.piece);
    else
        claude_block_append_raw(c, lane, b, l->body.piece);
}

static void on_block_stop(struct claude *c, struct claude_lane *lane, const struct claude_line *l)
{
    struct claude_block *const b = claude_block_at(&lane->message, l->body.index);
    if (!b || b->state != CLAUDE_BLOCK_OPEN)
        return;
    if (b->pending) {
        b->pending = 0;
        if (b->kind != CLAUDE_BLOCK_TOOL)
            claude_block_append(c, lane, b, "\xef\xbf\xbd", 3);
    }
    b->state = CLAUDE_BLOCK_STOPPED;
    if (b->kind == CLAUDE_BLOCK_TEXT && !b->told)
        b->state = CLAUDE_BLOCK_DROPPED;
    else if (!lane->message.started)
        claude_block_commit(c, lane, b);
}

static void commit_stopped(struct claude *c, struct claude_lane *lane)
{
    struct claude_message *const m = &lane->message;
    for (size_t i = 0; i < m->count; i++)
        if (m->blocks[i].state == CLAUDE_BLOCK_STOPPED)
            claude_block_commit(c, lane, &m->blocks[i]);
}

static void on_message_start(struct claude *c, struct claude_lane *lane,
                             const struct claude_line *l)
{
    struct claude_message *const m = &lane->message;
    c->steps.asked |= lane == &c->main;
    claude_api_error_passed(c);
    claude_message_drop_open(c, lane);
    claude_message_begin(c, lane, l);
    m->started = true;
    m->usage = l->body.usage;
}

/* A delta without a reason is made by the CLI after an abort: its numbers are not measured. */
static void on_message_delta(struct claude *c, struct claude_lane *lane,
                             const struct claude_line *l)
{
    if (!l->body.stop_reason.len || !lane->message.id.len)
        return;
    claude_message_stopped(c, lane, l->body.stop_reason);
    commit_stopped(c, lane);
    claude_message_count(c, lane, &l->body.usage);
}

static void drop_from(struct claude *c, struct claude_lane *lane, const struct claude_line *l)
{
    struct claude_message *const m = &lane->message;
    if (l->abandoned_from < 0)
        return;
    if (l->abandoned_id.p && strcmp(claude_unescape(c, l->abandoned_id, NULL), m->id.p) != 0)
        return;
    for (size_t i = 0; i < m->count; i++) {
        struct claude_block *const b = &m->blocks[i];
        const bool called = b->kind == CLAUDE_BLOCK_TOOL && b->state == CLAUDE_BLOCK_COMMITTED;
        if (b->index >= l->abandoned_from && b->state != CLAUDE_BLOCK_DROPPED && !called)
            claude_retract(c, lane, b);
    }
}

static void on_message_stop(struct claude *c, struct claude_lane *lane, const struct claude_line *l)
{
    struct claude_message *const m = &lane->message;
    if (!m->id.len)
        return;
    drop_from(c, lane, l);
    if (!c->echoes && l->abandoned_from < 0)
        commit_stopped(c, lane);
    claude_message_drop_open(c, lane);
    claude_message_finish(c, lane);
}

void claude_stream_event(struct claude *c, struct claude_lane *lane, const struct claude_line *l)
{
    static const struct {
        const char *event;
        void (*handle)(struct claude *, struct claude_lane *, const struct claude_line *);
    } handlers[] = {
        {"content_block_delta", on_delta},     {"content_block_start", on_block_start},
        {"content_block_stop", on_block_stop}, {"message_start", on_message_start},
        {"message_delta", on_message_delta},   {"message_stop", on_message_stop},
    };
    for (size_t i = 0; i < sizeof(handlers) / sizeof(*handlers); i++)
        if (str_is(l->body.event, handlers[i].event)) {
            handlers[i].handle(c, lane, l);
            return;
        }
    if (!str_is(l->body.event, "ping"))
        claude_raw(c, lane, "stream_event", l->self);
}
