/* SPDX-License-Identifier: MIT
 * Slack's signature of a request over HTTP. Pure. */
#ifndef SLACK_SIGN_H
#define SLACK_SIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIGN_WINDOW_S 300 /* so far its clock may be from ours, to either side */

/* The signature "v0=…" is that of the raw body at the time stamp. NULL headers do not pass. */
bool sign_check(const char *secret, const char *timestamp, const char *signature, const char *body,
                size_t len, int64_t now);

#endif
