/* SPDX-License-Identifier: MIT
 * Rules of a plugin's options (struct tc_rule): what a value must be beyond its type, and which
 * options belong together. Checks of paths look at the file system as the user of this process. Any
 * thread. A message states the error, "; " and the valid values; it contains the value only if the
 * option is no secret. */
#ifndef CONF_OPTIONS_OPTION_RULES_H
#define CONF_OPTIONS_OPTION_RULES_H

#include <turncast/plugin.h>

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/sys/err.h"

#define OPTION_RULES_MAX ((size_t)256) /* rows of the plugin's table */

/* strtod with a decimal point, independent of the locale, which a plugin may have set. */
double option_rules_parse_real(const char *text, char **end);
/* Checks the rows themselves: kinds, options that exist and are of a suitable type, words, bounds,
 * defaults. rules and options may be NULL. -1 with err, without a place. */
int option_rules_check_table(const struct tc_rule *rules, const struct tc_option *options,
                             struct tc_err *err) MUST_CHECK;
/* Converts "30 s" or "64 MiB" to a number in the option's unit, if a rule allows units; returns
 * other text unchanged; NULL with `why` if the unit is unknown. `out` receives the converted
 * text. */
const char *option_rules_scale(const struct tc_rule *rules, const struct tc_option *option,
                               const char *text, struct buf *out, struct buf *why);
/* Checks a value in its converted form; of a list, each element. With `paths`, also checks paths.
 * -1 with `why`. */
int option_rules_check_value(const struct tc_rule *rules, const struct tc_option *option,
                             const char *text, bool paths, struct buf *why) MUST_CHECK;
/* Whether a rule declares the value to be a path. */
bool option_rules_is_path(const struct tc_rule *rules, const struct tc_option *option);
/* Checks a rule about several options; is_set reports whether an option has a value. Rules about
 * one option always pass. -1 with `why`. */
int option_rules_check_group(const struct tc_rule *rule,
                             bool (*is_set)(const void *ctx, const char *key), const void *ctx,
                             struct buf *why) MUST_CHECK;
/* Describes a rule for `turncast plugins`: "one of: auto, lines, rich". */
void option_rules_describe(const struct tc_rule *rule, struct buf *out);

#endif
