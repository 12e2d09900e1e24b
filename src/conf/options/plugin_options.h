/* SPDX-License-Identifier: MIT
 * Converts option text into a plugin's option struct by the table the plugin declares. */
#ifndef CONF_OPTIONS_PLUGIN_OPTIONS_H
#define CONF_OPTIONS_PLUGIN_OPTIONS_H

#include <turncast/plugin.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/sys/finding.h"
#include "conf/conf.h"

#define OPTIONS_MAX ((size_t)256) /* rows of the plugin's table */
/* Limit over all options with TC_PROGRAMS of an instance. */
#define PLUGIN_OPTIONS_PATHS_MAX ((size_t)64)

/* The configured values, with their places. */
struct plugin_options_source {
    const char *name;                /* name of the instance; or NULL */
    const struct conf_option *pairs; /* ends with a NULL key; or NULL */
    const char *file;                /* file of the configuration */
    const char *place;               /* file of the instance; NULL: the same */
    int line; /* line of the instance, for missing options; 0: not declared in the file */
};

/* Checks the plugin's options and rules themselves: keys, types, members inside conf_size bytes,
 * defaults that parse and obey the rules. Both may be NULL. */
int plugin_options_check_table(const struct tc_plugin *plugin, struct tc_err *err) MUST_CHECK;
/* Checks every pair against options and rules (except rules about paths and the host): unknown keys
 * (suggests the nearest), types, duplicates, missing required options. Fills `out` (conf_size
 * bytes, zeroed). Strings live in the arena. Registers TC_SECRET values for redaction in the log;
 * resolves "env:NAME" and "file:PATH" of secrets. -1 with err, the first of all errors. */
int plugin_options_parse(void *out, const struct tc_plugin *plugin,
                         const struct plugin_options_source *source, struct arena *arena,
                         struct tc_err *err) MUST_CHECK;
/* plugin_options_parse with the options of an instance as the source. */
int plugin_options_fill_instance(void *out, const struct tc_plugin *plugin,
                                 const struct conf_instance *inst, const char *file,
                                 struct arena *arena, struct tc_err *err) MUST_CHECK;
/* The row of that key in a table (or NULL) that ends with a NULL key; NULL: none. */
const struct tc_option *plugin_options_find_row(const struct tc_option *rows, const char *key);
/* Forms of secrets in an option: the whole text, or values in a list that refer to a secret
 * (option_list_resolve_secrets). */
enum option_secret { OPTION_SECRET_NONE, OPTION_SECRET_TEXT, OPTION_SECRET_LIST };
/* Form of secrets in the option. If the plugin is unknown (row NULL), each text may be a secret. */
enum option_secret plugin_options_secret(const struct tc_option *row, const char *text);
/* The value with its secrets resolved and registered for redaction in the log. In the arena, or the
 * value itself. NULL with err (without a place). */
const char *plugin_options_resolve_secrets(const struct tc_option *row,
                                           const struct conf_option *pair, struct arena *arena,
                                           struct tc_err *err);
/* The value with its references resolved: secrets (secret.h), and paths (of programs, and by rule)
 * relative to the directory of the pair. In the arena, or the value itself. NULL with err (without
 * a place). */
const char *plugin_options_resolve(const struct tc_rule *rules, const struct tc_option *row,
                                   const struct conf_option *pair, struct arena *arena,
                                   struct tc_err *err);
/* Adds all errors of an instance's options, including paths and missing features of the host. -1:
 * there are errors. */
int plugin_options_check(const struct tc_plugin *plugin, const struct conf *conf,
                         const struct conf_instance *inst, struct findings *findings);

#endif
