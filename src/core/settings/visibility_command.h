/* SPDX-License-Identifier: MIT
 * Executes the slash tokens of a message: removes them, changes or reports the stored visibility.
 * Loop thread only. */
#ifndef CORE_SETTINGS_VISIBILITY_COMMAND_H
#define CORE_SETTINGS_VISIBILITY_COMMAND_H

#include "base/str.h"
#include "core/settings/visibility_cache.h"

struct visibility_command_result {
    bool empty; /* no text is left for the agent: the reply reports the visibility */
    enum visibility_store_result saved; /* if it was changed */
    const char
        *why; /* STICKY_FAILED: reason for people; the whole message is refused; otherwise NULL */
    struct str rest;              /* the message without the tokens; borrowed for the call */
    struct visibility visibility; /* if there were tokens: the current visibility */
};

/* Whether the text contains tokens. */
bool visibility_command_is_wanted(struct str text);
/* `done` is called once, at once or later, from the loop. Copies its arguments. */
void visibility_command_apply(struct visibility_cache *switches, const char *agent, struct str text,
                              void (*done)(void *ctx, const struct visibility_command_result *t),
                              void *ctx);

#endif
