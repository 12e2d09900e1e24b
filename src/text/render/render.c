/* SPDX-License-Identifier: MIT
 * Owns the choice of the renderer, and how sizes are counted. */
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

static bool within(size_t size, size_t limit)
{
    return limit == 0 || size <= limit;
}

bool render_fits_budget(const struct render_output *r, const struct render_budget *budget)
{
    return within(r->text.len, budget->bytes) && within(r->count, budget->entities) &&
           (budget->units == 0 || r->text.len <= budget->units ||
            render_count_utf16(r->text.p, r->text.len) <= budget->units);
}

/* An address never takes the room of the text it belongs to. */
static size_t link_max(const struct render_budget *b)
{
    const size_t units = b->units ? b->units : SIZE_MAX;
    const size_t bytes = b->bytes ? b->bytes : SIZE_MAX;
    return (units < bytes ? units : bytes) / 4;
}

void render_doc(struct render_output *out, const struct doc *d, struct doc_range r,
                const struct render_target *target)
{
    const struct render_job job = {d, r, link_max(&target->budget)};
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
        render_slack(out, &job, false);
        break;
    case RENDER_MARKDOWN:
        render_slack(out, &job, true);
        break;
    }
}

bool render_shows_url(const struct render_job *job, const struct doc_span *link, size_t shown)
{
    const struct str label = {job->doc->text.p + link->start, link->end - link->start};
    return link->end <= job->range.to && shown <= job->link_max &&
           !link_url_equals_label(link->attr, label);
}
