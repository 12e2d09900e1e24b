/* SPDX-License-Identifier: MIT
 * The request by which a host gives an outbound request to the host that leads an instance: one
 * line of JSON, then the stored form of the outbound request, which has placeholders for secrets.
 * Formats and parses; unknown members are ignored. Pure. */
#ifndef CORE_HOST_REQUEST_MESSAGE_H
#define CORE_HOST_REQUEST_MESSAGE_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "io/journal/journal_moving.h"

/* id: of the offer; each later attempt to give the same request to the same host has it, too. */
void request_message_write(struct buf *out, const char *id, const struct journal_moving *m);
/* Its texts are the arena's; the body is borrowed from the message. -1: it is none. */
int request_message_read(struct str message, struct arena *a, const char **id,
                         struct journal_moving *m) MUST_CHECK;

#endif
