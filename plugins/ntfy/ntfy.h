/* SPDX-License-Identifier: MIT
 * Internal interface of the connector ntfy: its options and its state. */
#ifndef NTFY_H
#define NTFY_H

#include <turncast/json.h>
#include <turncast/plugin.h>

/* One header for each kind of login; a header without a value is omitted. */
#define NTFY_HEADERS 2
extern const struct tc_header ntfy_headers[NTFY_HEADERS];

struct ntfy_conf {
    const char *server, *topic, *token, *user, *password, *answers, *answers_token, *public_url,
        *person;
    int64_t priority;
};

struct ntfy {
    int64_t told_s; /* time of the last notification about a late press */
};

/* Publishes the text without buttons, silently; for the lobby. */
int ntfy_publish_notice(struct tc_turn *lobby, const char *text);

/* ---- ntfy_answer.c: presses of buttons ---- */

int ntfy_answer_init(struct tc_instance *inst);
int ntfy_answer_on_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer);
int ntfy_answer_on_frame(struct tc_turn *lobby, const struct tc_frame *frame);

#endif
