/* SPDX-License-Identifier: MIT
 * A question of an instance's thread to the host's loop, for whose answer it waits: a message to
 * submit, a turn to cancel. */
#ifndef PLUGIN_ASK_H
#define PLUGIN_ASK_H

#include <turncast/plugin.h>

#include "base/arena.h"

enum ask_kind { ASK_SUBMIT, ASK_CANCEL };

/* Made by the instance's thread, read on the loop until it is answered. */
struct ask {
    enum ask_kind kind;
    const char *instance; /* its name */
    const struct tc_inbound
        *inbound;            /* ASK_SUBMIT; checked: sizes, UTF-8, no NULL where not allowed */
    const char *turn, *user; /* ASK_CANCEL */
};

/* Loop thread, once per ask, at once or later: wakes the instance. The texts (or NULL) are copied.
 * After it the ask is gone. */
void ask_answer(struct ask *a, enum tc_accepted accepted, const char *turn, const char *answer);

#endif
