/* SPDX-License-Identifier: MIT
 * Fixed-size table of the open tool calls of a turn; the oldest is evicted. */
#ifndef CLI_OPEN_CALLS_H
#define CLI_OPEN_CALLS_H

#include <stdint.h>

#include <turncast/plugin.h>

#include "call_preview.h"

#define OPEN_CALLS 64
#define OPEN_CALL_ARGS_MAX (64u << 10) /* limit in bytes for arguments of an edit */

/* A tool call without its result. */
struct open_call {
    char id[96]; /* "": free; a longer id is truncated */
    char name[96];
    char preview[PREVIEW_SIZE];
    const char *edit; /* arguments of an edit, in memory of the turn; NULL: no edit */
    double ts;        /* time of its event */
    int64_t began_ms; /* by the monotonic clock */
    unsigned depth;   /* id of the sub-agent that calls */
    char parent[96];
    bool announced; /* the call has a separate line */
    bool quiet;     /* its result needs no line */
    uint64_t order;
};

struct call_table {
    uint64_t count; /* number of opened calls */
    struct open_call calls[OPEN_CALLS];
};

/* Adds a call; finds it again for its result; NULL: unknown. */
struct open_call *open_calls_add(struct call_table *o, struct tc_turn *turn,
                                 const struct tc_tool_call *ev);
struct open_call *open_calls_find(struct call_table *o, const char *tool_use_id);
void open_calls_close(struct open_call *c);
/* The call that was opened last; *n: number of open calls. NULL: none. */
const struct open_call *open_calls_newest(const struct call_table *o, unsigned *n);
/* Nesting depth of actions of a call with this id (NULL: the agent itself). */
unsigned open_calls_depth(struct call_table *o, const char *parent_id);
/* Milliseconds of the monotonic clock. */
int64_t open_calls_now_ms(void);

#endif
