/* SPDX-License-Identifier: MIT
 * Plain text, links as "label (URL)". */
#include "text/render/render_internal.h"

struct plain {
    struct buf *out;
    const struct render_job *job;
};

static void plain_open(void *arg, const struct doc_span *s)
{
    (void)arg;
    (void)s;
}

static void plain_close(void *arg, const struct doc_span *s)
{
    const struct plain *p = arg;
    if (s->mark == DOC_LINK && render_shows_url(p->job, s, strlen(s->attr)))
        buf_printf(p->out, " (%s)", s->attr);
}

static void plain_text(void *arg, struct str run)
{
    const struct plain *p = arg;
    buf_add(p->out, run.p, run.len);
}

static const struct doc_visitor visitor = {plain_open, plain_close, plain_text};

void render_plain(struct render_output *out, const struct render_job *job)
{
    struct plain p = {&out->text, job};
    doc_walk(job->doc, job->range, &visitor, &p);
}
