/* SPDX-License-Identifier: MIT
 * What the renderers share among themselves. Nobody else includes it. */
#ifndef TEXT_RENDER_RENDER_INTERNAL_H
#define TEXT_RENDER_RENDER_INTERNAL_H

#include "text/render/render.h"

struct render_job {
    const struct doc *doc;
    struct doc_range range;
    size_t link_max; /* a longer address is not shown: it must leave room for text */
};

void render_plain(struct render_output *out, const struct render_job *job);
void render_telegram(struct render_output *out, const struct render_job *job);
/* `block`: the markdown block, else mrkdwn. */
void render_slack(struct render_output *out, const struct render_job *job, bool block);

/* The address stands behind the label, where it takes `shown` bytes: the link ends in the range,
 * its label does not say where it leads, and there is room. */
bool render_shows_url(const struct render_job *job, const struct doc_span *link, size_t shown);

#endif
