/* SPDX-License-Identifier: MIT
 * Turns of the running host, for commands: the list, lookup by the beginning of an id, and display
 * of a running turn. Errors are printed on stderr. */
#ifndef CLI_CONTROL_TURN_CLIENT_H
#define CLI_CONTROL_TURN_CLIENT_H

#include <jansson.h>

#include "base/attr.h"
#include "cli/args.h"
#include "conf/conf.h"

/* {"turns": [...]}, the newest first; owned. NULL: failed. */
json_t *turn_client_list(const struct conf *conf);
/* The turn whose id begins with this text; id NULL: the running turn that started first. Borrowed
 * from the list. NULL: none, or several. */
const json_t *turn_client_find(const json_t *list, const char *id);
bool turn_client_is_over(const json_t *turn);
/* GET /turns/ID; owned. NULL: failed. */
json_t *turn_client_get(const struct conf *conf, const char *id);
/* Writes the events of a turn to a descriptor, as JSON lines, until it ends. id NULL: the running
 * turn, or the next one that starts; `on`: then all further turns, one after the other. -1: the
 * connection failed. */
int turn_client_write_events(const struct conf *conf, const char *id, bool on, int fd) MUST_CHECK;
/* Shows the events with connectors (those of `args`, otherwise cli), as `turncast replay` does.
 * Returns the exit status. */
int turn_client_show(const struct args *args, const struct conf *conf, const char *id, bool on,
                     char **tokens, int n_tokens);

#endif
