/* SPDX-License-Identifier: MIT
 * Slash tokens on the command line. */
#ifndef CLI_RUN_VISIBILITY_ARGS_H
#define CLI_RUN_VISIBILITY_ARGS_H

#include "cli/args.h"
#include "core/settings/visibility_store.h"
#include "turn/visibility/slash_tokens.h"

/* Applies the words to *v. 0, or the status to end with: a word that is no token has been told. */
int visibility_args_apply(const struct cli_command *c, char *const *words, int n,
                          struct visibility *v);
/* Stores the agent's switches when a token changed them. That it failed, or has to be done again
 * by a host, is logged. */
enum visibility_store_result visibility_args_save(struct visibility_store *store, const char *agent,
                                                  const struct visibility *before,
                                                  const struct visibility *after);
/* Prints the five switches as one JSON line. */
void visibility_args_print(struct visibility v);

#endif
