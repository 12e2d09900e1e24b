/* SPDX-License-Identifier: MIT
 * Resolves a secret given as text, `env:NAME` or `file:PATH` (private files only), and registers it
 * for redaction in the log. */
#ifndef CONF_PARSE_SECRET_H
#define CONF_PARSE_SECRET_H

#include "base/arena.h"
#include "base/sys/err.h"

/* "env:NAME": the variable; "file:PATH": the first line of a file that other users cannot read; any
 * other text is the secret itself. ${CREDENTIALS_DIRECTORY} at the start of PATH is the directory
 * that a service manager sets. PATH is resolved by conf_path_resolve, relative to `dir`. In the
 * arena; NULL with err (without a place). */
const char *secret_resolve(const char *value, const char *dir, struct arena *arena,
                           struct tc_err *err);

#endif
