/* SPDX-License-Identifier: MIT
 * Text that a writer has streamed for the agent, for formats in which the answer must have been
 * streamed: checks whether it already ends with a text. Pure. */
#ifndef DIALECT_WRITER_STREAMED_TEXT_H
#define DIALECT_WRITER_STREAMED_TEXT_H

#include "base/bytes/buf.h"

/* Bytes kept by a writer; older text is dropped. */
#define SAID_MAX ((size_t)16 << 20)

void streamed_text_add(struct buf *said, const char *text, size_t len);
/* Ignores white space, because paragraphs are joined in different ways. False for a text of white
 * space only. */
bool streamed_text_ends_with(const struct buf *said, const char *text, size_t len);

#endif
