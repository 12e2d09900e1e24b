/* SPDX-License-Identifier: MIT
 * Idempotency keys: name an operation for services that recognise repeats. Pure. */
#ifndef CHAT_OPERATION_CHAT_KEY_H
#define CHAT_OPERATION_CHAT_KEY_H

#include "chat/operation/chat_record.h"

#define CHAT_KEY_LENGTH ((size_t)24)

/* Writes 24 characters of a-z2-7 and a NUL: a digest of instance, turn, slot, part and generation
 * of the record. The same for every attempt of the operation, in every process; short enough for a
 * Discord nonce (25) and safe in a URL path. */
void chat_key_write(char out[CHAT_KEY_LENGTH + 1], const char *instance, const char *turn,
                    const struct chat_record *r);

#endif
