/* SPDX-License-Identifier: MIT
 * Table of open tool calls. */
#include "open_calls.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "edit_diff.h"

int64_t open_calls_now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

/* A free slot, otherwise that of the oldest call. */
static struct open_call *place(struct call_table *o)
{
    struct open_call *oldest = &o->calls[0];
    for (size_t i = 0; i < OPEN_CALLS; i++) {
        if (!o->calls[i].id[0])
            return &o->calls[i];
        if (o->calls[i].order < oldest->order)
            oldest = &o->calls[i];
    }
    return oldest;
}

unsigned open_calls_depth(struct call_table *o, const char *parent_id)
{
    if (!parent_id)
        return 0;
    const struct open_call *const parent = open_calls_find(o, parent_id);
    return parent ? parent->depth + 1 : 1;
}

struct open_call *open_calls_add(struct call_table *o, struct tc_turn *turn,
                                 const struct tc_tool_call *ev)
{
    const char *const parent = ev->meta->parent_id;
    const unsigned depth = open_calls_depth(o, parent);
    struct open_call *c = place(o);
    *c = (struct open_call){
        .ts = ev->meta->ts, .began_ms = open_calls_now_ms(), .depth = depth, .order = ++o->count};
    snprintf(c->id, sizeof c->id, "%s", ev->tool_use_id);
    snprintf(c->name, sizeof c->name, "%s", ev->name);
    snprintf(c->parent, sizeof c->parent, "%s", parent ? parent : "");
    preview_args(c->preview, ev->name, ev->args, ev->args_len);
    if (ev->args_len <= OPEN_CALL_ARGS_MAX && edit_diff_is_edit(ev->args))
        c->edit = tc_keep(turn, ev->args);
    return c;
}

struct open_call *open_calls_find(struct call_table *o, const char *tool_use_id)
{
    for (size_t i = 0; i < OPEN_CALLS; i++)
        if (o->calls[i].id[0] &&
            strncmp(o->calls[i].id, tool_use_id, sizeof o->calls[i].id - 1) == 0)
            return &o->calls[i];
    return NULL;
}

void open_calls_close(struct open_call *c)
{
    c->id[0] = '\0';
}

const struct open_call *open_calls_newest(const struct call_table *o, unsigned *n)
{
    const struct open_call *newest = NULL;
    *n = 0;
    for (size_t i = 0; i < OPEN_CALLS; i++) {
        const struct open_call *const c = &o->calls[i];
        *n += c->id[0] != '\0';
        if (c->id[0] && (!newest || c->order > newest->order))
            newest = c;
    }
    return newest;
}
