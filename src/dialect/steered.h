/* SPDX-License-Identifier: MIT
 * Messages that were written to an agent at work and are not settled: a few ids, the oldest first.
 */
#ifndef DIALECT_STEERED_H
#define DIALECT_STEERED_H

#include "dialect/dialect.h"

/* All zero is empty. */
struct steered {
    struct {
        char id[DIALECT_STEER_ID];
        bool taken;
    } all[DIALECT_STEERED];
    size_t n;
};

/* False: there are too many. */
bool steered_add(struct steered *s, const char *id);
/* The agent has taken the message into its turn, or (taken false) has not and will not. `id` empty:
 * the oldest one that is not taken. */
void steered_settle(struct steered *s, struct str id, bool taken);
/* Removes the next one that was taken; false: there is none. */
bool steered_next(struct steered *s, char id[DIALECT_STEER_ID]);

#endif
