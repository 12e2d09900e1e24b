/* SPDX-License-Identifier: MIT
 * Shortens an event so that it fits into a message. */
#include "core/bus/bus_line.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "event/codec.h"
#include "plugin/queue/event_truncate.h"

/* NATS servers accept 1 MiB by default, including headers. */
#define LINE_BYTES ((size_t)900 << 10)
#define FINAL_BYTES ((size_t)128 << 10)

static void bus_line_append_event(struct buf *out, const struct event *ev, uint64_t shift)
{
    struct event draft = *ev;
    draft.u.meta = &draft.meta;
    draft.meta.seq += shift;
    codec_encode(out, &draft);
}

/* Replaces an event that cannot be shortened by a notice. */
static void bus_line_append_notice(struct buf *out, const struct event *ev, uint64_t shift)
{
    struct event notice;
    event_init_notice(&notice, "warning", "too_large",
                      "An event of this turn is too large for the bus; only the host of the turn "
                      "shows it.");
    notice.meta = ev->meta;
    notice.meta.x = NULL;
    bus_line_append_event(out, &notice, shift);
}

static struct shared_event *bus_line_shorten_final(const struct event *ev)
{
    CLEANUP_BUF struct buf text = {0};
    struct event draft = *ev;
    draft.u.meta = &draft.meta;
    event_truncate_text(&text, (struct str){ev->u.final.text, ev->u.final.text_len}, FINAL_BYTES);
    draft.u.final.text = text.p;
    draft.u.final.text_len = text.len;
    return shared_event_new(&draft);
}

/* NULL: no text that could be cut. Owned. */
static struct shared_event *bus_line_shorten(const struct event *ev)
{
    if (ev->kind == TC_FINAL)
        return bus_line_shorten_final(ev);
    return ev->kind == TC_NARRATION ? event_truncate_narration(ev) : event_truncate_tool(ev);
}

static void bus_line_append_short(struct buf *out, const struct event *ev, uint64_t shift)
{
    const size_t before = out->len;
    struct shared_event *const shorter = bus_line_shorten(ev);
    if (shorter)
        bus_line_append_event(out, shared_event_get(shorter), shift);
    shared_event_unref(shorter);
    if (shorter && out->len - before <= LINE_BYTES)
        return;
    out->len = before;
    bus_line_append_notice(out, ev, shift);
}

void bus_line_append(struct buf *out, struct shared_event *shared, uint64_t shift)
{
    struct str line;
    line.p = shared_event_json_line(shared, &line.len);
    if (line.len > LINE_BYTES)
        bus_line_append_short(out, shared_event_get(shared), shift);
    else if (shift)
        bus_line_append_event(out, shared_event_get(shared), shift);
    else
        buf_add(out, line.p, line.len);
    buf_add_char(out, '\n');
}
