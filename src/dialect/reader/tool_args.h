/* SPDX-License-Identifier: MIT
 * Arguments of a tool call, normalised to a JSON object; broken or non-object arguments are kept
 * as text. */
#ifndef DIALECT_READER_TOOL_ARGS_H
#define DIALECT_READER_TOOL_ARGS_H

#include "base/arena.h"
#include "base/str.h"
#include "event/event.h"

/* Sets args from a value of the line: an object unchanged; a string that contains an object, that
 * object, with the string as args_raw; absent or null: {}; anything else {"_raw": text}. */
void tool_args_parse(struct arena *a, struct tc_tool_call *call, struct str value);
/* The same for text assembled from pieces. */
void tool_args_parse_text(struct arena *a, struct tc_tool_call *call, const char *text, size_t len);

/* Ids of open calls; bounded: the oldest is removed. A struct of zeros is empty. */
struct open_calls {
    char **ids;
    char **names; /* data for each id; entries may be NULL */
    size_t n, cap;
};

void open_calls_add(struct open_calls *set, const char *id, const char *name);
bool open_calls_contains(const struct open_calls *set, const char *id);
/* Removes it; false: unknown. */
bool open_calls_remove(struct open_calls *set, const char *id);
/* The oldest open call of that name, or NULL; borrowed until the set changes. */
const char *open_calls_find_by_name(const struct open_calls *set, const char *name);
/* The data added with the id, or NULL; borrowed until the set changes. */
const char *open_calls_get_name(const struct open_calls *set, const char *id);
void open_calls_fini(struct open_calls *set);

#endif
