/* SPDX-License-Identifier: MIT
 * Parses the framing of server-sent events. */
#include "dialect/protocol/sse.h"

#include "base/bytes/utf8.h"

#define BOM STR("\xEF\xBB\xBF")

static void frame_reset(struct sse_parser *s)
{
    buf_reset(&s->data);
    buf_reset(&s->event);
    s->has_data = false;
    s->skipped = 0;
}

static const char *text_or_null(const struct buf *b)
{
    return b->len ? b->p : NULL;
}

static void frame_end(struct sse_parser *s)
{
    if (s->skipped) {
        s->dropped(s->ctx, s->skipped + s->data.len);
    } else if (s->has_data) {
        buf_reserve(&s->data, 0);
        s->frame(s->ctx, &(struct sse_event){.data = s->data.p,
                                             .len = s->data.len,
                                             .event = text_or_null(&s->event),
                                             .id = text_or_null(&s->id)});
    }
    frame_reset(s);
}

static void data_add(struct sse_parser *s, struct str value)
{
    if (s->skipped || s->data.len + value.len + 1 > s->cap) {
        s->skipped += value.len + 1;
        return;
    }
    if (s->has_data)
        buf_add_char(&s->data, '\n');
    buf_add(&s->data, value.p, value.len);
    s->has_data = true;
}

static void sse_replace(struct buf *b, struct str value)
{
    buf_reset(b);
    buf_add(b, value.p, value.len);
}

/* Repairs the name, because dialects pass it on and nothing else checks it. */
static void sse_read_name(struct sse_parser *s, struct str value)
{
    buf_reset(&s->event);
    utf8_repair(&s->event, value.p, value.len);
}

static void sse_read_field(struct sse_parser *s, struct str name, struct str value)
{
    if (str_is(name, "data"))
        data_add(s, value);
    else if (str_is(name, "event"))
        sse_read_name(s, value);
    else if (str_is(name, "id") && !memchr(value.p, '\0', value.len))
        sse_replace(&s->id, value);
}

static void sse_read_line(struct sse_parser *s, struct str line)
{
    if (line.len == 0) {
        frame_end(s);
        return;
    }
    const char *const colon = memchr(line.p, ':', line.len);
    if (colon == line.p)
        return; /* a comment only keeps the connection alive */
    const size_t name_len = colon ? (size_t)(colon - line.p) : line.len;
    struct str value = {line.p + line.len, 0};
    if (colon)
        value = (struct str){colon + 1, line.len - name_len - 1};
    if (value.len && value.p[0] == ' ')
        value = (struct str){value.p + 1, value.len - 1};
    sse_read_field(s, (struct str){line.p, name_len}, value);
}

void sse_feed_line(struct sse_parser *s, const char *line, size_t len)
{
    struct str rest = {line, len};
    if (!s->begun && str_has_prefix(rest, BOM))
        rest = (struct str){rest.p + BOM.len, rest.len - BOM.len};
    s->begun = true;
    if (rest.len && rest.p[rest.len - 1] == '\r')
        rest.len--;
    for (;;) {
        const char *const cr = rest.len ? memchr(rest.p, '\r', rest.len) : NULL;
        if (!cr)
            break;
        const size_t n = (size_t)(cr - rest.p);
        sse_read_line(s, (struct str){rest.p, n});
        rest = (struct str){cr + 1, rest.len - n - 1};
    }
    sse_read_line(s, rest);
}

void sse_flush(struct sse_parser *s)
{
    frame_end(s);
}

void sse_fini(struct sse_parser *s)
{
    buf_fini(&s->data);
    buf_fini(&s->event);
    buf_fini(&s->id);
}

bool sse_is_first_line(const char *line, size_t len)
{
    static const char *const starts[] = {":", "data:", "event:", "id:", "retry:"};
    struct str s = {line, len};
    if (str_has_prefix(s, BOM))
        s = (struct str){s.p + BOM.len, s.len - BOM.len};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (str_has_prefix(s, (struct str){starts[i], strlen(starts[i])}))
            return true;
    return false;
}
