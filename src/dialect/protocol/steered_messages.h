/* SPDX-License-Identifier: MIT
 * Messages that were written to an agent at work, and whether it has taken them: a few ids, the
 * oldest first. */
#ifndef DIALECT_PROTOCOL_STEERED_MESSAGES_H
#define DIALECT_PROTOCOL_STEERED_MESSAGES_H

#include "dialect/dialect.h"

/* All zero is empty. */
struct steered {
    struct {
        char id[DIALECT_STEER_ID];
        enum dialect_settled settled;
    } all[DIALECT_STEERED];
    size_t n;
};

/* False: there are too many. */
bool steered_messages_add(struct steered *s, const char *id);
/* Whether that message is there and not settled. */
bool steered_messages_waits(const struct steered *s, const char *id);
/* The message is settled. `id` empty: the oldest one that is not. */
void steered_messages_settle(struct steered *s, struct str id, enum dialect_settled how);
/* Removes the next one that is settled, and returns how; DIALECT_UNSETTLED: there is none. */
enum dialect_settled steered_messages_next(struct steered *s, char id[DIALECT_STEER_ID]);

#endif
