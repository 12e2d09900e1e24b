/* SPDX-License-Identifier: MIT
 * The member `instances` of a turn that a client begins: which connector instances are told of it
 * beside those that are told anyway. Loop thread only. */
#ifndef API_TURNS_TURN_INSTANCES_H
#define API_TURNS_TURN_INSTANCES_H

#include <jansson.h>

#include "core/dispatch/dispatch.h"

/* The names, separated by newlines as in conf_scope_turn; owned. NULL: there are none, or, with
 * `why` (for people), a name is unknown or its instance does not admit `turn`. */
char *turn_instances_read(const json_t *body, const struct dispatch *d,
                          const struct conf_scope_turn *turn, struct buf *why);
/* The member of a turn that is shown: a list of names; nothing for NULL. */
void turn_instances_append_json(struct buf *out, const char *names);

#endif
