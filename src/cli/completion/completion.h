/* SPDX-License-Identifier: MIT
 * Shell completion of the commands, options and operands in the command table: scripts for bash,
 * zsh and fish. */
#ifndef CLI_COMPLETION_COMPLETION_H
#define CLI_COMPLETION_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

#include "base/bytes/buf.h"
#include "cli/args.h"

/* Completions of one word of the command line. All-zero: none. */
struct completion_offer {
    struct buf words;  /* separated by spaces: lower case, digits, "-" and "/" */
    const char *names; /* operand of `turncast completion` that prints further words, or NULL */
    bool files;
};

/* Parses the form of a value or of operands in --help, for example "list [INSTANCE] | show ID...":
 * lower-case words are offered literally; for FILE, INSTANCE and other placeholders, the existing
 * objects are offered. The caller calls completion_offer_fini. */
struct completion_offer completion_offer_read(const char *form);
void completion_offer_fini(struct completion_offer *offer);
/* Each function prints the complete script of one shell. `commands` ends with NULL. */
void completion_print_bash(FILE *out, const struct cli_command *const *commands);
void completion_print_zsh(FILE *out, const struct cli_command *const *commands);
void completion_print_fish(FILE *out, const struct cli_command *const *commands);

#define CLEANUP_COMPLETION_OFFER __attribute__((__cleanup__(completion_offer_fini)))

#endif
