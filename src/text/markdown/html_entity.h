/* SPDX-License-Identifier: MIT
 * Decodes HTML character references. */
#ifndef TEXT_MARKDOWN_HTML_ENTITY_H
#define TEXT_MARKDOWN_HTML_ENTITY_H

#include "base/bytes/buf.h"
#include "base/str.h"

/* Appends what `ref` (with & and ;) stands for, cleaned; an unknown name stays as it is. */
void html_entity_append_decoded(struct buf *out, struct str ref);

#endif
