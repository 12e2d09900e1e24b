/* SPDX-License-Identifier: MIT
 * Fills a plugin's option struct from text, by the rows the plugin declares. */
#ifndef CONF_OPTIONS_H
#define CONF_OPTIONS_H

#include <turncast/plugin.h>

#include "base/arena.h"
#include "conf/conf.h"

/* Checks every pair against the rows (unknown key: the nearest is named; wrong type; missing
 * required) and fills `out` (conf_size bytes, zeroed). Strings live in the arena. TC_SECRET
 * values are registered with the log's redaction; "env:NAME" and "file:PATH" values of secrets are
 * resolved. err's place is file:line. */
int options_fill(void *out, const struct tc_option *rows, const struct conf_pair *pairs,
                 const char *file, struct arena *arena, struct tc_err *err)
    __attribute__((__warn_unused_result__));
/* The nearest of n names by edit distance, or NULL when none is near. */
const char *options_nearest(const char *word, const char *const *names, size_t n);

#endif
