/* SPDX-License-Identifier: MIT
 * Everything that can be said about a configuration without running it: what turncast check prints.
 * turncast doctor has checks of its own and shares two of these. Calls no function of a plugin. */
#ifndef CLI_INSPECT_CONF_CHECK_H
#define CLI_INSPECT_CONF_CHECK_H

#include "conf/conf.h"
#include "plugin/abi/loader.h"

/* Adds all findings of a file (NULL: the built-in configuration): what is wrong, and what works and
 * is hardly meant. Returns what could be read of it; NULL: nothing could. */
struct conf *conf_check_file(const char *path, struct findings *findings);
/* ' (did you mean "NAME"?)' or '; see …', for a dialect there is not. */
void conf_check_add_dialect_hint(const char *name, struct buf *out);

/* Checks the requirements of an instance with a process: that it has one if its plugin starts
 * programs, and that its paths exist. -1: something is missing. */
int conf_check_isolation(const struct conf *conf, const struct conf_instance *inst,
                         const struct loaded_plugin *l, struct findings *findings);

#endif
