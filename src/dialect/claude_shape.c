/* SPDX-License-Identifier: MIT
 * Owns the comparing of a line with those before it. What is not the same is read as ever. */
#include "dialect/claude_shape.h"

#include "event/json_scan.h"

/* What is longer is not worth the copy. */
#define SHAPE_MAX ((size_t)1 << 10)

/* At p the bytes of the copy from `from` to `to`. */
static bool is_copy(const char *p, const struct buf *copy, size_t from, size_t to)
{
    return memcmp(p, copy->p + from, to - from) == 0;
}

/* ---- what stands around a body ---- */

/* The body, where all around it is the same; absent: it is not. */
static struct str body_within(const struct claude_around *a, const char *line, size_t len)
{
    const size_t behind = a->body_at + 1, behind_uuid = a->uuid.at + a->uuid.len;
    if (len < a->text.len || !a->text.len)
        return (struct str){0};
    /* Such that an offset of the copy leads to the same place. */
    const char *const tail = line + (len - a->text.len);
    if (!is_copy(line, &a->text, 0, a->body_at) ||
        !is_copy(tail + behind, &a->text, behind, a->uuid.at) ||
        !is_copy(tail + behind_uuid, &a->text, behind_uuid, a->text.len) ||
        !json_scan_is_plain(tail + a->uuid.at, a->uuid.len))
        return (struct str){0};
    return (struct str){line + a->body_at, len - a->text.len + 1};
}

/* Keeps what stands around the body of a line that was read. */
static void keep_around(struct claude_shape *s, const struct claude_line *l)
{
    if (!l->body.self.p || l->self.len - l->body.self.len > SHAPE_MAX)
        return;
    const char *const end = l->self.p + l->self.len;
    const char *const body_end = l->body.self.p + l->body.self.len;
    if (l->uuid.p < body_end)
        return;
    struct claude_around *const a = &s->around[s->oldest++ % CLAUDE_AROUNDS];
    a->body_at = (size_t)(l->body.self.p - l->self.p);
    buf_reset(&a->text);
    buf_add(&a->text, l->self.p, a->body_at);
    buf_add_char(&a->text, '0');
    buf_add(&a->text, body_end, (size_t)(end - body_end));
    s->delta.is_known = false;
    if (claude_line_read(&a->line, a->text.p, a->text.len) < 0)
        buf_reset(&a->text);
    else
        a->uuid = (struct claude_hole){(size_t)(a->line.uuid.p - a->text.p), a->line.uuid.len};
}

/* ---- the body of a delta ---- */

/* True: it is the newest one but for the text, which was exchanged. */
static bool is_same_delta(struct claude_shape *s, struct claude_body *to, struct str body)
{
    const struct claude_delta *const d = &s->delta;
    const size_t behind = d->piece.at + d->piece.len;
    if (!d->is_known || d->body != to || body.len < d->text.len - d->piece.len)
        return false;
    const char *const piece = body.p + d->piece.at;
    const char *const close = body.p + body.len - (d->text.len - behind);
    if (!is_copy(body.p, &d->text, 0, d->piece.at) ||
        !is_copy(close, &d->text, behind, d->text.len) ||
        json_string_end(piece, body.p + body.len) != close)
        return false;
    to->self = body;
    to->piece = (struct str){piece, (size_t)(close - piece)};
    return true;
}

/* The copy that stays, if the body may be that of a delta. */
static struct str keep_body(struct claude_delta *d, struct str body)
{
    buf_reset(&d->text);
    if (body.len > SHAPE_MAX)
        return body;
    buf_add(&d->text, body.p, body.len);
    return (struct str){d->text.p, d->text.len};
}

/* False: it is not one valid value. */
static bool read_body(struct claude_delta *d, struct claude_body *to, struct str body)
{
    const struct str text = keep_body(d, body);
    struct json j;
    json_start_inside(&j, text.p, text.len);
    claude_body_read(&j, to->is_event, to);
    if (j.error || json_offset(&j) != text.len)
        return false;
    d->body = to;
    d->is_known = text.p == d->text.p && str_is(to->event, "content_block_delta") && to->piece.p;
    if (d->is_known)
        d->piece = (struct claude_hole){(size_t)(to->piece.p - text.p), to->piece.len};
    return true;
}

/* ---- lines ---- */

/* NULL: it is like none before. */
static const struct claude_line *read_known(struct claude_shape *s, const char *line, size_t len)
{
    struct str body = {0};
    struct claude_around *a = s->around;
    while (a < s->around + CLAUDE_AROUNDS && !(body = body_within(a, line, len)).p)
        a++;
    if (!body.p)
        return NULL;
    if (!is_same_delta(s, &a->line.body, body)) {
        s->delta.is_known = false;
        if (!read_body(&s->delta, &a->line.body, body))
            return NULL;
    }
    a->line.self = (struct str){line, len};
    a->line.uuid.p = line + (len - a->text.len) + a->uuid.at;
    return &a->line;
}

const struct claude_line *claude_shape_read(struct claude_shape *s, const char *line, size_t len)
{
    const struct claude_line *const known = read_known(s, line, len);
    if (known)
        return known;
    if (claude_line_read(&s->line, line, len) < 0)
        return NULL;
    keep_around(s, &s->line);
    return &s->line;
}

void claude_shape_fini(struct claude_shape *s)
{
    for (size_t i = 0; i < CLAUDE_AROUNDS; i++)
        buf_fini(&s->around[i].text);
    buf_fini(&s->delta.text);
}
