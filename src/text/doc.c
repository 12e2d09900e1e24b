/* SPDX-License-Identifier: MIT
 * Walks over a range of a formatted text. */
#include "text/doc.h"

struct doc_walk_state {
    const struct doc *doc;
    const struct doc_visitor *visitor;
    void *arg;
    const struct doc_span *open[DOC_DEPTH];
    unsigned depth;
    size_t at;
};

/* Number of spans that start before `at`. */
static size_t doc_count_started_before(const struct doc *d, size_t at)
{
    size_t low = 0, high = d->count;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (d->spans[mid].start < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const struct doc_span *doc_get_parent(const struct doc *d, const struct doc_span *s)
{
    return s->parent == DOC_NONE ? NULL : &d->spans[s->parent];
}

/* Spans nest, so every open span contains the span that started last, or is that span. */
const struct doc_span *doc_find_innermost(const struct doc *d, size_t at)
{
    const size_t started = doc_count_started_before(d, at);
    const struct doc_span *s = started ? &d->spans[started - 1] : NULL;
    while (s && s->end <= at)
        s = doc_get_parent(d, s);
    return s;
}

static void doc_enter(struct doc_walk_state *w, const struct doc_span *s)
{
    w->open[w->depth++] = s;
    w->visitor->open(w->arg, s);
}

static void doc_leave(struct doc_walk_state *w)
{
    w->visitor->close(w->arg, w->open[--w->depth]);
}

static void doc_enter_enclosing_spans(struct doc_walk_state *w)
{
    const struct doc_span *chain[DOC_DEPTH];
    unsigned n = 0;
    for (const struct doc_span *s = doc_find_innermost(w->doc, w->at); s;
         s = doc_get_parent(w->doc, s))
        chain[n++] = s;
    while (n > 0)
        doc_enter(w, chain[--n]);
}

static void doc_visit_text_until(struct doc_walk_state *w, size_t end)
{
    if (end > w->at)
        w->visitor->text(w->arg, (struct str){w->doc->text.p + w->at, end - w->at});
    w->at = end;
}

/* Visits text and span ends up to and including `limit`. */
static void doc_visit_until(struct doc_walk_state *w, size_t limit)
{
    while (w->depth > 0 && w->open[w->depth - 1]->end <= limit) {
        doc_visit_text_until(w, w->open[w->depth - 1]->end);
        doc_leave(w);
    }
    doc_visit_text_until(w, limit);
}

void doc_walk(const struct doc *d, struct doc_range r, const struct doc_visitor *v, void *arg)
{
    struct doc_walk_state w = {.doc = d, .visitor = v, .arg = arg, .at = r.from};
    doc_enter_enclosing_spans(&w);
    for (size_t i = doc_count_started_before(d, r.from); i < d->count && d->spans[i].start < r.to;
         i++) {
        doc_visit_until(&w, d->spans[i].start);
        doc_enter(&w, &d->spans[i]);
    }
    doc_visit_until(&w, r.to);
    while (w.depth > 0)
        doc_leave(&w);
}

struct str doc_span_text(const struct doc *d, const struct doc_span *s, struct doc_range r)
{
    const size_t from = s->start > r.from ? s->start : r.from;
    const size_t to = s->end < r.to ? s->end : r.to;
    return (struct str){d->text.p + from, to > from ? to - from : 0};
}
