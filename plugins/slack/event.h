/* SPDX-License-Identifier: MIT
 * What Slack tells: messages of people, and people who stop a turn. It came over a connection or a
 * route; that makes no difference but for how it is acknowledged. */
#ifndef SLACK_EVENT_H
#define SLACK_EVENT_H

#include <jansson.h>

#include <turncast/plugin.h>

struct event_source {
    int64_t socket; /* 0: a route */
    const char *envelope;
};

enum event_taken {
    EVENT_TAKEN,    /* on disk, or of no interest: acknowledge it */
    EVENT_PENDING,  /* will be acknowledged later (a connection) or has to come again (a route) */
    EVENT_NOT_KEPT, /* has to come again */
};

enum event_taken event_take(struct tc_turn *lobby, const json_t *payload,
                            const struct event_source *source);
/* A button was pressed. It comes once: acknowledge it before. */
void event_take_action(struct tc_turn *lobby, const json_t *payload);

#endif
