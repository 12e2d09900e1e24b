/* SPDX-License-Identifier: MIT
 * Resolves a secret given as text, `env:NAME` or `file:PATH` (private files only) and registers
 * it for redaction in the log. */
#ifndef CONF_PARSE_SECRET_H
#define CONF_PARSE_SECRET_H

#include "base/arena.h"
#include "base/sys/err.h"

/* "env:NAME": that variable; "file:PATH": the first line of a file that nobody else may read,
 * ${CREDENTIALS_DIRECTORY} at the front of PATH replaced by that variable, which a service manager
 * sets; else the value itself. PATH is resolved as by conf_path_resolve, from the directory
 * `dir`. The text is registered with the log's redaction. In the arena; NULL with err
 * (its place is left to the caller). */
const char *secret_resolve(const char *value, const char *dir, struct arena *arena,
                           struct tc_err *err);

#endif
