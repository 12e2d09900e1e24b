/* SPDX-License-Identifier: MIT
 * The file store of sticky visibility: one small JSON file per agent in the state directory,
 * replaced atomically, mode 0600. */
#ifndef CORE_STICKY_H
#define CORE_STICKY_H

#include "base/err.h"
#include "turn/visibility.h"

/* Reads DIR/visibility/AGENT.json over *v (only the keys that are stored). 0: read, or nothing
 * stored; -1: unreadable or damaged, *v untouched. */
int sticky_load(const char *dir, const char *agent, struct visibility *v, struct tc_err *err);
/* Replaces it; makes DIR/visibility (0700) when it is missing. */
int sticky_save(const char *dir, const char *agent, struct visibility v, struct tc_err *err);

#endif
