/* SPDX-License-Identifier: MIT
 * Content blocks of a message: accumulation and emission of their text. */
#include "base/alloc.h"
#include "dialect/claude/claude.h"
#include "event/json/json_writer.h"

enum claude_block_kind claude_block_kind_of(struct str type)
{
    if (str_is(type, "text"))
        return CLAUDE_BLOCK_TEXT;
    if (str_is(type, "thinking") || str_is(type, "redacted_thinking"))
        return CLAUDE_BLOCK_THINKING;
    /* tool_use, server_tool_use, mcp_tool_use */
    const struct str tail = STR("tool_use");
    if (type.len >= tail.len && memcmp(type.p + type.len - tail.len, tail.p, tail.len) == 0)
        return CLAUDE_BLOCK_TOOL;
    return CLAUDE_BLOCK_OTHER;
}

static void name_block(struct buf *id, const struct claude_message *m, int64_t index)
{
    buf_add(id, m->id.p, m->id.len);
    buf_add_char(id, '#');
    jsonw_int(id, index);
}

/* Appends a block; NULL: the message has too many. */
struct claude_block *claude_block_add(struct claude_message *m, enum claude_block_kind kind,
                                      int64_t index)
{
    if (m->count == CLAUDE_BLOCKS_MAX)
        return NULL;
    if (m->count == m->cap) {
        m->cap = m->cap ? m->cap * 2 : 4;
        m->blocks = xrealloc(m->blocks, m->cap * sizeof(*m->blocks));
        memset(m->blocks + m->count, 0, (m->cap - m->count) * sizeof(*m->blocks));
    }
    struct claude_block *const b = &m->blocks[m->count++];
    *b = (struct claude_block){.index = index,
                               .kind = kind,
                               .text = b->text,
                               .id = b->id,
                               .name = b->name,
                               .input = b->input};
    if (kind != CLAUDE_BLOCK_TOOL)
        name_block(&b->id, m, index);
    if (index >= m->next_index)
        m->next_index = index + (index < INT64_MAX);
    return b;
}

/* The newest block of that index; usually the last one. */
struct claude_block *claude_block_at(struct claude_message *m, int64_t index)
{
    for (size_t i = m->count; i-- > 0;)
        if (m->blocks[i].index == index)
            return &m->blocks[i];
    return NULL;
}

bool claude_block_is_waiting(const struct claude_block *b)
{
    return b->state == CLAUDE_BLOCK_OPEN || b->state == CLAUDE_BLOCK_STOPPED;
}

static void claude_block_emit_text(struct claude *c, const struct claude_lane *lane,
                                   const struct claude_block *b, const char *text, size_t len)
{
    struct event ev;
    const enum tc_kind kind = b->kind == CLAUDE_BLOCK_TEXT ? TC_NARRATION : TC_THINKING;
    event_init_text(&ev, kind, text, len, b->id.p);
    claude_emit(c, lane, &ev);
}

/* Adds to a text or thinking block and emits the addition. Leading white space is delayed until
 * visible text follows: blank blocks are never emitted, so they need no retraction. */
void claude_block_append(struct claude *c, const struct claude_lane *lane, struct claude_block *b,
                         const char *text, size_t len)
{
    const size_t before = b->text.len;
    if (!len)
        return;
    if (before + len <= CLAUDE_TEXT_MAX)
        buf_add(&b->text, text, len);
    if (b->told == before && before > 0) {
        claude_block_emit_text(c, lane, b, text, len);
    } else if (!str_is_blank((struct str){text, len})) {
        if (b->told < before)
            claude_block_emit_text(c, lane, b, b->text.p + b->told, b->text.len - b->told);
        else
            claude_block_emit_text(c, lane, b, text, len);
    } else {
        return;
    }
    b->told = b->text.len;
}

void claude_block_set_signature(struct claude *c, const struct claude_lane *lane,
                                struct claude_block *b, struct str data)
{
    if (b->sealed || !data.len)
        return;
    b->sealed = true;
    struct event ev;
    event_init(&ev, TC_THINKING);
    ev.u.thinking.message_id = b->id.p;
    ev.u.thinking.encrypted = claude_unescape(c, data, NULL);
    ev.u.thinking.entity_id = lane->message.id.p;
    ev.u.thinking.entity = "message";
    claude_emit(c, lane, &ev);
}

static void claude_block_add_text(struct claude *c, const struct claude_lane *lane,
                                  struct claude_block *b, const char *text, size_t len)
{
    if (b->kind != CLAUDE_BLOCK_TOOL) {
        claude_block_append(c, lane, b, text, len);
        return;
    }
    if (!len)
        return;
    if (b->text.len + len <= CLAUDE_TEXT_MAX)
        buf_add(&b->text, text, len);
    claude_tool_args(c, lane, b, text, len);
}

/* Adds raw text to a block, joining surrogates that were split between two pieces. */
void claude_block_append_raw(struct claude *c, const struct claude_lane *lane,
                             struct claude_block *b, struct str raw)
{
    const struct buf *const known = b->pending ? NULL : json_reader_memo_text(&c->shape.memo, raw);
    if (known) {
        claude_block_add_text(c, lane, b, known->p, known->len);
        return;
    }
    size_t len = 0;
    const char *const text = json_reader_unescape_piece(c->out->scratch, raw, &b->pending, &len);
    if (text)
        claude_block_add_text(c, lane, b, text, len);
}

/* Commits the streamed text unchanged. */
void claude_block_commit(struct claude *c, struct claude_lane *lane, struct claude_block *b)
{
    b->state = CLAUDE_BLOCK_COMMITTED;
    if (b->kind == CLAUDE_BLOCK_TOOL)
        claude_tool_call_streamed(c, lane, b);
}

/* The streamed block that an assistant line repeats: the first uncommitted one of its kind. */
struct claude_block *claude_block_find(struct claude *c, struct claude_message *m,
                                       enum claude_block_kind kind, struct str id)
{
    const char *const wanted = kind == CLAUDE_BLOCK_TOOL ? claude_unescape(c, id, NULL) : NULL;
    for (size_t i = 0; i < m->count; i++) {
        struct claude_block *const b = &m->blocks[i];
        if (b->kind == kind && claude_block_is_waiting(b) &&
            (!wanted || (b->id.p && strcmp(b->id.p, wanted) == 0)))
            return b;
    }
    return NULL;
}

void claude_settle_tool(struct claude *c, struct claude_lane *lane, struct str id)
{
    struct claude_block *const b =
        claude_block_find(c, &lane->message, CLAUDE_BLOCK_TOOL, id.p ? id : STR(""));
    if (b)
        claude_block_commit(c, lane, b);
}
