/* SPDX-License-Identifier: MIT
 * Shows texts as one line, for comparisons in tests. */
#ifndef TESTS_TEXT_SHOW_H
#define TESTS_TEXT_SHOW_H

#include "text/render/render.h"

/* Shows the doc with its spans: "{bold:x} {link=http://a.b:y}"; a newline as "⏎". */
void text_show_doc(struct buf *out, const struct doc *d);
/* Shows the text, then " kind@offset+length=value" for each entity. */
void text_show_rendered(struct buf *out, const struct render_output *r);

#endif
