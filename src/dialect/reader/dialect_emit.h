/* SPDX-License-Identifier: MIT
 * Emits the events common to all dialects, one call each. Strings are borrowed; those marked "or
 * NULL" may be NULL. */
#ifndef DIALECT_READER_DIALECT_EMIT_H
#define DIALECT_READER_DIALECT_EMIT_H

#include "dialect/dialect.h"

/* Emits nothing if the text is empty. */
void dialect_emit_narration(const struct dialect_sink *out, const char *text, size_t len,
                            const char *message_id);
void dialect_emit_thinking(const struct dialect_sink *out, const char *text, size_t len,
                           const char *message_id);
/* A message of the assistant is complete. */
void dialect_emit_message(const struct dialect_sink *out, const char *text, size_t len,
                          const char *message_id);
/* The answer; emits nothing if it is empty: the guard supplies a missing one. */
void dialect_emit_final(const struct dialect_sink *out, const char *text, size_t len,
                        const char *message_id);
/* code, x: or NULL. */
void dialect_emit_notice(const struct dialect_sink *out, const char *level, const char *code,
                         const char *text, const char *x);
/* code: or NULL. Emit both for a failed turn, in this order. */
void dialect_emit_error(const struct dialect_sink *out, const char *message, const char *code);
void dialect_emit_done(const struct dialect_sink *out, const char *reason, const char *code);
/* A valid value without a canonical form; name: or NULL. */
void dialect_emit_raw(const struct dialect_sink *out, const char *dialect, struct str value,
                      const char *name);

#endif
