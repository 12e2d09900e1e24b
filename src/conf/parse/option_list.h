/* SPDX-License-Identifier: MIT
 * Lists of strings as the text of an option. Options are passed as text from the configuration to
 * the process of an instance; a list is one text, in which each element begins with a control
 * character that no element contains.
 *
 * Pure functions; results are in the arena of the caller. */
#ifndef CONF_PARSE_OPTION_LIST_H
#define CONF_PARSE_OPTION_LIST_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/sys/err.h"

/* Whether the text is a list, in contrast to a single string. */
bool option_list_is_list(const char *text);
/* Appends an element to a list (NULL: empty). NULL: the element contains a reserved control
 * character. */
char *option_list_append(struct arena *a, const char *list, const char *element);
/* The elements, ending with NULL. A single string is split at spaces. */
const char *const *option_list_split(struct arena *a, const char *text);
/* Replaces each element NAME=env:… or NAME=file:… by NAME=VALUE, marked as secret, and registers
 * VALUE for redaction in the log; `dir`: see secret_resolve. NULL with err. */
const char *option_list_resolve_secrets(struct arena *a, const char *text, const char *dir,
                                        struct tc_err *err);
/* Registers the marked values of a resolved list with the log's redaction. */
void option_list_mask_secrets(const char *text);
/* Makes each element that begins with ./, ../ or ~/ absolute; see conf_path_resolve. */
const char *option_list_resolve_paths(struct arena *a, const char *text, const char *directory);

#endif
