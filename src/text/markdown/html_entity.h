/* SPDX-License-Identifier: MIT
 * Decodes HTML character references. */
#ifndef TEXT_MARKDOWN_HTML_ENTITY_H
#define TEXT_MARKDOWN_HTML_ENTITY_H

#include "base/bytes/buf.h"
#include "base/str.h"

/* Appends the character of `ref` (with & and ;), sanitised; an unknown name is unchanged. */
void html_entity_append_decoded(struct buf *out, struct str ref);

#endif
