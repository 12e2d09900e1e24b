/* SPDX-License-Identifier: MIT
 * Assistant lines: commit streamed blocks, or contain blocks that were not streamed. */
#include "dialect/claude/claude.h"

/* The line is authoritative: missing text is emitted, different text is emitted again. */
static void reconcile(struct claude *c, const struct claude_lane *lane, struct claude_block *b,
                      const char *text, size_t len)
{
    const size_t had = b->text.len;
    b->pending = 0;
    if (len >= had && (!had || memcmp(text, b->text.p, had) == 0)) {
        claude_block_append(c, lane, b, text + had, len - had);
        return;
    }
    if (b->told) {
        claude_retract(c, lane, b);
        buf_add_str(&b->id, "~1");
    }
    buf_reset(&b->text);
    b->told = 0;
    claude_block_append(c, lane, b, text, len);
}

/* Placeholder of the CLI for an empty text; text of the model would have been streamed. */
static bool is_placeholder(const struct claude_block *b, const char *text)
{
    return b->kind == CLAUDE_BLOCK_TEXT && !b->told && strcmp(text, "(no content)") == 0;
}

static void commit_text(struct claude *c, const struct claude_lane *lane, struct claude_block *b,
                        struct str raw)
{
    size_t len = 0;
    const char *const text = claude_unescape(c, raw, &len);
    /* The line may lack thinking that was shown while it was streamed. */
    const bool withheld = !text || (!len && b->kind == CLAUDE_BLOCK_THINKING);
    if (!withheld && !is_placeholder(b, text) && b->text.len < CLAUDE_TEXT_MAX)
        reconcile(c, lane, b, text, len);
    const bool blank = b->kind == CLAUDE_BLOCK_TEXT && !b->told;
    b->state = blank ? CLAUDE_BLOCK_DROPPED : CLAUDE_BLOCK_COMMITTED;
}

static void raw_block(struct claude *c, const struct claude_lane *lane,
                      const struct claude_content *content)
{
    const char *const type = claude_unescape(c, content->type, NULL);
    if (type)
        claude_raw(c, lane, arena_sprintf(c->out->scratch, "assistant/%s", type), content->self);
}

static void whole_block(struct claude *c, struct claude_lane *lane,
                        const struct claude_content *content, const struct claude_line *l)
{
    struct claude_message *const m = &lane->message;
    const enum claude_block_kind kind = claude_block_kind_of(content->type);
    if (kind == CLAUDE_BLOCK_OTHER) {
        if (content->tool_use_id.len)
            claude_tool_result(c, lane, content, l);
        else
            raw_block(c, lane, content);
        return;
    }
    struct claude_block *b = claude_block_find(c, m, kind, content->id);
    if (!b)
        b = claude_block_add(m, kind, m->next_index);
    if (!b)
        return;
    claude_copy_code(b->uuid, sizeof(b->uuid), l->uuid);
    if (kind == CLAUDE_BLOCK_TOOL) {
        claude_set_unescaped(c, &b->id, content->id);
        b->state = CLAUDE_BLOCK_COMMITTED;
        claude_tool_call(c, lane, content, b->uuid);
        return;
    }
    commit_text(c, lane, b, kind == CLAUDE_BLOCK_TEXT ? content->text : content->thinking);
    claude_block_set_signature(c, lane, b,
                               content->signature.len ? content->signature : content->data);
}

/* A line of the CLI itself: an error, or the output of a local command, which the result repeats;
 * never text of the model. */
static void synthetic_line(struct claude *c, const struct claude_line *l)
{
    if (!l->api_error_message && !l->error.len)
        return;
    claude_api_error_passed(c);
    claude_set_unescaped(c, &c->api_error.text, l->body.block.text);
    const struct str code = l->api_error_type.len ? l->api_error_type
                            : l->api_error.len    ? l->api_error
                                                  : l->error;
    claude_copy_code(c->api_error.code, sizeof(c->api_error.code), code);
}

/* In a stream whose messages have no start, blocks are committed when they stop, so a later line
 * adds nothing. */
static bool is_block_emitted(struct claude *c, struct claude_message *m,
                             const struct claude_content *content)
{
    const enum claude_block_kind kind = claude_block_kind_of(content->type);
    const char *const id = claude_unescape(c, content->id, NULL);
    const char *const text =
        claude_unescape(c, kind == CLAUDE_BLOCK_TEXT ? content->text : content->thinking, NULL);
    for (size_t i = 0; i < m->count; i++) {
        const struct claude_block *const b = &m->blocks[i];
        const char *const mine = kind == CLAUDE_BLOCK_TOOL ? b->id.p : b->text.p;
        const char *const its = kind == CLAUDE_BLOCK_TOOL ? id : text;
        if (b->kind == kind && b->state == CLAUDE_BLOCK_COMMITTED && mine && its &&
            strcmp(mine, its) == 0)
            return true;
    }
    return false;
}

/* Makes the line's message the current one of the lane. Returns false if the line only repeats
 * known content. */
static bool enter_message(struct claude *c, struct claude_lane *lane, const struct claude_line *l)
{
    struct claude_message *const m = &lane->message;
    const char *const id = claude_unescape(c, l->body.message_id, NULL);
    if (m->id.len && (!id || (m->source.len && strcmp(id, m->source.p) == 0)))
        return true;
    if (m->id.len && !m->source.len && m->count) {
        if (is_block_emitted(c, m, &l->body.block))
            return false;
        if (claude_block_find(c, m, claude_block_kind_of(l->body.block.type), l->body.block.id)) {
            buf_add_str(&m->source, id);
            return true;
        }
    }
    /* A message that was not streamed: the agent has abandoned the streamed attempt. */
    claude_message_drop_open(c, lane);
    claude_message_begin(c, lane, l);
    return true;
}

void claude_handle_assistant(struct claude *c, struct claude_lane *lane,
                             const struct claude_line *l)
{
    struct claude_message *const m = &lane->message;
    if (str_is(l->body.model, "<synthetic>")) {
        if (lane == &c->main)
            synthetic_line(c, l);
        return;
    }
    if (l->supersedes.p)
        claude_retract_lines(c, l->supersedes);
    if (!enter_message(c, lane, l))
        return;
    c->echoes |= lane == &c->main;
    const struct claude_content plain = {.type = STR("text"), .text = l->body.text};
    struct json j;
    if (!l->body.blocks.p)
        whole_block(c, lane, l->body.text.p ? &plain : &l->body.block, l);
    json_reader_open_array(&j, l->body.blocks);
    while (json_reader_next_element(&j)) {
        struct claude_content content;
        claude_content_read(&j, &content);
        whole_block(c, lane, &content, l);
    }
    if (l->body.stop_reason.len && !m->started) {
        claude_message_stopped(c, lane, l->body.stop_reason);
        claude_message_count(c, lane, &l->body.usage);
    }
}
