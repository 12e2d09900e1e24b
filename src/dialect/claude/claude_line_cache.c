/* SPDX-License-Identifier: MIT
 * Compares a line with earlier ones. Different lines are parsed normally. */
#include "dialect/claude/claude_line_cache.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "event/json/json_scan.h"

/* longer lines are not copied */
#define SHAPE_MAX ((size_t)1 << 10)

/* Whether p has the bytes `from` to `to` of the copy. */
static bool is_copy(const char *p, const struct buf *copy, size_t from, size_t to)
{
    return memcmp(p, copy->p + from, to - from) == 0;
}

/* Converts an offset of the copy to one of the line, both counted from their ends. */
static const char *from_end(const char *line, size_t len, const struct buf *copy, size_t at)
{
    return line + (len + at - copy->len);
}

/* Whether the line equals the copy from that offset to the end, except for the uuid. */
static bool is_same_tail(const char *line, size_t len, const struct buf *copy, size_t from,
                         struct claude_line_gap uuid)
{
    const char *const tail = from_end(line, len, copy, from);
    const char *const at = tail + (uuid.at - from), *const behind = at + uuid.len;
    return is_copy(tail, copy, from, uuid.at) &&
           is_copy(behind, copy, uuid.at + uuid.len, copy->len) && json_scan_is_plain(at, uuid.len);
}

static struct claude_line_gap hole_of(struct str string, const struct buf *copy)
{
    return (struct claude_line_gap){(size_t)(string.p - copy->p), string.len};
}

/* ---- deltas ---- */

/* NULL: the line differs in more than the two strings. */
static const struct claude_line *read_as(struct claude_delta *d, const char *line, size_t len,
                                         struct json_memo *memo)
{
    const size_t behind = d->piece.at + d->piece.len;
    if (!d->text.len || len < d->text.len - d->piece.len)
        return NULL;
    const char *const piece = line + d->piece.at;
    const char *const close = from_end(line, len, &d->text, behind);
    const struct str raw = {piece, (size_t)(close - piece)};
    if (!is_copy(line, &d->text, 0, d->piece.at) ||
        !is_same_tail(line, len, &d->text, behind, d->uuid) ||
        (!json_memo_decode(memo, raw) && json_reader_string_end(piece, line + len) != close))
        return NULL;
    struct claude_line *const l = d->line;
    const size_t body_at = (size_t)(l->body.self.p - l->self.p);
    l->body.self = (struct str){line + body_at, l->body.self.len + len - l->self.len};
    l->body.piece = raw;
    l->uuid.p = from_end(line, len, &d->text, d->uuid.at);
    l->self = (struct str){line, len};
    return l;
}

/* NULL: similar to none of them. */
static const struct claude_line *claude_line_cache_read_delta(struct claude_shape *s,
                                                              const char *line, size_t len)
{
    for (unsigned i = 0; i < CLAUDE_DELTAS; i++) {
        const unsigned at = (s->newest + i) % CLAUDE_DELTAS;
        const struct claude_line *const l = read_as(&s->deltas[at], line, len, &s->memo);
        if (l) {
            s->newest = at;
            return l;
        }
    }
    return NULL;
}

/* False: the line has no variable parts. */
static bool claude_line_cache_store_line(struct claude_delta *d, struct str line)
{
    buf_reset(&d->text);
    buf_add(&d->text, line.p, line.len);
    if (!d->line)
        d->line = xmalloc(sizeof *d->line);
    const struct claude_line *const l = d->line;
    if (claude_line_parse(d->line, d->text.p, d->text.len, NULL) < 0 || !l->body.piece.p ||
        l->uuid.p < l->body.piece.p)
        return false;
    d->piece = hole_of(l->body.piece, &d->text);
    d->uuid = hole_of(l->uuid, &d->text);
    return true;
}

static void claude_line_cache_store_delta(struct claude_shape *s, const struct claude_line *read)
{
    if (!str_is(read->body.event, "content_block_delta") || read->self.len > SHAPE_MAX)
        return;
    s->newest = (s->newest + CLAUDE_DELTAS - 1) % CLAUDE_DELTAS;
    struct claude_delta *const d = &s->deltas[s->newest];
    if (!claude_line_cache_store_line(d, read->self))
        buf_reset(&d->text);
}

/* ---- the parts around a body ---- */

/* The body, if the parts around it are the same; absent: they differ. */
static struct str body_within(const struct claude_line_frame *a, const char *line, size_t len)
{
    if (!a->text.len || len < a->text.len || !is_copy(line, &a->text, 0, a->body_at) ||
        !is_same_tail(line, len, &a->text, a->body_at + 1, a->uuid))
        return (struct str){0};
    return (struct str){line + a->body_at, len - a->text.len + 1};
}

/* False: not one valid value. Reads the rest of the line, too. */
static bool read_body(struct claude_body *to, struct str body, const char *line_end,
                      struct json_memo *memo)
{
    struct json j;
    json_init_inside(&j, body.p, (size_t)(line_end - body.p));
    j.memo = memo;
    claude_body_parse(&j, to->is_event, to);
    return !j.error && json_reader_offset(&j) == body.len;
}

/* NULL: no earlier line has the same parts around its body. */
static const struct claude_line *read_around(struct claude_shape *s, const char *line, size_t len)
{
    struct str body = {0};
    struct claude_line_frame *a = s->around;
    while (a < s->around + CLAUDE_AROUNDS && !(body = body_within(a, line, len)).p)
        a++;
    if (!body.p || !read_body(&a->line.body, body, line + len, &s->memo))
        return NULL;
    a->line.self = (struct str){line, len};
    a->line.uuid.p = from_end(line, len, &a->text, a->uuid.at);
    return &a->line;
}

static void claude_line_cache_store_envelope(struct claude_shape *s, const struct claude_line *l)
{
    if (!l->body.self.p || l->self.len - l->body.self.len > SHAPE_MAX)
        return;
    const char *const end = l->self.p + l->self.len;
    const char *const body_end = l->body.self.p + l->body.self.len;
    if (l->uuid.p < body_end)
        return;
    struct claude_line_frame *const a = &s->around[s->oldest++ % CLAUDE_AROUNDS];
    a->body_at = (size_t)(l->body.self.p - l->self.p);
    buf_reset(&a->text);
    buf_add(&a->text, l->self.p, a->body_at);
    buf_add_char(&a->text, '0');
    buf_add(&a->text, body_end, (size_t)(end - body_end));
    if (claude_line_parse(&a->line, a->text.p, a->text.len, NULL) < 0)
        buf_reset(&a->text);
    else
        a->uuid = hole_of(a->line.uuid, &a->text);
}

/* ---- lines ---- */

/* NULL: invalid. */
static const struct claude_line *read_whole(struct claude_shape *s, const char *line, size_t len)
{
    if (claude_line_parse(&s->line, line, len, &s->memo) < 0)
        return NULL;
    claude_line_cache_store_envelope(s, &s->line);
    return &s->line;
}

const struct claude_line *claude_line_cache_parse(struct claude_shape *s, const char *line,
                                                  size_t len)
{
    json_reader_memo_reset(&s->memo);
    const struct claude_line *l = claude_line_cache_read_delta(s, line, len);
    if (l)
        return l;
    if (!(l = read_around(s, line, len)) && !(l = read_whole(s, line, len)))
        return NULL;
    claude_line_cache_store_delta(s, l);
    return l;
}

void claude_line_cache_fini(struct claude_shape *s)
{
    for (size_t i = 0; i < CLAUDE_DELTAS; i++) {
        buf_fini(&s->deltas[i].text);
        free(s->deltas[i].line);
    }
    for (size_t i = 0; i < CLAUDE_AROUNDS; i++)
        buf_fini(&s->around[i].text);
    buf_fini(&s->memo.text);
}
