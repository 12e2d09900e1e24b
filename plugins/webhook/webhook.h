/* SPDX-License-Identifier: MIT
 * Shared by the files of the connector webhook: options and state. */
#ifndef WEBHOOK_H
#define WEBHOOK_H

#include <turncast/plugin.h>

struct webhook_conf {
    const char *url, *secret, *token, *inbound_secret, *format;
    const char *const *types;
    int64_t retry_s;
    bool receive;
};

struct webhook {
    const char *source; /* CloudEvents source: this host and instance */
    bool is_gone;       /* the endpoint has answered 410: sends nothing until the next start */
    bool is_failing;    /* the last attempt failed, which was logged */
};

/* on_hit: a signed message, decision or cancellation. Sets the response; returns 0. */
int webhook_inbound_handle(struct tc_turn *lobby, const struct tc_hit *hit,
                           struct tc_answer *answer);

#endif
