/* SPDX-License-Identifier: MIT
 * The socket of the host in its state directory, for whoever may open it: its user. HTTP, with
 * routes of its own:
 *
 *     GET /status            what the host is doing, one object
 *     POST /reload           reads the configuration again; 422 and why it is refused
 *     POST /instances/NAME/restart
 *                            ends that instance and starts it again; 404: there is none, 422: why
 *                            it does not start
 *     POST /dead/ID/retry    a dead letter is sent again; 404: there is none
 *     GET /pairing           who was paired with which instance
 *     POST /pairing          {"instance", "code"} adds a person, {"instance", "revoke"} removes
 * one; 404: the code is wrong, or the user was not added, 429: too many codes POST
 * /approvals/ID/forget POST /approvals/forget?agent=NAME what was allowed for longer is forgotten,
 * of all agents without a name; how many there were. 404: there is none of that number
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
/* Borrows the server. NULL with err: the host can do without. */
struct control *control_new(struct host *server, struct tc_err *err);
/* The HTTP server of the socket, for further routes. */
struct httpd *control_httpd(const struct control *c);
/* Before the server is freed. NULL is fine. */
void control_free(struct control *c);

#endif
