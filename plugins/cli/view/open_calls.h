/* SPDX-License-Identifier: MIT
 * Fixed-size table of the open tool calls of a turn; the oldest is evicted. */
#ifndef CLI_OPEN_CALLS_H
#define CLI_OPEN_CALLS_H

#include <stdint.h>

#include <turncast/plugin.h>

#include "call_preview.h"

#define OPEN_CALLS 64
#define OPEN_CALL_ARGS_MAX (64u << 10) /* arguments of an edit that are kept, in bytes */

/* A tool call without its result. */
struct open_call {
    char id[96]; /* "": free; a longer one is shortened */
    char name[96];
    char preview[PREVIEW_SIZE];
    const char *edit; /* arguments of an edit, memory of the turn; NULL: it is none */
    double ts;        /* of its event */
    int64_t began_ms; /* by the monotonic clock */
    unsigned depth;   /* of the sub-agent that calls */
    char parent[96];
    bool announced; /* it has a line of its own */
    bool quiet;     /* its result needs none */
    uint64_t order;
};

struct call_table {
    uint64_t count; /* that were opened */
    struct open_call calls[OPEN_CALLS];
};

/* Remembers a call, and finds it again for its result; NULL: not known. */
struct open_call *open_calls_add(struct call_table *o, struct tc_turn *turn,
                                 const struct tc_tool_call *ev);
struct open_call *open_calls_find(struct call_table *o, const char *tool_use_id);
void open_calls_close(struct open_call *c);
/* The one that was opened last; *n: how many are open. NULL: none. */
const struct open_call *open_calls_newest(const struct call_table *o, unsigned *n);
/* Depth of what a call with this id (NULL: the agent itself) does. */
unsigned open_calls_depth(struct call_table *o, const char *parent_id);
/* Milliseconds of the monotonic clock. */
int64_t open_calls_now_ms(void);

#endif
