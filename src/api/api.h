/* SPDX-License-Identifier: MIT
 * The HTTP API of a host: creates the groups of routes and passes configuration changes on. Loop
 * thread only. */
#ifndef API_API_H
#define API_API_H

#include "conf/conf.h"
#include "core/host/host.h"

struct api_context;
struct httpd;

/* Registers the routes; borrows all arguments. NULL: the configuration enables no HTTP server. */
struct api_context *api_new(const struct conf *conf, struct host *server);
/* The routes of turns for the operator, on the server of the control socket: without API keys, with
 * all grants, and including events that visibility hides. Free it before that server. */
struct api_context *api_new_operator(const struct conf *conf, struct host *server,
                                     struct httpd *httpd);
/* Applies a new configuration: removed and changed keys are no longer accepted, and streams that
 * they opened are closed. */
void api_set_conf(struct api_context *a, const struct conf *conf);
/* The host shuts down and no turn runs: ends the streams of queued turns with a message. */
void api_drain(struct api_context *a);
/* Ends responses in progress. Call it before the server is freed; NULL is allowed. */
void api_free(struct api_context *a);

#endif
