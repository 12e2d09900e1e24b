/* SPDX-License-Identifier: MIT
 * Executes the slash tokens of a message: removes them, changes or reports the stored visibility.
 * Loop thread only. */
#ifndef CORE_SETTINGS_VISIBILITY_COMMAND_H
#define CORE_SETTINGS_VISIBILITY_COMMAND_H

#include "base/str.h"
#include "core/settings/visibility_cache.h"

struct visibility_command_result {
    bool empty; /* nothing is left for the agent: the switches are the answer */
    enum visibility_store_result saved; /* if they were changed */
    const char
        *why; /* STICKY_FAILED: for people, and nothing of the message may be done; else NULL */
    struct str rest;              /* the message without them; borrowed for the call */
    struct visibility visibility; /* when such words were there: as it is now */
};

/* Whether there are such words in it. */
bool visibility_command_is_wanted(struct str text);
/* `done` is called once, at once or later, from the loop. Copies what it needs. */
void visibility_command_apply(struct visibility_cache *switches, const char *agent, struct str text,
                              void (*done)(void *ctx, const struct visibility_command_result *t),
                              void *ctx);

#endif
