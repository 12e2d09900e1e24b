/* SPDX-License-Identifier: MIT
 * Sequence number, previous hash and hash at the end of a record. */
#ifndef AUDIT_SEAL_H
#define AUDIT_SEAL_H

#include <stdint.h>

#include "audit_buf.h"

#define SEAL_MAX 200                     /* maximum bytes of a seal, including the newline */
#define SEAL_MAX_LINE ((size_t)16 << 20) /* limit of a record that is read */

/* Completes a record with a newline; head[65] receives the hash for the next record's prev. prev
 * "": none. */
void seal_add(struct out *rec, uint64_t seq, const char *prev, char head[65]);
/* Reads the seal of a line without its newline. -1: none, or the line was modified. */
int seal_read(const char *line, size_t len, uint64_t *seq, char head[65]);

#endif
