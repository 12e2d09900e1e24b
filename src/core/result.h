/* SPDX-License-Identifier: MIT
 * The result object of a turn, gathered from its events before visibility:
 * {result, session_id, cost_usd, duration_ms, num_turns, is_error, usage, tool_uses[, error]} */
#ifndef CORE_RESULT_H
#define CORE_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "event/event.h"

struct result {
    struct buf text, session_id, error, error_code, usage, tool_uses;
    double cost_usd;
    int64_t num_turns;
    bool has_error, has_final;
};

void result_feed(struct result *r, const struct event *ev);
/* Appends the object; duration_ms is the wall time of the turn over all attempts. */
void result_json(struct buf *out, const struct result *r, int64_t duration_ms);
void result_fini(struct result *r);

#endif
