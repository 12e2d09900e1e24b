/* SPDX-License-Identifier: MIT
 * Finds the places where texts are cut. */
#include "text/render/split.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"

/* Kinds of places, the best first. */
enum split_boundary { AT_BLOCK, AT_BLANK_LINE, AT_LINE, AT_SENTENCE, AT_BLANK, NOWHERE };

struct cutter {
    const struct doc *doc;
    struct render_target target;
    struct render_output scratch;
    struct doc_range *pieces;
    size_t count, cap;
};

static bool split_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t';
}

static size_t split_trimmed(const struct cutter *c, size_t from, size_t to)
{
    while (to > from && split_is_space(c->doc->text.p[to - 1]))
        to--;
    return to;
}

static bool split_fits(struct cutter *c, size_t from, size_t to)
{
    const struct doc_range r = {from, split_trimmed(c, from, to)};
    render_doc(&c->scratch, c->doc, r, &c->target);
    return render_fits_budget(&c->scratch, &c->target.budget);
}

/* Upper bound of text bytes in a message: markup makes it longer; only padding of tables, which
 * some forms omit, makes it shorter. */
static size_t split_max_bytes(const struct cutter *c)
{
    const struct render_budget *b = &c->target.budget;
    const size_t unit_max = b->unit == RENDER_BYTES ? 2 : 4;
    const size_t by_units = b->units ? unit_max * b->units : SIZE_MAX;
    const size_t by_bytes = b->bytes ? 2 * b->bytes : SIZE_MAX;
    return by_units < by_bytes ? by_units : by_bytes;
}

/* Greatest end within `bound` bytes up to which the text fits, at a grapheme boundary; at least the
 * first character. */
static size_t split_find_furthest(struct cutter *c, size_t from, size_t bound)
{
    const char *p = c->doc->text.p + from;
    const size_t n = c->doc->text.len - from;
    size_t low;
    utf8_decode(p, n, &low);
    size_t high = bound < split_max_bytes(c) ? bound : split_max_bytes(c);
    if (high >= n && split_fits(c, from, from + n))
        return from + n;
    while (low < high) {
        const size_t middle = low + (high - low + 1) / 2;
        if (split_fits(c, from, from + utf8_truncated_len(p, n, middle)))
            low = middle;
        else
            high = middle - 1;
    }
    return from + utf8_truncated_len(p, n, low);
}

static bool is_code(const struct doc_span *s)
{
    return s->mark == DOC_PRE || s->mark == DOC_TABLE;
}

/* Spans that are not cut if possible. */
static bool split_is_atom(const struct doc_span *s)
{
    return s->mark == DOC_LINK || s->mark == DOC_CODE || s->mark == DOC_MARKER;
}

/* The outermost span around the place for which `is` returns true. */
static const struct doc_span *split_outermost_span(const struct cutter *c, size_t at,
                                                   bool (*is)(const struct doc_span *))
{
    const struct doc_span *found = NULL;
    for (const struct doc_span *s = doc_find_innermost(c->doc, at); s;
         s = doc_get_parent(c->doc, s))
        if (is(s))
            found = s;
    return found;
}

static bool split_has_span_end(const struct cutter *c, size_t at, enum doc_mark mark,
                               unsigned level)
{
    for (const struct doc_span *s = doc_find_innermost(c->doc, at - 1); s;
         s = doc_get_parent(c->doc, s))
        if (s->end == at && s->mark == mark && s->level >= level)
            return true;
    return false;
}

static bool split_ends_with(struct str s, const char *end)
{
    const size_t n = strlen(end);
    return s.len >= n && memcmp(s.p + s.len - n, end, n) == 0;
}

static bool ends_wide_sentence(struct str s)
{
    return split_ends_with(s, "。") || split_ends_with(s, "！") || split_ends_with(s, "？");
}

static bool ends_sentence(struct str s)
{
    if (s.len > 1 && strchr(")\"'", s.p[s.len - 1]))
        s.len--;
    return (s.len > 0 && strchr(".!?", s.p[s.len - 1])) || split_ends_with(s, "…") ||
           ends_wide_sentence(s);
}

static bool is_outermost(const struct cutter *c, size_t at)
{
    const struct doc_span *s = doc_find_innermost(c->doc, at);
    return !s || s->mark == DOC_FOLD;
}

static enum split_boundary line_end(const struct cutter *c, size_t at)
{
    const struct str text = c->doc->text;
    if (split_has_span_end(c, at, DOC_HEADING, 0))
        return AT_BLANK; /* the text below a heading should follow it */
    if (at + 1 >= text.len || text.p[at + 1] != '\n')
        return AT_LINE;
    return is_outermost(c, at) ? AT_BLOCK : AT_BLANK_LINE;
}

/* A combining mark belongs to the previous character. */
static bool split_cuts_combining_mark(const struct cutter *c, size_t from, size_t at)
{
    return utf8_truncated_len(c->doc->text.p + from, c->doc->text.len - from, at - from) !=
           at - from;
}

static enum split_boundary split_classify_place(const struct cutter *c, size_t from, size_t at)
{
    const struct str before = {c->doc->text.p + from, at - from};
    const char next = c->doc->text.p[at];
    if (!split_is_space(next) &&
        (!ends_wide_sentence(before) || split_cuts_combining_mark(c, from, at)))
        return NOWHERE;
    if (split_is_space(c->doc->text.p[at - 1]) || split_outermost_span(c, at, split_is_atom) ||
        split_has_span_end(c, at, DOC_MARKER, 0))
        return NOWHERE;
    if (split_outermost_span(c, at, is_code))
        return next == '\n' && !split_has_span_end(c, at, DOC_ROW, 1) ? AT_LINE : NOWHERE;
    if (next == '\n')
        return line_end(c, at);
    return ends_sentence(before) ? AT_SENTENCE : AT_BLANK;
}

/* The last of the best places in (floor, far]; 0: none. */
static size_t split_find_best_place(const struct cutter *c, size_t from, size_t floor, size_t far)
{
    size_t found = 0;
    enum split_boundary best = NOWHERE;
    for (size_t at = far; at > floor && best != AT_BLOCK; at--) {
        const enum split_boundary place = split_classify_place(c, from, at);
        if (place < best) {
            best = place;
            found = at;
        }
    }
    return found;
}

/* Without white space: cuts before a link or code, otherwise where the message is full. */
static size_t split_find_forced_place(const struct cutter *c, size_t from, size_t far)
{
    const struct doc_span *atom = split_outermost_span(c, far, split_is_atom);
    const bool movable = atom && atom->start > from &&
                         !split_has_span_end(c, atom->start, DOC_MARKER, 0) &&
                         !split_cuts_combining_mark(c, from, atom->start);
    return movable ? atom->start : far;
}

/* A better kind of place that leaves most of the message empty is not used. */
static size_t cut_place(const struct cutter *c, size_t from, size_t far)
{
    size_t at = split_find_best_place(c, from, from + (far - from) / 3, far);
    if (!at)
        at = split_find_best_place(c, from, from, far);
    return at ? at : split_find_forced_place(c, from, far);
}

/* A part of a table may be larger than the whole, so the result is measured. */
static size_t split_find_next_cut(struct cutter *c, size_t from)
{
    for (size_t bound = SIZE_MAX;;) {
        const size_t far = split_find_furthest(c, from, bound);
        if (far == c->doc->text.len)
            return far;
        const size_t at = cut_place(c, from, far);
        if (at == far || split_fits(c, from, at))
            return at;
        bound = (at - from) - (at - from) / 8 - 1;
    }
}

/* Start of the next piece behind a cut. */
static size_t split_resume(const struct cutter *c, size_t at)
{
    const struct str text = c->doc->text;
    if (at < text.len && split_outermost_span(c, at, is_code))
        return text.p[at] == '\n' ? at + 1 : at;
    while (at < text.len && split_is_space(text.p[at]) && !split_outermost_span(c, at + 1, is_code))
        at++;
    return at;
}

static void add_piece(struct cutter *c, size_t from, size_t to)
{
    to = split_trimmed(c, from, to);
    if (to == from)
        return;
    c->pieces = alloc_grow(c->pieces, c->count, &c->cap, sizeof *c->pieces);
    c->pieces[c->count++] = (struct doc_range){from, to};
}

static size_t split_raise_limit(size_t limit, size_t least)
{
    return limit && limit < least ? least : limit;
}

struct split split_doc(struct arena *a, const struct doc *d, const struct render_target *target)
{
    const struct render_budget b = target->budget;
    struct cutter c = {.doc = d, .target = *target};
    c.target.budget = (struct render_budget){
        split_raise_limit(b.units, SPLIT_BUDGET_MIN), split_raise_limit(b.bytes, SPLIT_BUDGET_MIN),
        split_raise_limit(b.entities, SPLIT_ENTITIES_MIN), b.unit};
    for (size_t from = 0; from < d->text.len;) {
        const size_t cut = split_find_next_cut(&c, from);
        add_piece(&c, from, cut);
        from = split_resume(&c, cut);
    }
    struct split s = {.count = c.count};
    if (c.count > 0) {
        struct doc_range *pieces = arena_alloc(a, c.count * sizeof *pieces);
        memcpy(pieces, c.pieces, c.count * sizeof *pieces);
        s.pieces = pieces;
    }
    free(c.pieces);
    rendered_fini(&c.scratch);
    return s;
}
