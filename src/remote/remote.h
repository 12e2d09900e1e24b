/* SPDX-License-Identifier: MIT
 * Transports of turncast-remote. The host starts turncast-remote in place of an agent whose events
 * do not come from standard output (key `transport` of an agent). The program writes these events
 * to its standard output, one line each, in a dialect that the host reads. One thread; calls may
 * block.
 *
 * Its arguments are: KIND [NAME=VALUE…] [-- COMMAND [ARGUMENT…]]. A secret is in the environment
 * variable TURNCAST_REMOTE_SECRET, which is removed before the command is started. */
#ifndef REMOTE_REMOTE_H
#define REMOTE_REMOTE_H

#include "base/attr.h"
#include "base/sys/err.h"

struct remote_arguments {
    char **settings; /* NAME=VALUE; the end is NULL */
    char **command;  /* NULL: none */
    char *secret;    /* or NULL */
};

/* The value of a setting; `otherwise` if it is not set. */
const char *remote_setting(const struct remote_arguments *a, const char *name,
                           const char *otherwise);

/* Follows the stream PREFIX:events:ID of agenticore until its entry "done". With a command: starts
 * it, for the turn that $TURNCAST_TURN names, with the environment by which the hooks of agenticore
 * publish, and returns its exit status; the ID is that of the turn. Without one the ID is read from
 * standard input. -1 with err. */
int remote_redis_follow(const struct remote_arguments *a, struct tc_err *err) MUST_CHECK;

/* Serves one turn of the service that the settings describe (sse/sse_run.h). Returns 0: also after
 * an error of the service, which is told on standard output. -1 with err: it could not begin. With
 * the setting `probe` no turn: writes "ok" if the service accepts requests, else a line that says
 * why not. The secret is lines "Name: value", headers of each request. */
int remote_sse_follow(const struct remote_arguments *a, struct tc_err *err) MUST_CHECK;

/* Asks for a run at the subject, with standard input as the message, and writes its events until
 * the last one. -1 with err: nobody takes runs there, or the connection was lost. With the setting
 * `probe` no run: writes "ok" if somebody takes runs, else a line that says why not. */
int remote_nats_follow(const struct remote_arguments *a, struct tc_err *err) MUST_CHECK;

#endif
