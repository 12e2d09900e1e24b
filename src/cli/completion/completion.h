/* SPDX-License-Identifier: MIT
 * Completion of command lines in shells: what --help tells people of commands, options and
 * operands, as scripts for bash, zsh and fish. */
#ifndef CLI_COMPLETION_COMPLETION_H
#define CLI_COMPLETION_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

#include "base/bytes/buf.h"
#include "cli/args.h"

/* Completions of one word of the command line. All-zero: none. */
struct completion_offer {
    struct buf words;  /* separated by spaces: lower case, digits, "-" and "/" */
    const char *names; /* operand of `turncast completion` that prints more words, or NULL */
    bool files;
};

/* Reads what --help calls a value or operands, for example "list [INSTANCE] | show ID...": words in
 * lower case stand for themselves; FILE, INSTANCE and the like stand for what there is of these.
 * The caller calls completion_offer_fini. */
struct completion_offer completion_offer_read(const char *form);
void completion_offer_fini(struct completion_offer *offer);
/* Each prints the whole script of one shell. `commands` ends with NULL. */
void completion_print_bash(FILE *out, const struct cli_command *const *commands);
void completion_print_zsh(FILE *out, const struct cli_command *const *commands);
void completion_print_fish(FILE *out, const struct cli_command *const *commands);

#define CLEANUP_COMPLETION_OFFER __attribute__((__cleanup__(completion_offer_fini)))

#endif
