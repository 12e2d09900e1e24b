/* SPDX-License-Identifier: MIT
 * Collects the result object of a turn (text, session, cost, usage, tool calls) from its events
 * before visibility is applied. Bounded. */
#ifndef CORE_TURN_TURN_RESULT_H
#define CORE_TURN_TURN_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/buf.h"
#include "event/event.h"

/* Bounds of tool_uses: later calls are counted in "tool_uses_omitted". */
#define RESULT_TOOL_USES 1000
#define RESULT_TOOL_BYTES ((size_t)4 << 20)

#define RESULT_ANSWER_BYTES ((size_t)256 << 10)

/* An all-zero struct turn_result is valid and empty. */
struct turn_result {
    struct buf text;       /* text of final */
    struct buf session_id; /* the newest */
    struct buf error, error_code;
    struct buf usage;     /* payload of usage{turn} without its scope */
    struct buf tool_uses; /* members of the array */
    struct buf last_tool; /* name of the newest call */
    struct buf retry;     /* newest notice of the agent about a repeated call of its model; empty:
                             progress since then */
    unsigned n_retries;   /* such notices since then */
    double cost_usd;
    int64_t num_turns;
    unsigned n_tool_uses, n_omitted;
    bool has_error, has_final;
    bool incomplete; /* the turn ended before the agent completed its task; `error` gives the
                        reason */
    bool cancelled;  /* cancelled, which is not an error */
};

/* Whether the turn failed or is incomplete. */
bool turn_result_is_error(const struct turn_result *r);

void turn_result_feed(struct turn_result *r, const struct event *ev);
/* Appends the object; duration_ms is the wall time of the turn over all attempts. `result` is
 * the answer; the error's text when the turn failed, or when it is incomplete and without an
 * answer. */
void turn_result_append_json(struct buf *out, const struct turn_result *r, int64_t duration_ms);
/* Appends, as members of an object: "answer" of a turn that has one, else "error", its text, and
 * "usage". An answer of more than RESULT_ANSWER_BYTES is cut, and "answer_cut" is true. */
void turn_result_outcome(struct buf *out, const struct turn_result *r);
void turn_result_fini(struct turn_result *r);

#endif
