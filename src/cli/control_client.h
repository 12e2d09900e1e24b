/* SPDX-License-Identifier: MIT
 * Client of the control socket: one request, one response. */
#ifndef CLI_CONTROL_CLIENT_H
#define CLI_CONTROL_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/attr.h"
#include "base/sys/err.h"
#include "cli/args.h"
#include "conf/conf.h"

/* Response of the host. */
struct control_response {
    int status;   /* HTTP status; 0: no host runs there */
    json_t *body; /* an object, or NULL */
};

/* Waits for the response. -1 with err: a host listens, but did not respond. */
int control_client_request(struct control_response *c, const struct conf *conf, const char *method,
                           const char *path, const json_t *body, struct tc_err *err) MUST_CHECK;
/* The same, but prints the error on stderr. */
int control_client_call(struct control_response *c, const struct conf *conf, const char *method,
                        const char *path, const json_t *body) MUST_CHECK;
void control_client_fini(struct control_response *c);
/* The text of an error response. Borrowed. */
const char *control_client_error_text(const struct control_response *c);
/* Prints on stderr that no host runs, and the path of the socket. */
void control_client_print_no_host(const struct conf *conf);
/* 0: the status is 200 and there is a body. Otherwise prints the reason, and returns
 * EXIT_TURN_ERROR. */
int control_client_check(const struct control_response *c, const struct conf *conf) MUST_CHECK;

/* Implements a command that shows the response at a path: as JSON if the arguments ask for it,
 * otherwise with `print`. Prints errors on stderr. Returns the exit status. */
int control_client_show(const struct args *args, const char *path,
                        void (*print)(const json_t *body));

/* Follows an event stream (text/event-stream): calls `data` with each message, a line of JSON,
 * until it returns false or the stream ends; skips messages with an explicit type. 0; -1 with err:
 * no host runs, or the connection failed. */
int control_client_follow(const struct conf *conf, const char *path,
                          bool (*data)(void *ctx, const char *line, size_t len), void *ctx,
                          struct tc_err *err) MUST_CHECK;

#endif
