/* SPDX-License-Identifier: MIT
 * Shows texts in a notation for tests. */
#include "text/text_show.h"

static const char *const names[] = {
    [DOC_BOLD] = "b",    [DOC_ITALIC] = "i",  [DOC_STRIKE] = "s",    [DOC_CODE] = "code",
    [DOC_LINK] = "a",    [DOC_PRE] = "pre",   [DOC_TABLE] = "table", [DOC_ROW] = "row",
    [DOC_CELL] = "cell", [DOC_HEADING] = "h", [DOC_QUOTE] = "q",     [DOC_FOLD] = "fold",
    [DOC_ITEM] = "item", [DOC_MARKER] = "m",  [DOC_RULE] = "hr",
};

static void show_text(void *out, struct str run)
{
    for (size_t i = 0; i < run.len; i++)
        if (run.p[i] == '\n')
            buf_add_str(out, "⏎");
        else
            buf_add_char(out, run.p[i]);
}

static void show_open(void *out, const struct doc_span *s)
{
    buf_printf(out, "{%s", names[s->mark]);
    if (s->level)
        buf_printf(out, "%d", s->level);
    if (s->attr && *s->attr)
        buf_printf(out, "=%s", s->attr);
    buf_add_char(out, ':');
}

static void show_close(void *out, const struct doc_span *s)
{
    (void)s;
    buf_add_char(out, '}');
}

static const struct doc_visitor visitor = {show_open, show_close, show_text};

void text_show_doc(struct buf *out, const struct doc *d)
{
    doc_walk(d, (struct doc_range){0, d->text.len}, &visitor, out);
}

void text_show_rendered(struct buf *out, const struct render_output *r)
{
    show_text(out, (struct str){r->text.p, r->text.len});
    for (size_t i = 0; i < r->count; i++) {
        const struct render_entity *e = &r->entities[i];
        buf_printf(out, " %s@%zu+%zu", render_kind_name(e->kind), e->offset, e->length);
        if (e->value)
            buf_printf(out, "=%s", e->value);
    }
}
