/* SPDX-License-Identifier: MIT
 * Turns of the running host, for commands: the list, one turn by the beginning of its ID, and a
 * turn on the terminal while it runs. What goes wrong is told on stderr. */
#ifndef CLI_CONTROL_TURN_CLIENT_H
#define CLI_CONTROL_TURN_CLIENT_H

#include <jansson.h>

#include "base/attr.h"
#include "cli/args.h"
#include "conf/conf.h"

/* {"turns": [...]}, the newest first; owned. NULL: there is none. */
json_t *turn_client_list(const struct conf *conf);
/* The turn whose ID begins so; NULL as id: the one that runs and began first. Borrowed from the
 * list. NULL: none, or several. */
const json_t *turn_client_find(const json_t *list, const char *id);
bool turn_client_is_over(const json_t *turn);
/* GET /turns/ID; owned. NULL: it failed. */
json_t *turn_client_get(const struct conf *conf, const char *id);
/* Writes the events of a turn to a descriptor, a line of JSON each, until it is over; with id NULL
 * those of the turn that runs, or of the next one that begins; with `on`, of all turns from then
 * on, one after the other. -1: the connection failed. */
int turn_client_write_events(const struct conf *conf, const char *id, bool on, int fd) MUST_CHECK;
/* The same, shown by connectors (those of `args`, else cli), as `turncast replay` does. Returns the
 * exit status. */
int turn_client_show(const struct args *args, const struct conf *conf, const char *id, bool on,
                     char **tokens, int n_tokens);

#endif
