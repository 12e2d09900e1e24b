/* SPDX-License-Identifier: MIT
 * What a writer has told of the agent's text, for formats in which the answer must have been
 * streamed: whether that ends with a text already. Pure. */
#ifndef DIALECT_WRITER_STREAMED_TEXT_H
#define DIALECT_WRITER_STREAMED_TEXT_H

#include "base/bytes/buf.h"

/* Of the text that a writer keeps; beyond it, the oldest is forgotten. */
#define SAID_MAX ((size_t)16 << 20)

void streamed_text_add(struct buf *said, const char *text, size_t len);
/* White space does not count: paragraphs are joined in different ways. False of a text without
 * anything else. */
bool streamed_text_ends_with(const struct buf *said, const char *text, size_t len);

#endif
