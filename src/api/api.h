/* SPDX-License-Identifier: MIT
 * The HTTP API of a host: creates the groups of routes and passes configuration changes on. Loop
 * thread only. */
#ifndef API_API_H
#define API_API_H

#include "conf/conf.h"
#include "core/host/host.h"

struct api_context;
struct httpd;

/* Registers its routes; borrows all. NULL: the server has no HTTP server. */
struct api_context *api_new(const struct conf *conf, struct host *server);
/* The routes of turns for the operator, on the server of the control socket: without keys, with all
 * grants, and with the events that an agent's switches hide. Freed before that server. */
struct api_context *api_new_operator(const struct conf *conf, struct host *server,
                                     struct httpd *httpd);
/* Another configuration from now on: keys that are gone or changed open nothing any more, and what
 * was opened with them is closed. */
void api_set_conf(struct api_context *a, const struct conf *conf);
/* The host ends and no turn runs: streams whose turn waits are told so, and end. */
void api_drain(struct api_context *a);
/* Ends what is being answered. Before the server is freed; NULL is fine. */
void api_free(struct api_context *a);

#endif
