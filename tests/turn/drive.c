/* SPDX-License-Identifier: MIT
 * Makes drafts of bytes: four bytes each, ids from a small pool so that they meet. */
#include "turn/drive.h"

#define DRAFT_BYTES 4
#define PICK(table, n) ((table)[(n) % (sizeof(table) / sizeof((table)[0]))])

static const char *const ids[] = {"t1", "t2", "t3", "", NULL, "t4", "a longer id \xc3\xa9", "t5"};
static const char *const names[] = {NULL, "a", "b", ""};
static const char *const agents[] = {"sub-1", "sub-2", ""};
static const char *const texts[] = {"", "text", "\xf0\x9f\x98\x80", "longer text\nof two lines"};

/* Four bytes of the program. */
struct draft_bytes {
    uint8_t kind, id, what, more;
};

static const char *text_of(uint8_t n, size_t *len)
{
    const char *const text = PICK(texts, n);
    *len = strlen(text);
    return text;
}

static void fill_tools(struct event *ev, struct draft_bytes b)
{
    if (ev->kind == TC_TOOL_CALL) {
        ev->u.tool_call.tool_use_id = PICK(ids, b.id);
        ev->u.tool_call.name = PICK(names, b.what | 1);
        if (b.more & 1) {
            ev->u.tool_call.args = "{\"a\":1}";
            ev->u.tool_call.args_len = 7;
        }
    } else if (ev->kind == TC_TOOL_RESULT) {
        ev->u.tool_result.tool_use_id = PICK(ids, b.id);
        ev->u.tool_result.name = PICK(names, b.what);
        ev->u.tool_result.content = text_of(b.more, &ev->u.tool_result.content_len);
    } else if (ev->kind == TC_PROGRESS) {
        ev->u.progress.tool_use_id = PICK(ids, b.id);
        ev->u.progress.name = PICK(names, b.what);
    } else {
        ev->u.request.request_id = PICK(ids, b.id);
        ev->u.request.state = b.what & 1 ? "open" : "resolved";
    }
}

static void fill_turn(struct event *ev, struct draft_bytes b)
{
    static const char *const states[] = {"start", "end", "start", "mark"};
    static const char *const kinds[] = {NULL, "step", "agent", "agent"};
    static const char *const reasons[] = {"completed", "cancelled", "suspended", "stopped",
                                          "refused",   "error",     "lost",      "over"};
    if (ev->kind == TC_STEP) {
        ev->u.step.state = PICK(states, b.what);
        ev->u.step.kind = PICK(kinds, b.what >> 2);
        ev->u.step.name = PICK(names, b.more);
        ev->u.step.step_id = b.more & 8 ? PICK(ids, b.id) : NULL;
        ev->u.step.index = b.more & 4 ? b.id % 3 : -1;
    } else if (ev->kind == TC_ERROR) {
        ev->u.error.message = PICK(texts, b.what);
        ev->u.error.code = PICK(names, b.more);
    } else if (ev->kind == TC_DONE) {
        ev->u.done.reason = PICK(reasons, b.what);
        ev->u.done.detail = PICK(names, b.more);
    } else if (ev->kind == TC_USAGE) {
        ev->u.usage.scope = b.what & 1 ? "turn" : "call";
    }
}

static void fill_text(struct event *ev, struct draft_bytes b)
{
    if (ev->kind == TC_NARRATION)
        ev->u.narration.text = text_of(b.what, &ev->u.narration.text_len);
    else if (ev->kind == TC_THINKING)
        ev->u.thinking.text = text_of(b.what, &ev->u.thinking.text_len);
    else if (ev->kind == TC_FINAL)
        ev->u.final.text = text_of(b.what, &ev->u.final.text_len);
    if (ev->kind == TC_THINKING && b.more & 1)
        ev->u.thinking.encrypted = "AA==";
}

/* The upper half of the first byte: now and then a sub-agent's event, a time, a session, an x. */
static void fill_meta(struct event *ev, struct draft_bytes b)
{
    const unsigned flags = b.kind >> 4;
    if (flags == 1)
        ev->meta.agent = PICK(agents, b.id);
    else if (flags == 2)
        ev->meta.parent_id = PICK(ids, b.what);
    else if (flags == 3)
        ev->meta.session_id = PICK(ids, b.more);
    else if (flags == 4)
        ev->meta.x = b.more & 1 ? "{}" : "{\"k\":[1]}";
    else if (flags == 5)
        ev->meta.ts = b.more;
}

static void feed_draft(struct guard *g, struct draft_bytes b)
{
    struct event ev;
    event_init(&ev, (enum tc_kind)(b.kind % TC_KINDS));
    fill_text(&ev, b);
    if (ev.kind >= TC_TOOL_CALL && ev.kind <= TC_REQUEST)
        fill_tools(&ev, b);
    fill_turn(&ev, b);
    fill_meta(&ev, b);
    guard_feed(g, &ev);
}

void drive_guard(struct guard *g, const uint8_t *p, size_t n)
{
    struct stream_end_info end = {.how = STREAM_EOF};
    if (n > 0) {
        end.how = (enum stream_end)(p[0] % (STREAM_SPAWN + 1));
        end.truncated = p[0] & 0x80;
        end.code = p[0] & 0x40 ? "own_code" : NULL;
        p++;
        n--;
    }
    for (; n >= DRAFT_BYTES; p += DRAFT_BYTES, n -= DRAFT_BYTES)
        feed_draft(g, (struct draft_bytes){p[0], p[1], p[2], p[3]});
    guard_end(g, &end);
}
