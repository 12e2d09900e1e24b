/* SPDX-License-Identifier: MIT
 * Slack's signature of a request over HTTP. */
#ifndef SLACK_SIGN_H
#define SLACK_SIGN_H

#include <turncast/plugin.h>

#define SIGN_WINDOW_S 300 /* so far its clock may be from ours, to either side */

struct sign_request {
    const char *timestamp, *signature; /* of the headers; or NULL */
    const char *body;                  /* raw */
    size_t len;
};

/* The signature "v0=…" is that of the body at the time stamp. */
bool sign_check(struct tc_turn *lobby, const char *secret, const struct sign_request *r,
                int64_t now);

#endif
