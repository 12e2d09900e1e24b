/* SPDX-License-Identifier: MIT
 * Messages written to a working agent, and their fate: a few ids, the oldest first. */
#ifndef DIALECT_PROTOCOL_STEERED_MESSAGES_H
#define DIALECT_PROTOCOL_STEERED_MESSAGES_H

#include "dialect/dialect.h"

/* A struct of zeros is empty. */
struct steered {
    struct {
        char id[DIALECT_STEER_ID];
        enum dialect_settled settled;
    } all[DIALECT_STEERED];
    size_t n;
};

/* False: too many. */
bool steered_messages_add(struct steered *s, const char *id);
/* Whether that message is pending. */
bool steered_messages_waits(const struct steered *s, const char *id);
/* Sets the fate of a message. `id` empty: the oldest pending one. */
void steered_messages_settle(struct steered *s, struct str id, enum dialect_settled how);
/* Removes the next message with a known fate, and returns that; DIALECT_UNSETTLED: none. */
enum dialect_settled steered_messages_next(struct steered *s, char id[DIALECT_STEER_ID]);

#endif
