/* SPDX-License-Identifier: MIT
 * The member `instances` of a turn that a client begins: which connector instances are told of it
 * beside those that are told anyway. Loop thread only. */
#ifndef API_TURNS_TURN_INSTANCES_H
#define API_TURNS_TURN_INSTANCES_H

#include <jansson.h>

#include "core/dispatch/dispatch.h"

/* The names with a newline between two, as conf_scope_turn has them; owned. NULL: there are none,
 * or
 * (`why`, for people) one of them is unknown, or its agents or conversations do not admit `turn`.
 */
char *turn_instances_read(const json_t *body, const struct dispatch *d,
                          const struct conf_scope_turn *turn, struct buf *why);

#endif
