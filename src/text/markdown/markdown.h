/* SPDX-License-Identifier: MIT
 * Parses Markdown (CommonMark with tables, task lists, strikethrough and bare addresses) into a
 * doc. HTML is treated as text. Time and output size are bounded for any input. Pure. */
#ifndef TEXT_MARKDOWN_MARKDOWN_H
#define TEXT_MARKDOWN_MARKDOWN_H

#include "base/arena.h"
#include "text/doc.h"

#define MARKDOWN_BYTES_MAX (512u << 10) /* limit of the source in bytes */
#define MARKDOWN_EVENTS_MAX 200000u     /* limit of the parser's callbacks */

/* Above a limit, the doc is the sanitised source, cut at MARKDOWN_BYTES_MAX, without spans. */
struct doc markdown_parse(struct arena *a, struct str source);
/* The same as one collapsed text: thinking, long output. */
struct doc markdown_parse_folded(struct arena *a, struct str source);
/* Plain text without Markdown. */
struct doc markdown_make_plain(struct arena *a, struct str source);
/* Length of the part of a growing text whose rendering is final: up to the last blank line that is
 * outside of a code fence and not followed by an indented line. (Later text may still change the
 * spacing of a list or define a link reference.) */
size_t markdown_stable_length(struct str source);

#endif
