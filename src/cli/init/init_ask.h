/* SPDX-License-Identifier: MIT
 * Questions on the terminal. */
#ifndef CLI_INIT_INIT_ASK_H
#define CLI_INIT_INIT_ASK_H

#include <stdbool.h>

/* Standard input and output are a terminal. */
bool init_ask_is_possible(void);
/* Asks for a line and trims it; returns `fallback` if it is empty. Owned; NULL: end of input. */
char *init_ask_line(const char *question, const char *fallback);
/* The same without echo; only the returned copy stays in memory. Ctrl-C restores the terminal and
 * ends the program, as usual. */
char *init_ask_secret(const char *question);
/* Accepts "y" or "n", or a word that begins with one; otherwise `fallback`. */
bool init_ask_yes_no(const char *question, bool fallback);

#endif
