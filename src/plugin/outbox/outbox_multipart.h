/* SPDX-License-Identifier: MIT
 * Writes a multipart/form-data body. */
#ifndef PLUGIN_OUTBOX_OUTBOX_MULTIPART_H
#define PLUGIN_OUTBOX_OUTBOX_MULTIPART_H

#include <turncast/plugin.h>

#include "base/bytes/buf.h"

enum { MULTIPART_BOUNDARY = 64 }; /* size of a boundary */

/* Appends the body. `boundary` becomes one that occurs in no part. */
void outbox_multipart_write(struct buf *out, const struct tc_part *parts, size_t count,
                            char boundary[MULTIPART_BOUNDARY]);

#endif
