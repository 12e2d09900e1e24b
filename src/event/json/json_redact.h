/* SPDX-License-Identifier: MIT
 * Masks secrets inside JSON: passes every unescaped string value through log_redact() and leaves
 * the document valid. */
#ifndef EVENT_JSON_JSON_REDACT_H
#define EVENT_JSON_JSON_REDACT_H

#include "base/bytes/buf.h"

/* Appends valid JSON with every string passed through log_redact in unescaped form: a secret is
 * found however it was escaped, and masking never extends over a quote. */
void json_redact(struct buf *out, struct str json);

#endif
