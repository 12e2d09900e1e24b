/* SPDX-License-Identifier: MIT
 * Slash tokens given as words of the command line, and the switches they change. */
#ifndef CLI_RUN_VISIBILITY_ARGS_H
#define CLI_RUN_VISIBILITY_ARGS_H

#include "cli/args.h"
#include "core/settings/visibility_store.h"
#include "turn/visibility/slash_tokens.h"

/* Applies the words to *v. 0, or the status to end with: a word that is no token has been told. */
int tokens_apply(const struct command *c, char *const *words, int n, struct visibility *v);
/* Stores the agent's switches when a token changed them. That it failed, or has to be done again
 * by a host, is logged. */
enum sticky_saved tokens_keep(struct sticky *sticky, const char *agent,
                              const struct visibility *before, const struct visibility *after);
/* Prints the five switches as one JSON line. */
void tokens_print(struct visibility v);

#endif
