/* SPDX-License-Identifier: MIT
 * Control socket in the state directory: an HTTP server for the operator. Only the user of the host
 * may open the socket. Routes:
 *
 *     GET /status            what the host is doing, one object
 *     POST /reload           reads the configuration again; 422: refused, with the reason
 *     POST /instances/NAME/restart
 *                            ends that instance and starts it again; 404: there is none, 422: why
 *                            it does not start
 *     POST /dead/ID/retry    a dead letter is sent again; 404: there is none
 *     GET /pairing           the people paired with each instance
 *     POST /pairing          {"instance", "code"} adds a person, {"instance", "revoke"} removes
 * one; 404: wrong code, or unknown person; 429: too many codes POST /approvals/ID/forget revokes
 * one remembered approval; 404: unknown POST /approvals/forget?agent=NAME revokes those of the
 * agent, or of all agents; answers their number
 *
 * The routes of turns (api/turns) are added by the caller (api_new_operator).
 *
 * Loop thread only. */
#ifndef API_CONTROL_CONTROL_H
#define API_CONTROL_CONTROL_H

#include "core/host/host.h"

struct control;
struct httpd;

/* Path of the socket in that state directory. Owned. */
char *control_socket_path(const char *state_dir);
/* Borrows the server. NULL with err: the host runs without the socket. */
struct control *control_new(struct host *server, struct tc_err *err);
/* The HTTP server of the socket, for further routes. */
struct httpd *control_httpd(const struct control *c);
/* Call it before the server is freed. NULL is allowed. */
void control_free(struct control *c);

#endif
