/* SPDX-License-Identifier: MIT
 * Selects the renderer, and measures sizes. */
#include <stdlib.h>

#include "text/link_url.h"
#include "text/render/render_internal.h"

void rendered_fini(struct render_output *r)
{
    buf_fini(&r->text);
    free(r->entities);
    *r = (struct render_output){0};
}

size_t render_count_utf16(const char *p, size_t n)
{
    size_t units = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)p[i];
        units += ((c & 0xc0) != 0x80) + (c >= 0xf0);
    }
    return units;
}

size_t render_count_units(const char *p, size_t n, enum render_unit unit)
{
    if (unit == RENDER_BYTES)
        return n;
    if (unit == RENDER_UTF16)
        return render_count_utf16(p, n);
    size_t points = 0;
    for (size_t i = 0; i < n; i++)
        points += ((unsigned char)p[i] & 0xc0) != 0x80;
    return points;
}

const char *render_kind_name(enum render_kind kind)
{
    static const char *const names[RENDER_KINDS] = {
        [RENDER_BOLD] = "bold",
        [RENDER_ITALIC] = "italic",
        [RENDER_STRIKE] = "strikethrough",
        [RENDER_CODE] = "code",
        [RENDER_PRE] = "pre",
        [RENDER_LINK] = "text_link",
        [RENDER_QUOTE] = "blockquote",
        [RENDER_FOLD] = "expandable_blockquote",
    };
    return names[kind];
}

static bool render_is_within(size_t size, size_t limit)
{
    return limit == 0 || size <= limit;
}

bool render_fits_budget(const struct render_output *r, const struct render_budget *budget)
{
    return render_is_within(r->text.len, budget->bytes) &&
           render_is_within(r->count, budget->entities) &&
           (budget->units == 0 || r->text.len <= budget->units ||
            render_count_units(r->text.p, r->text.len, budget->unit) <= budget->units);
}

/* Lower bound of the bytes that fit. */
static size_t render_least_room(const struct render_budget *b)
{
    const size_t units = b->units ? b->units : SIZE_MAX;
    const size_t bytes = b->bytes ? b->bytes : SIZE_MAX;
    return units < bytes ? units : bytes;
}

void render_doc(struct render_output *out, const struct doc *d, struct doc_range r,
                const struct render_target *target)
{
    const size_t room = render_least_room(&target->budget);
    const struct render_job job = {.doc = d,
                                   .range = r,
                                   .link_max = room / 4,
                                   .room = room,
                                   .no_tables = target->no_tables,
                                   .no_headings = target->no_headings,
                                   .fold_quotes = target->fold_quotes,
                                   .columns = target->columns,
                                   .styled = target->styled,
                                   .links = target->links};
    buf_reset(&out->text);
    out->count = 0;
    switch (target->form) {
    case RENDER_PLAIN:
        render_plain(out, &job);
        break;
    case RENDER_TELEGRAM:
        render_telegram(out, &job);
        break;
    case RENDER_MRKDWN:
    case RENDER_MARKDOWN:
    case RENDER_COMMONMARK:
        render_markup(out, &job, target->form);
        break;
    case RENDER_HTML:
        render_html(out, &job);
        break;
    case RENDER_TERMINAL:
        render_terminal(out, &job);
        break;
    }
}

bool render_shows_url(const struct render_job *job, const struct doc_span *link, size_t shown)
{
    const struct str label = {job->doc->text.p + link->start, link->end - link->start};
    return link->end <= job->range.to && shown <= job->link_max &&
           !link_url_equals_label(link->attr, label);
}

bool render_has_cells(const struct render_job *job, const struct doc_span *table)
{
    unsigned depth = 3; /* spans of a table: table, row, cell */
    for (const struct doc_span *s = table; (s = doc_get_parent(job->doc, s)); depth++)
        ;
    return depth <= DOC_DEPTH;
}
