/* SPDX-License-Identifier: MIT
 * Arguments of a tool call, normalised to a JSON object; broken or non-object arguments are kept
 * as text. */
#ifndef DIALECT_READER_TOOL_ARGS_H
#define DIALECT_READER_TOOL_ARGS_H

#include "base/arena.h"
#include "base/str.h"
#include "event/event.h"

/* Sets args from a value of the line: an object as it is; a string that holds an object, that
 * object, and the string as args_raw; absent or null: {}; anything else {"_raw": text}. */
void tool_args_parse(struct arena *a, struct tc_tool_call *call, struct str value);
/* The same from text that was put together from pieces. */
void tool_args_parse_text(struct arena *a, struct tc_tool_call *call, const char *text, size_t len);

/* Ids of calls that have begun and not ended; bounded, the oldest is forgotten. All zero: empty. */
struct open_calls {
    char **ids;
    char **names; /* beside each id; entries may be NULL */
    size_t n, cap;
};

void open_calls_add(struct open_calls *set, const char *id, const char *name);
bool open_calls_contains(const struct open_calls *set, const char *id);
/* Removes it; false: it was not there. */
bool open_calls_remove(struct open_calls *set, const char *id);
/* The oldest open call of that name, or NULL; borrowed until the set changes. */
const char *open_calls_find_by_name(const struct open_calls *set, const char *name);
/* What was added beside the id, or NULL; borrowed until the set changes. */
const char *open_calls_get_name(const struct open_calls *set, const char *id);
void open_calls_fini(struct open_calls *set);

#endif
