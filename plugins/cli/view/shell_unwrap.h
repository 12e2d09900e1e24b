/* SPDX-License-Identifier: MIT
 * Extracts the command from a shell call that only runs it: bash -lc 'COMMAND'. Pure. */
#ifndef CLI_SHELL_UNWRAP_H
#define CLI_SHELL_UNWRAP_H

#include <stdbool.h>
#include <stddef.h>

/* The name or path of a shell. */
bool is_shell(const char *word, size_t len);
/* -c, -lc, … */
bool is_command_option(const char *word);
/* Replaces the text (NUL-terminated, n bytes) by the command, if it is nothing but a shell that
 * runs one quoted command. Returns the length. */
size_t shell_unwrap(char *text, size_t n);

#endif
