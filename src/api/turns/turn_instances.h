/* SPDX-License-Identifier: MIT
 * The member `instances` of a new turn: connector instances that receive the turn in addition to
 * the usual ones. Loop thread only. */
#ifndef API_TURNS_TURN_INSTANCES_H
#define API_TURNS_TURN_INSTANCES_H

#include <jansson.h>

#include "core/dispatch/dispatch.h"

/* The names, separated by newlines as in conf_scope_turn; owned. NULL: none, or, with `why` (for
 * people), a name is unknown or its instance does not admit `turn`. */
char *turn_instances_read(const json_t *body, const struct dispatch *d,
                          const struct conf_scope_turn *turn, struct buf *why);
/* Appends the member of a shown turn: a list of names; nothing for NULL. */
void turn_instances_append_json(struct buf *out, const char *names);

#endif
