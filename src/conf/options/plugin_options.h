/* SPDX-License-Identifier: MIT
 * Converts option text into a plugin's option struct by the table the plugin declares. */
#ifndef CONF_OPTIONS_PLUGIN_OPTIONS_H
#define CONF_OPTIONS_PLUGIN_OPTIONS_H

#include <turncast/plugin.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/sys/finding.h"
#include "conf/conf.h"

#define OPTIONS_MAX ((size_t)256)             /* rows of a plugin */
#define PLUGIN_OPTIONS_PATHS_MAX ((size_t)64) /* in all options with TC_PROGRAMS of an instance */

/* What the configuration sets, and where. */
struct plugin_options_source {
    const char *name;                /* of the instance; or NULL */
    const struct conf_option *pairs; /* ends with a NULL key; or NULL */
    const char *file;                /* of the configuration */
    const char *place;               /* the file of the instance; NULL: the same */
    int line; /* of the instance, for what is missing; 0: no line of the file declares it */
};

/* Checks the plugin's options and rules themselves: keys, types, members inside conf_size bytes,
 * defaults that parse and obey the rules. Both may be NULL. */
int plugin_options_check_table(const struct tc_plugin *plugin, struct tc_err *err) MUST_CHECK;
/* Checks every pair against options and rules (unknown key: the nearest is named; wrong type; given
 * twice; missing required; rules, but those about paths
 * and the host) and fills `out` (conf_size bytes, zeroed).
 * Strings live in the arena. TC_SECRET values are registered with the log's redaction; "env:NAME"
 * and "file:PATH" values of secrets are resolved. -1 with err, the first of all errors. */
int plugin_options_parse(void *out, const struct tc_plugin *plugin,
                         const struct plugin_options_source *source, struct arena *arena,
                         struct tc_err *err) MUST_CHECK;
/* plugin_options_parse with the options of an instance as the source. */
int plugin_options_fill_instance(void *out, const struct tc_plugin *plugin,
                                 const struct conf_instance *inst, const char *file,
                                 struct arena *arena, struct tc_err *err) MUST_CHECK;
/* The row of a table (or NULL) that ends with a NULL key; NULL: there is none. */
const struct tc_option *plugin_options_find_row(const struct tc_option *rows, const char *key);
/* How the secrets of an option are written in its text: the text itself is one, or values in a list
 * that refer to one (option_list_resolve_secrets). */
enum option_secret { OPTION_SECRET_NONE, OPTION_SECRET_TEXT, OPTION_SECRET_LIST };
/* The only criterion. Of a plugin that is not known (row NULL) each text may be a secret. */
enum option_secret plugin_options_secret(const struct tc_option *row, const char *text);
/* The value with its secrets, which are registered with the log's redaction. In the arena, or the
 * value itself. NULL with err (its place is left to the caller). */
const char *plugin_options_resolve_secrets(const struct tc_option *row,
                                           const struct conf_option *pair, struct arena *arena,
                                           struct tc_err *err);
/* The value of an option with what it refers to: secrets (secret.h), and paths (of programs, and by
 * a rule) relative to the directory of the pair. In the arena, or the value itself. NULL with err
 * (its place is left to the caller). */
const char *plugin_options_resolve(const struct tc_rule *rules, const struct tc_option *row,
                                   const struct conf_option *pair, struct arena *arena,
                                   struct tc_err *err);
/* Adds all errors of an instance's options, with those of paths and of what the host lacks. -1:
 * there are some. */
int plugin_options_check(const struct tc_plugin *plugin, const struct conf *conf,
                         const struct conf_instance *inst, struct findings *findings);

#endif
