/* SPDX-License-Identifier: MIT
 * The file store of sticky visibility: one small JSON file per agent in the state directory,
 * replaced atomically, mode 0600. */
#ifndef CORE_STICKY_H
#define CORE_STICKY_H

#include "base/err.h"
#include "conf/conf.h"
#include "turn/visibility.h"

/* Reads DIR/visibility/AGENT.json over *v (only the keys that are stored). 0: read, or nothing
 * stored; -1: unreadable or damaged, or no name for a file: *v untouched. */
int sticky_load(const char *dir, const char *agent, struct visibility *v, struct tc_err *err)
    __attribute__((__warn_unused_result__));
/* The configuration's switches, under the stored ones of the agent (NULL: of none), resolved. -1:
 * those could not be read, *v is without them. */
int sticky_resolve(const struct conf *conf, const char *agent, struct visibility *v,
                   struct tc_err *err) __attribute__((__warn_unused_result__));
/* Replaces it; makes DIR and DIR/visibility (0700) when they are missing. A damaged file is kept
 * beside it as AGENT.json.damaged. */
int sticky_save(const char *dir, const char *agent, struct visibility v, struct tc_err *err)
    __attribute__((__warn_unused_result__));

#endif
