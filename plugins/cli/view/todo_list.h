/* SPDX-License-Identifier: MIT
 * The to-do list of an agent, from a tool call (TodoWrite, update_plan, write_todos, …) or a state
 * event of the type plan. */
#ifndef CLI_TODO_LIST_H
#define CLI_TODO_LIST_H

#include <stdint.h>

#include <turncast/plugin.h>

#include "terminal/terminal.h"

#define TODO_ITEMS 50 /* limit; further ones are counted */

/* A struct of zeros is empty. */
struct todo_list {
    size_t done, count;
    uint64_t digest;  /* hash of the last written list */
    char active[160]; /* the current item, or "" */
};

/* False: the tool has no list, or its arguments are invalid. Writes the list, unless it is
 * unchanged. */
bool todo_list_from_call(struct todo_list *l, struct term *t, const char *margin,
                         const struct tc_tool_call *ev);
bool todo_list_from_state(struct todo_list *l, struct term *t, const struct tc_state *ev);

#endif
