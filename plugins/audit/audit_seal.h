/* SPDX-License-Identifier: MIT
 * Sequence number, previous hash and hash at the end of a record. */
#ifndef AUDIT_SEAL_H
#define AUDIT_SEAL_H

#include <stdint.h>

#include "audit_buf.h"

#define SEAL_MAX 200                     /* bytes a seal adds at most, newline included */
#define SEAL_MAX_LINE ((size_t)16 << 20) /* longest record that is read back */

/* Completes a record with newline; head[65] becomes what the next one's prev is. prev "": none. */
void seal_add(struct out *rec, uint64_t seq, const char *prev, char head[65]);
/* Reads the seal of a line without its newline. -1: there is none, or the line was changed. */
int seal_read(const char *line, size_t len, uint64_t *seq, char head[65]);

#endif
