/* SPDX-License-Identifier: MIT
 * GET /readyz: whether every enabled instance works. The response contains no secrets: names of
 * instances, and reasons from a fixed list. Loop thread only. */
#ifndef API_READINESS_H
#define API_READINESS_H

#include <stdbool.h>

#include "base/bytes/buf.h"

struct api_context;

/* Appends {"status":"ready"} or {"status":"not_ready","reasons":[...]}, and returns whether it is
 * ready. `state` is the reason why the host accepts no messages; NULL: it accepts them. */
bool readiness_write(const struct api_context *a, const char *state, struct buf *out);

#endif
