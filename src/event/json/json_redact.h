/* SPDX-License-Identifier: MIT
 * Masks secrets inside JSON: passes every unescaped string value through log_redact() and leaves
 * the document valid. */
#ifndef EVENT_JSON_JSON_REDACT_H
#define EVENT_JSON_JSON_REDACT_H

#include "base/bytes/buf.h"

/* Appends valid JSON with every string of it passed through log_redact, unescaped: a secret is
 * found however it was escaped, and what is masked never reaches over a quote. */
void json_redact(struct buf *out, struct str json);

#endif
