/* SPDX-License-Identifier: MIT
 * Converts option text into a plugin's option struct by the table the plugin declares. */
#ifndef CONF_OPTIONS_PLUGIN_OPTIONS_H
#define CONF_OPTIONS_PLUGIN_OPTIONS_H

#include <turncast/plugin.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/sys/finding.h"
#include "conf/conf.h"

#define OPTIONS_MAX ((size_t)256) /* rows of a plugin */

/* What the configuration sets, and where. */
struct plugin_options_source {
    const char *name;                /* of the instance; or NULL */
    const struct conf_option *pairs; /* ends with a NULL key; or NULL */
    const char *file;
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
/* The text of an option with what it refers to: secrets (secret.h), and paths relative to the
 * configuration file. In the arena, or the text itself. NULL with err (its place is left to the
 * caller). */
const char *plugin_options_resolve(const struct tc_option *row, const char *text, const char *file,
                                   struct arena *arena, struct tc_err *err);
/* Adds all errors of an instance's options, with those of paths and of what the host lacks. -1:
 * there are some. */
int plugin_options_check(const struct tc_plugin *plugin, const struct conf *conf,
                         const struct conf_instance *inst, struct findings *findings);

#endif
