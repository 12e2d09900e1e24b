/* SPDX-License-Identifier: MIT
 * Owns the comparing of a line with the delta before it. What is not the same is read as ever. */
#include "dialect/claude_shape.h"

/* A delta that is longer is not worth the copy. */
#define SHAPE_MAX ((size_t)1 << 10)

/* Where a comparison is; p is NULL once it has failed. */
struct rest {
    const char *p, *end;
};

/* The bytes of the copy from `from` to `to` come next. */
static void match(struct rest *r, const struct claude_shape *s, size_t from, size_t to)
{
    const size_t n = to - from;
    if (r->p && (size_t)(r->end - r->p) >= n && memcmp(r->p, s->text.p + from, n) == 0)
        r->p += n;
    else
        r->p = NULL;
}

/* The string whose opening quote was matched. */
static struct str match_string(struct rest *r)
{
    struct str text = {0};
    if (!r->p)
        return text;
    struct json j;
    json_start(&j, r->p - 1, (size_t)(r->end - r->p) + 1);
    r->p = json_read_string(&j, &text) ? r->p - 1 + json_offset(&j) : NULL;
    return text;
}

static bool is_same(struct claude_shape *s, const char *line, size_t len)
{
    struct rest r = {line, line + len};
    const size_t behind_piece = s->piece.at + s->piece.len + 1;
    const size_t behind_uuid = s->uuid.at + s->uuid.len + 1;
    match(&r, s, 0, s->piece.at);
    const struct str piece = match_string(&r);
    match(&r, s, behind_piece, s->uuid.at);
    const struct str uuid = match_string(&r);
    match(&r, s, behind_uuid, s->text.len);
    if (r.p != r.end)
        return false;
    s->line.self = (struct str){line, len};
    s->line.piece = piece;
    s->line.uuid = uuid;
    return true;
}

static bool is_delta(const struct claude_line *l)
{
    return str_is(l->type, "stream_event") && str_is(l->event, "content_block_delta") &&
           l->piece.p && l->uuid.p > l->piece.p;
}

static struct claude_hole hole_at(const struct claude_shape *s, struct str string)
{
    return (struct claude_hole){(size_t)(string.p - s->text.p), string.len};
}

/* The copy that stays, if the line may be a delta. */
static const char *keep(struct claude_shape *s, const char *line, size_t len)
{
    buf_reset(&s->text);
    if (len > SHAPE_MAX)
        return line;
    buf_add(&s->text, line, len);
    return s->text.p;
}

const struct claude_line *claude_shape_read(struct claude_shape *s, const char *line, size_t len)
{
    if (s->is_known && is_same(s, line, len))
        return &s->line;
    s->is_known = false;
    if (claude_line_read(&s->line, keep(s, line, len), len) < 0)
        return NULL;
    s->is_known = s->text.len && is_delta(&s->line);
    if (s->is_known) {
        s->piece = hole_at(s, s->line.piece);
        s->uuid = hole_at(s, s->line.uuid);
    }
    return &s->line;
}

void claude_shape_fini(struct claude_shape *s)
{
    buf_fini(&s->text);
}
