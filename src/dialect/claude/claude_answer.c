/* SPDX-License-Identifier: MIT
 * Committed text: the segments that make up the final, and retraction of committed pieces. */
#include "dialect/claude/claude.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/plural.h"

static void answer_clear(struct claude_answer *a)
{
    for (size_t i = 0; i < a->count; i++)
        free(a->segments[i].text);
    a->count = 0;
}

void claude_answer_fini(struct claude_answer *a)
{
    answer_clear(a);
    free(a->segments);
    buf_fini(&a->message_id);
}

static size_t claude_answer_count_sent(const struct claude_committed *t)
{
    return t->next < CLAUDE_TOLD ? t->next : CLAUDE_TOLD;
}

void claude_told_fini(struct claude_committed *t)
{
    for (size_t i = 0; i < claude_answer_count_sent(t); i++)
        free(t->pieces[i].id);
    free(t->pieces);
}

static struct claude_piece *claude_answer_next_piece(struct claude_committed *t)
{
    if (t->next >= CLAUDE_TOLD) {
        struct claude_piece *const oldest = &t->pieces[t->next++ % CLAUDE_TOLD];
        free(oldest->id);
        return oldest;
    }
    t->pieces = alloc_grow(t->pieces, t->next, &t->cap, sizeof(*t->pieces));
    return &t->pieces[t->next++];
}

static void claude_answer_record_block(struct claude_committed *t, const struct claude_block *b)
{
    struct claude_piece *const piece = claude_answer_next_piece(t);
    piece->id = xstrdup(b->id.p);
    piece->chars = utf8_count(b->text.p, b->told);
    memcpy(piece->uuid, b->uuid, sizeof(piece->uuid));
}

/* Moves the block's text to the end of the answer. */
static void add_segment(struct claude_answer *a, struct claude_block *b)
{
    if (a->count == CLAUDE_SEGMENTS)
        return;
    a->segments = alloc_grow(a->segments, a->count, &a->cap, sizeof(*a->segments));
    struct claude_segment *const segment = &a->segments[a->count++];
    segment->len = b->text.len;
    segment->text = buf_steal(&b->text);
    memcpy(segment->uuid, b->uuid, sizeof(segment->uuid));
}

static bool is_committed(const struct claude_block *b, enum claude_block_kind kind)
{
    return b->kind == kind && b->state == CLAUDE_BLOCK_COMMITTED;
}

static bool has_text(const struct claude_message *m, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (is_committed(&m->blocks[i], CLAUDE_BLOCK_TEXT))
            return true;
    return false;
}

void claude_answer_store_message(struct claude *c, struct claude_message *m)
{
    struct claude_answer *const a = &c->answer;
    size_t tail = 0; /* after the last tool call */
    for (size_t i = 0; i < m->count; i++) {
        if (is_committed(&m->blocks[i], CLAUDE_BLOCK_TOOL))
            tail = i + 1;
        else if (is_committed(&m->blocks[i], CLAUDE_BLOCK_TEXT) && m->blocks[i].uuid[0])
            claude_answer_record_block(&c->told, &m->blocks[i]);
    }
    const bool goes_on = a->goes_on && !a->stale && !tail;
    a->goes_on = m->cut;
    a->stale = !has_text(m, tail, m->count);
    const size_t from = a->stale ? 0 : tail, to = a->stale ? tail : m->count;
    if (!has_text(m, from, to)) {
        a->stale &= !goes_on;
        return;
    }
    if (!goes_on)
        answer_clear(a);
    for (size_t i = from; i < to; i++)
        if (is_committed(&m->blocks[i], CLAUDE_BLOCK_TEXT))
            add_segment(a, &m->blocks[i]);
    buf_reset(&a->message_id);
    buf_add(&a->message_id, m->id.p, m->id.len);
}

const char *claude_answer_text(struct claude *c, size_t *len)
{
    const struct claude_answer *const a = &c->answer;
    size_t total = 0;
    for (size_t i = 0; i < a->count; i++)
        total += a->segments[i].len;
    *len = total;
    if (a->count < 2)
        return a->count ? a->segments[0].text : NULL;
    char *const all = arena_alloc_bytes(c->out->scratch, total + 1);
    char *end = all;
    for (size_t i = 0; i < a->count; i++)
        end = mempcpy(end, a->segments[i].text, a->segments[i].len);
    *end = '\0';
    return all;
}

static void claude_answer_emit_retracted(struct claude *c, const struct claude_lane *lane,
                                         const char *id, size_t chars)
{
    struct event ev;
    event_init_notice(
        &ev, "info", "retracted",
        arena_sprintf(c->out->scratch, "%zu character%s retracted", chars, PLURAL(chars, "", "s")));
    ev.u.notice.message_id = id;
    claude_emit(c, lane, &ev);
}

void claude_retract(struct claude *c, const struct claude_lane *lane, struct claude_block *b)
{
    b->state = CLAUDE_BLOCK_DROPPED;
    b->pending = 0;
    if (b->kind == CLAUDE_BLOCK_TOOL)
        claude_tool_cancelled(c, lane, b);
    else if (b->told)
        claude_answer_emit_retracted(c, lane, b->id.p, utf8_count(b->text.p, b->told));
}

static void answer_remove(struct claude_answer *a, const char *uuid)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (strcmp(a->segments[i].uuid, uuid) == 0)
            free(a->segments[i].text);
        else
            a->segments[kept++] = a->segments[i];
    }
    if (kept < a->count && kept == 0)
        a->stale = true;
    a->count = kept;
}

static void retract_line(struct claude *c, const char *uuid)
{
    struct claude_message *const m = &c->main.message;
    for (size_t i = 0; i < m->count; i++)
        if (m->blocks[i].state == CLAUDE_BLOCK_COMMITTED &&
            m->blocks[i].kind != CLAUDE_BLOCK_TOOL && strcmp(m->blocks[i].uuid, uuid) == 0)
            claude_retract(c, &c->main, &m->blocks[i]);
    answer_remove(&c->answer, uuid);
    for (size_t i = 0; i < claude_answer_count_sent(&c->told); i++) {
        struct claude_piece *const piece = &c->told.pieces[i];
        if (!piece->id || strcmp(piece->uuid, uuid) != 0)
            continue;
        claude_answer_emit_retracted(c, NULL, piece->id, piece->chars);
        free(piece->id);
        piece->id = NULL;
    }
}

void claude_retract_lines(struct claude *c, struct str uuids)
{
    struct json j;
    json_reader_open_array(&j, uuids);
    while (json_reader_next_element(&j)) {
        struct str raw = {0};
        char uuid[CLAUDE_UUID];
        if (!json_reader_read_string(&j, &raw) || !raw.len)
            continue;
        claude_copy_code(uuid, sizeof(uuid), raw);
        retract_line(c, uuid);
    }
}
