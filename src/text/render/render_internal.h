/* SPDX-License-Identifier: MIT
 * Shared parts of the renderers. Private to src/text/render. */
#ifndef TEXT_RENDER_RENDER_INTERNAL_H
#define TEXT_RENDER_RENDER_INTERNAL_H

#include "text/render/render.h"

struct render_job {
    const struct doc *doc;
    struct doc_range range;
    size_t link_max; /* a longer address is not shown, so that room for text remains */
    size_t room;     /* smaller of the limits in bytes and units of a message; SIZE_MAX: no limit */
    bool no_tables, no_headings, fold_quotes;
    size_t columns;
    bool styled, links;
};

void render_plain(struct render_output *out, const struct render_job *job);
void render_telegram(struct render_output *out, const struct render_job *job);
void render_markup(struct render_output *out, const struct render_job *job, enum render_form form);
void render_terminal(struct render_output *out, const struct render_job *job);
void render_html(struct render_output *out, const struct render_job *job);

/* Whether the address is shown behind the label, where it takes `shown` bytes: the link ends in the
 * range, its label does not show the target, and there is room. */
bool render_shows_url(const struct render_job *job, const struct doc_span *link, size_t shown);

/* Whether rows and cells of the table are recorded: it is not nested too deeply. */
bool render_has_cells(const struct render_job *job, const struct doc_span *table);

#endif
