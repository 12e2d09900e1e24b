/* SPDX-License-Identifier: MIT
 * Renders text with entities. One invalid entity makes the server refuse the whole message, so the
 * server's rules are enforced here: no entities in or around code, no nested quotes, valid
 * addresses only. */
#include <stdlib.h>

#include "base/alloc.h"
#include "text/link_url.h"
#include "text/render/render_internal.h"

#define STYLES 3 /* RENDER_BOLD to RENDER_STRIKE */

struct render_telegram_state {
    struct render_output *out;
    const struct render_job *job;
    size_t units;
    unsigned styles[STYLES]; /* number of open spans per style */
    size_t styled_at[STYLES];
    const struct doc_span *code, *link, *quote; /* the outermost open span */
    size_t code_at, link_at, quote_at;
};

static void add_entity(struct render_telegram_state *t, enum render_kind kind, size_t from,
                       const char *value)
{
    struct render_output *out = t->out;
    if (from == t->units)
        return;
    out->entities = alloc_grow(out->entities, out->count, &out->cap, sizeof *out->entities);
    out->entities[out->count++] = (struct render_entity){kind, from, t->units - from, value};
}

static enum render_kind render_telegram_style(const struct doc_span *s)
{
    return s->mark == DOC_ITALIC   ? RENDER_ITALIC
           : s->mark == DOC_STRIKE ? RENDER_STRIKE
                                   : RENDER_BOLD;
}

static void render_telegram_open_style(struct render_telegram_state *t, const struct doc_span *s)
{
    const enum render_kind style = render_telegram_style(s);
    if (t->styles[style]++ == 0)
        t->styled_at[style] = t->units;
}

static void render_telegram_close_style(struct render_telegram_state *t, const struct doc_span *s)
{
    const enum render_kind style = render_telegram_style(s);
    if (--t->styles[style] == 0)
        add_entity(t, style, t->styled_at[style], NULL);
}

/* Styles end before code and continue after it. */
static void open_code(struct render_telegram_state *t, const struct doc_span *s)
{
    if (t->code || t->link)
        return;
    for (unsigned i = 0; i < STYLES; i++)
        if (t->styles[i])
            add_entity(t, i, t->styled_at[i], NULL);
    t->code = s;
    t->code_at = t->units;
}

static void close_code(struct render_telegram_state *t, const struct doc_span *s)
{
    if (t->code != s)
        return;
    const bool inlined = s->mark == DOC_CODE;
    const char *language = s->attr && *s->attr ? s->attr : NULL;
    add_entity(t, inlined ? RENDER_CODE : RENDER_PRE, t->code_at, language);
    t->code = NULL;
    for (unsigned i = 0; i < STYLES; i++)
        t->styled_at[i] = t->units;
}

static void render_telegram_append(struct render_telegram_state *t, struct str s)
{
    buf_add(&t->out->text, s.p, s.len);
    t->units += render_count_utf16(s.p, s.len);
}

static bool render_telegram_is_linked(const struct render_telegram_state *t,
                                      const struct doc_span *s)
{
    return !t->code && strlen(s->attr) <= t->job->link_max && link_url_is_telegram_safe(s->attr);
}

static void render_telegram_open_link(struct render_telegram_state *t, const struct doc_span *s)
{
    if (!render_telegram_is_linked(t, s))
        return;
    t->link = s;
    t->link_at = t->units;
}

static void render_telegram_close_link(struct render_telegram_state *t, const struct doc_span *s)
{
    if (t->link == s) {
        add_entity(t, RENDER_LINK, t->link_at, s->attr);
        t->link = NULL;
    } else if (!t->code && render_shows_url(t->job, s, strlen(s->attr))) {
        render_telegram_append(t, STR(" ("));
        render_telegram_append(t, (struct str){s->attr, strlen(s->attr)});
        render_telegram_append(t, STR(")"));
    }
}

static void render_telegram_open_quote(struct render_telegram_state *t, const struct doc_span *s)
{
    if (t->quote)
        return;
    t->quote = s;
    t->quote_at = t->units;
}

static void close_quote(struct render_telegram_state *t, const struct doc_span *s)
{
    if (t->quote != s)
        return;
    const bool folds = s->mark == DOC_FOLD || t->job->fold_quotes;
    add_entity(t, folds ? RENDER_FOLD : RENDER_QUOTE, t->quote_at, NULL);
    t->quote = NULL;
}

static const struct {
    void (*open)(struct render_telegram_state *t, const struct doc_span *s);
    void (*close)(struct render_telegram_state *t, const struct doc_span *s);
} spans[] = {
    [DOC_BOLD] = {render_telegram_open_style, render_telegram_close_style},
    [DOC_HEADING] = {render_telegram_open_style, render_telegram_close_style},
    [DOC_ITALIC] = {render_telegram_open_style, render_telegram_close_style},
    [DOC_STRIKE] = {render_telegram_open_style, render_telegram_close_style},
    [DOC_CODE] = {open_code, close_code},
    [DOC_PRE] = {open_code, close_code},
    [DOC_TABLE] = {open_code, close_code},
    [DOC_LINK] = {render_telegram_open_link, render_telegram_close_link},
    [DOC_QUOTE] = {render_telegram_open_quote, close_quote},
    [DOC_FOLD] = {render_telegram_open_quote, close_quote},
    [DOC_RULE] = {NULL, NULL}, /* the last mark; others have no visible effect */
};

static void telegram_open(void *arg, const struct doc_span *s)
{
    if (spans[s->mark].open)
        spans[s->mark].open(arg, s);
}

static void telegram_close(void *arg, const struct doc_span *s)
{
    if (spans[s->mark].close)
        spans[s->mark].close(arg, s);
}

static void telegram_text(void *arg, struct str run)
{
    render_telegram_append(arg, run);
}

static const struct doc_visitor visitor = {telegram_open, telegram_close, telegram_text};

/* If entities cover the same text, quotes come first. */
static int compare_entities(const void *a, const void *b)
{
    const struct render_entity *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->length != y->length)
        return x->length > y->length ? -1 : 1;
    return (int)y->kind - (int)x->kind;
}

void render_telegram(struct render_output *out, const struct render_job *job)
{
    struct render_telegram_state t = {.out = out, .job = job};
    doc_walk(job->doc, job->range, &visitor, &t);
    if (out->count > 1)
        qsort(out->entities, out->count, sizeof *out->entities, compare_entities);
}
