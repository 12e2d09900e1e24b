/* SPDX-License-Identifier: MIT
 * Fixed-size table of open tool calls of a turn; the oldest is evicted. */
#include <stdio.h>
#include <string.h>

#include "turn_view.h"

/* A free place, else that of the oldest call. */
static struct turn_view_call *place(struct view *v)
{
    struct turn_view_call *oldest = &v->open[0];
    for (size_t i = 0; i < sizeof v->open / sizeof *v->open; i++) {
        if (!v->open[i].id[0])
            return &v->open[i];
        if (v->open[i].order < oldest->order)
            oldest = &v->open[i];
    }
    return oldest;
}

struct turn_view_call *view_open_call(struct view *v, const struct tc_tool_call *ev)
{
    struct turn_view_call *c = place(v);
    *c = (struct turn_view_call){.ts = ev->meta->ts, .order = ++v->calls};
    snprintf(c->id, sizeof c->id, "%s", ev->tool_use_id);
    snprintf(c->name, sizeof c->name, "%s", ev->name);
    preview_args(c->preview, ev->name, ev->args, ev->args_len);
    return c;
}

struct turn_view_call *view_find_call(struct view *v, const char *tool_use_id)
{
    for (size_t i = 0; i < sizeof v->open / sizeof *v->open; i++)
        if (v->open[i].id[0] && strncmp(v->open[i].id, tool_use_id, sizeof v->open[i].id - 1) == 0)
            return &v->open[i];
    return NULL;
}

void view_close_call(struct turn_view_call *c)
{
    c->id[0] = '\0';
}
