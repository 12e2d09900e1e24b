/* SPDX-License-Identifier: MIT
 * Lifecycle of a message: begin, stop, usage, finish. */
#include <stdlib.h>

#include "dialect/claude/claude.h"

#define KEEP_MAX ((size_t)64 << 10) /* a larger buffer is not reused */

static void buf_recycle(struct buf *b)
{
    if (b->cap > KEEP_MAX)
        buf_fini(b);
    else
        buf_reset(b);
}

static void block_fini(struct claude_block *b)
{
    buf_fini(&b->text);
    buf_fini(&b->id);
    buf_fini(&b->name);
    buf_fini(&b->input);
}

void claude_lane_fini(struct claude_lane *lane)
{
    struct claude_message *const m = &lane->message;
    for (size_t i = 0; i < m->cap; i++)
        block_fini(&m->blocks[i]);
    free(m->blocks);
    buf_fini(&m->id);
    buf_fini(&m->source);
    buf_fini(&m->model);
    buf_fini(&lane->parent_raw);
    buf_fini(&lane->parent);
    buf_fini(&lane->agent);
}

/* Removes the blocks; keeps the message's id, for late lines. */
static void message_clear(struct claude_message *m)
{
    for (size_t i = 0; i < m->count; i++) {
        struct claude_block *const b = &m->blocks[i];
        buf_recycle(&b->text);
        buf_recycle(&b->id);
        buf_recycle(&b->name);
        buf_recycle(&b->input);
    }
    m->count = 0;
    m->started = m->ended = m->cut = false;
    m->usage = CLAUDE_USAGE_NONE;
}

void claude_step_end(struct claude *c)
{
    struct event ev;
    if (step_counter_end(&c->steps, &ev))
        claude_emit(c, &c->main, &ev);
}

/* A model call is one message, on however many lines. */
static bool begins_step(const struct claude *c, const struct claude_lane *lane)
{
    return lane == &c->main && (!c->profile->splits_calls || step_counter_is_due(&c->steps));
}

static void claude_message_start_step(struct claude *c)
{
    struct event ev;
    if (c->closed)
        return;
    step_counter_start(&c->steps, &ev, c->main.message.id.p);
    claude_emit(c, &c->main, &ev);
}

void claude_message_begin(struct claude *c, struct claude_lane *lane, const struct claude_line *l)
{
    struct claude_message *const m = &lane->message;
    const bool begins = begins_step(c, lane);
    claude_message_finish(c, lane);
    if (begins)
        claude_step_end(c);
    m->next_index = 0;
    claude_set_unescaped(c, &m->source, l->body.message_id);
    claude_set_unescaped(c, &m->id, l->body.message_id);
    claude_set_unescaped(c, &m->model, l->body.model);
    if (!m->id.len)
        buf_printf(&m->id, "message-%llu", (unsigned long long)++c->unnamed);
    if (lane == &c->main)
        c->stop_reason[0] = '\0';
    if (begins)
        claude_message_start_step(c);
}

static int64_t claude_message_first_of(int64_t value, int64_t fallback)
{
    return value >= 0 ? value : fallback;
}

/* Once per message, however many lines repeat it. */
void claude_message_count(struct claude *c, struct claude_lane *lane,
                          const struct claude_usage *now)
{
    struct claude_message *const m = &lane->message;
    char *const last = c->totals.counted_id[lane == &c->main ? 0 : 1];
    const size_t room = sizeof(c->totals.counted_id[0]);
    if (now->output < 0 || strncmp(last, m->id.p, room - 1) == 0)
        return;
    claude_copy_code(last, room, (struct str){m->id.p, m->id.len});
    struct event ev;
    event_init(&ev, TC_USAGE);
    ev.u.usage.scope = "call";
    ev.u.usage.input_tokens = claude_message_first_of(now->input, m->usage.input);
    ev.u.usage.output_tokens = now->output;
    ev.u.usage.cache_read_tokens = claude_message_first_of(now->cache_read, m->usage.cache_read);
    ev.u.usage.cache_write_tokens = claude_message_first_of(now->cache_write, m->usage.cache_write);
    ev.u.usage.cache_counted = c->profile->cache_counted;
    ev.u.usage.model = m->model.len ? m->model.p : NULL;
    ev.u.usage.stop_reason = c->stop_reason[0] && lane == &c->main ? c->stop_reason : NULL;
    claude_emit(c, lane, &ev);
}

/* The message has ended normally, with that reason. */
void claude_message_stopped(struct claude *c, struct claude_lane *lane, struct str reason)
{
    lane->message.ended = true;
    if (str_is(reason, "max_tokens"))
        lane->message.cut = true;
    if (lane == &c->main)
        claude_copy_code(c->stop_reason, sizeof(c->stop_reason), reason);
}

void claude_message_drop_open(struct claude *c, struct claude_lane *lane)
{
    struct claude_message *const m = &lane->message;
    for (size_t i = 0; i < m->count; i++)
        if (claude_block_is_waiting(&m->blocks[i]))
            claude_retract(c, lane, &m->blocks[i]);
}

void claude_message_retain_open_text(struct claude *c, struct claude_lane *lane)
{
    struct claude_message *const m = &lane->message;
    for (size_t i = 0; i < m->count; i++)
        if (claude_block_is_waiting(&m->blocks[i]) && m->blocks[i].kind == CLAUDE_BLOCK_TEXT)
            claude_block_commit(c, lane, &m->blocks[i]);
}

/* The committed texts of one kind, joined; NULL: none. */
static const char *claude_message_join(struct claude *c, const struct claude_message *m,
                                       enum claude_block_kind kind, size_t *len)
{
    const struct claude_block *only = NULL;
    size_t found = 0, total = 0;
    for (size_t i = 0; i < m->count; i++)
        if (m->blocks[i].kind == kind && m->blocks[i].state == CLAUDE_BLOCK_COMMITTED &&
            m->blocks[i].text.len) {
            only = &m->blocks[i];
            total += only->text.len;
            found++;
        }
    *len = total;
    if (found < 2)
        return only ? only->text.p : NULL;
    char *const all = arena_alloc_bytes(c->out->scratch, total + 1);
    char *end = all;
    for (size_t i = 0; i < m->count; i++) {
        const struct claude_block *const b = &m->blocks[i];
        if (b->kind == kind && b->state == CLAUDE_BLOCK_COMMITTED && b->text.len)
            end = mempcpy(end, b->text.p, b->text.len);
    }
    *end = '\0';
    return all;
}

static void claude_message_emit_message(struct claude *c, const struct claude_lane *lane)
{
    const struct claude_message *const m = &lane->message;
    struct event ev;
    event_init(&ev, TC_MESSAGE);
    ev.u.message.role = "assistant";
    ev.u.message.message_id = m->id.p;
    ev.u.message.text = claude_message_join(c, m, CLAUDE_BLOCK_TEXT, &ev.u.message.text_len);
    ev.u.message.reasoning =
        claude_message_join(c, m, CLAUDE_BLOCK_THINKING, &ev.u.message.reasoning_len);
    claude_emit(c, lane, &ev);
}

void claude_message_finish(struct claude *c, struct claude_lane *lane)
{
    struct claude_message *const m = &lane->message;
    bool counts = false;
    for (size_t i = 0; i < m->count; i++)
        counts |= m->blocks[i].state == CLAUDE_BLOCK_COMMITTED;
    if (counts)
        claude_message_emit_message(c, lane);
    if (lane == &c->main && (counts || m->ended))
        claude_answer_store_message(c, m);
    message_clear(m);
}
