/* SPDX-License-Identifier: MIT
 * Asks the host that runs in a state directory, over its control socket. */
#ifndef CLI_CONTROL_CLIENT_H
#define CLI_CONTROL_CLIENT_H

#include <jansson.h>

#include "base/attr.h"
#include "base/sys/err.h"
#include "conf/conf.h"

/* What came back. */
struct call {
    int status;   /* of HTTP; 0: no host runs there */
    json_t *body; /* an object, or NULL */
};

/* Waits for the answer. -1 with err: there is a host, and it did not answer. */
int call_host(struct call *c, const struct conf *conf, const char *method, const char *path,
              struct tc_err *err) MUST_CHECK;
/* The same with a body, as a POST. */
int call_post(struct call *c, const struct conf *conf, const char *path, const json_t *body,
              struct tc_err *err) MUST_CHECK;
void call_fini(struct call *c);
/* The text of an error that was answered. Borrowed. */
const char *call_error(const struct call *c);
/* Tells on stderr that there is no host, and where. */
void call_tell_nobody(const struct conf *conf);

#endif
