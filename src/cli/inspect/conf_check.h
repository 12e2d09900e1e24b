/* SPDX-License-Identifier: MIT
 * Checks a configuration without running it, for `turncast check`. turncast doctor has its own
 * checks, and shares two of these. Calls no function of a plugin. */
#ifndef CLI_INSPECT_CONF_CHECK_H
#define CLI_INSPECT_CONF_CHECK_H

#include "conf/conf.h"
#include "plugin/abi/loader.h"

/* Adds all findings of a file (NULL: the built-in configuration): errors, and warnings about
 * probable mistakes. Returns the configuration as far as it could be read; NULL: not at all. */
struct conf *conf_check_file(const char *path, struct findings *findings);
/* ' (did you mean "NAME"?)' or '; see …', for an unknown dialect. */
void conf_check_add_dialect_hint(const char *name, struct buf *out);

/* Checks the requirements of an isolated instance: that it has a process if its plugin starts
 * programs, and that its paths exist. -1: a requirement is not met. */
int conf_check_isolation(const struct conf *conf, const struct conf_instance *inst,
                         const struct loaded_plugin *l, struct findings *findings);

#endif
