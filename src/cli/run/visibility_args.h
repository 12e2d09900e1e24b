/* SPDX-License-Identifier: MIT
 * Slash tokens on the command line. */
#ifndef CLI_RUN_VISIBILITY_ARGS_H
#define CLI_RUN_VISIBILITY_ARGS_H

#include "cli/args.h"
#include "core/settings/visibility_store.h"
#include "turn/visibility/slash_tokens.h"

/* Applies the words to *v. 0, or the exit status; an error was printed for an invalid word. */
int visibility_args_apply(const struct cli_command *c, char *const *words, int n,
                          struct visibility *v);
/* Stores the agent's visibility if a token changed it. Logs a failure, and that a running host must
 * be told. */
enum visibility_store_result visibility_args_save(struct visibility_store *store, const char *agent,
                                                  const struct visibility *before,
                                                  const struct visibility *after);
/* Prints the five settings as one JSON line. */
void visibility_args_print(struct visibility v);

#endif
