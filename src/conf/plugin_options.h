/* SPDX-License-Identifier: MIT
 * Converts option text into a plugin's option struct by the table the plugin declares. */
#ifndef CONF_PLUGIN_OPTIONS_H
#define CONF_PLUGIN_OPTIONS_H

#include <turncast/plugin.h>

#include "base/arena.h"
#include "base/attr.h"
#include "conf/conf.h"

#define OPTIONS_MAX ((size_t)256) /* rows of a plugin */

/* Checks the rows themselves: keys, types, members inside conf_size bytes, defaults that parse.
 * rows may be NULL. */
int plugin_options_check_table(const struct tc_option *rows, size_t conf_size,
                               struct tc_err *err) MUST_CHECK;
/* Checks every pair against the rows (unknown key: the nearest is named; wrong type; given
 * twice; missing required) and fills `out` (conf_size bytes, zeroed). Strings live in the arena.
 * TC_SECRET values are registered with the log's redaction; "env:NAME" and "file:PATH" values of
 * secrets are resolved. err's place is file:line; `line` is the instance's own, for what is not
 * there. rows and pairs may be NULL. */
int plugin_options_parse(void *out, const struct tc_option *rows, const struct conf_option *pairs,
                         const char *file, int line, struct arena *arena,
                         struct tc_err *err) MUST_CHECK;
/* The same with the options of an instance. One that no line of the configuration declares
 * (autoload, --plugin) is named in the error. */
int plugin_options_fill_instance(void *out, const struct tc_option *rows,
                                 const struct conf_instance *inst, const char *file,
                                 struct arena *arena, struct tc_err *err) MUST_CHECK;

#endif
