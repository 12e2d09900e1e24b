/* SPDX-License-Identifier: MIT
 * What tests of configuration files share: one file in the folder of the test. Single-threaded. */
#ifndef TESTS_CONF_CONF_KIT_H
#define TESTS_CONF_CONF_KIT_H

#include "conf/conf.h"

/* The file's name; valid as long as the test. */
const char *conf_kit_file(void);
/* Writes the file, with mode 0600, and loads it. Ends the test if that fails. Owned. */
struct conf *conf_kit_load(const char *text);
/* A path in the folder of the file; valid until the next call. */
const char *conf_kit_below(const char *name);
/* "a|b|c" of a list; valid until the next call. */
const char *conf_kit_join(char *const *list);

#endif
