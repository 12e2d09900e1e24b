/* SPDX-License-Identifier: MIT
 * GET /readyz: whether every enabled instance works. Nothing of it is a secret: names of instances,
 * and words of a fixed list. Loop thread only. */
#ifndef API_READINESS_H
#define API_READINESS_H

#include <stdbool.h>

#include "base/bytes/buf.h"

struct api_context;

/* Appends {"status":"ready"} or {"status":"not_ready","reasons":[...]}, and returns which. `state`
 * says why the host takes no messages; NULL: it does. */
bool readiness_write(const struct api_context *a, const char *state, struct buf *out);

#endif
