/* SPDX-License-Identifier: MIT
 * Messages of people: which are meant for the agent, and how they are handed to it. */
#ifndef SLACK_INBOUND_H
#define SLACK_INBOUND_H

#include <jansson.h>
#include <stdbool.h>

#include "event.h"

/* A message is kept as an object: id, also, channel, thread, ts, user, team, text, and of files:
 * files [{url, name}], paths, names. */
enum event_taken inbound_take(struct tc_turn *lobby, const json_t *payload,
                              const struct event_source *source);
/* Hands it to the host, and tells the person what became of it. */
enum event_taken inbound_submit(struct tc_turn *lobby, const json_t *message);

#endif
