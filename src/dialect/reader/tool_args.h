/* SPDX-License-Identifier: MIT
 * Tools as every dialect tells them: arguments that may be broken, and which calls are open. */
#ifndef DIALECT_READER_TOOL_ARGS_H
#define DIALECT_READER_TOOL_ARGS_H

#include "base/arena.h"
#include "base/str.h"
#include "event/event.h"

/* Sets args from a value of the line: an object as it is; a string that holds an object, that
 * object, and the string as args_raw; absent or null: {}; anything else {"_raw": text}. */
void tool_set_args(struct arena *a, struct tc_tool_call *call, struct str value);
/* The same from text that was put together from pieces. */
void tool_set_args_text(struct arena *a, struct tc_tool_call *call, const char *text, size_t len);

/* Ids of calls that have begun and not ended; bounded, the oldest is forgotten. All zero: empty. */
struct tool_set {
    char **ids;
    char **names; /* beside each id; entries may be NULL */
    size_t n, cap;
};

void tool_set_add(struct tool_set *set, const char *id, const char *name);
bool tool_set_has(const struct tool_set *set, const char *id);
/* Removes it; false: it was not there. */
bool tool_set_take(struct tool_set *set, const char *id);
/* The oldest open call of that name, or NULL; borrowed until the set changes. */
const char *tool_set_find_name(const struct tool_set *set, const char *name);
/* What was added beside the id, or NULL; borrowed until the set changes. */
const char *tool_set_name(const struct tool_set *set, const char *id);
void tool_set_fini(struct tool_set *set);

#endif
