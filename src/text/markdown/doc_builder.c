/* SPDX-License-Identifier: MIT
 * Implements doc_builder.h. */
#include "text/markdown/doc_builder.h"

#include <stdlib.h>

#include "base/alloc.h"

#define UNSET UINT32_MAX /* no text yet */

void doc_builder_fini(struct doc_builder *b)
{
    buf_fini(&b->text);
    free(b->spans);
    *b = (struct doc_builder){0};
}

static struct doc_span *doc_builder_add_span(struct doc_builder *b)
{
    b->spans = alloc_grow(b->spans, b->count, &b->cap, sizeof *b->spans);
    return &b->spans[b->count++];
}

void doc_builder_open(struct doc_builder *b, enum doc_mark mark, unsigned level, const char *attr)
{
    if (b->depth == DOC_DEPTH) {
        b->too_deep++;
        return;
    }
    const uint32_t parent = b->depth ? b->open[b->depth - 1] : DOC_NONE;
    b->open[b->depth++] = (uint32_t)b->count;
    b->attr_bytes += attr ? strlen(attr) : 0;
    *doc_builder_add_span(b) = (struct doc_span){.start = UNSET,
                                                 .parent = parent,
                                                 .level = (uint16_t)level,
                                                 .mark = (uint16_t)mark,
                                                 .attr = attr};
}

/* A span without text is the last one, because spans in it have no text either. */
void doc_builder_close(struct doc_builder *b)
{
    if (b->too_deep > 0) {
        b->too_deep--;
        return;
    }
    struct doc_span *s = &b->spans[b->open[--b->depth]];
    if (s->start == UNSET || s->start >= b->text.len)
        b->count--;
    else
        s->end = (uint32_t)b->text.len;
}

/* Newlines precede the spans that open behind them. */
static void doc_builder_settle(struct doc_builder *b)
{
    for (; b->newlines > 0; b->newlines--)
        if (b->text.len > 0)
            buf_add_char(&b->text, '\n');
    for (unsigned i = b->depth; i > 0 && b->spans[b->open[i - 1]].start == UNSET; i--)
        b->spans[b->open[i - 1]].start = (uint32_t)b->text.len;
}

void doc_builder_text(struct doc_builder *b, const char *p, size_t n)
{
    if (n == 0 || doc_builder_is_full(b))
        return;
    doc_builder_settle(b);
    buf_add(&b->text, p, n);
}

void doc_builder_repeat(struct doc_builder *b, char c, size_t n)
{
    for (; n > 0; n--)
        doc_builder_text(b, &c, 1);
}

void doc_builder_break(struct doc_builder *b, unsigned n)
{
    if (n > b->newlines)
        b->newlines = n;
}

bool doc_builder_is_full(const struct doc_builder *b)
{
    return b->text.len + b->attr_bytes > BUILDER_TEXT_MAX;
}

struct doc doc_builder_finish(const struct doc_builder *b)
{
    struct doc d = {.count = b->count};
    d.text =
        (struct str){arena_strndup(b->arena, b->text.p ? b->text.p : "", b->text.len), b->text.len};
    if (b->count > 0) {
        struct doc_span *spans = arena_alloc(b->arena, b->count * sizeof *spans);
        memcpy(spans, b->spans, b->count * sizeof *spans);
        d.spans = spans;
    }
    return d;
}
