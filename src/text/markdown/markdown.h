/* SPDX-License-Identifier: MIT
 * Markdown (CommonMark with tables, task lists, strikethrough and bare addresses) into a doc. HTML
 * is text. Whatever comes in, the work and what comes out are bounded. Pure. */
#ifndef TEXT_MARKDOWN_MARKDOWN_H
#define TEXT_MARKDOWN_MARKDOWN_H

#include "base/arena.h"
#include "text/doc.h"

#define MARKDOWN_BYTES_MAX (512u << 10) /* of source */
#define MARKDOWN_EVENTS_MAX 200000u     /* callbacks of the parser */

/* Over a cap the doc is the source, cleaned, cut at MARKDOWN_BYTES_MAX, and without spans. */
struct doc markdown_parse(struct arena *a, struct str source);
/* The same as one folded text: thinking, long output. */
struct doc markdown_parse_folded(struct arena *a, struct str source);
/* Text that is no Markdown. */
struct doc markdown_make_plain(struct arena *a, struct str source);
/* How much of a text that still grows can be shown for good: up to the last blank line that is
 * outside of a fence and not followed by something indented. (What comes later may still space a
 * list or define a reference.) */
size_t markdown_stable_length(struct str source);

#endif
