/* SPDX-License-Identifier: MIT
 * Growable buffer that records an allocation failure instead of aborting. */
#ifndef AUDIT_OUT_H
#define AUDIT_OUT_H

#include <stdbool.h>
#include <stddef.h>

struct out {
    char *p; /* owned, NUL-terminated if not NULL */
    size_t len, cap;
    bool failed; /* an allocation failed: the contents are incomplete */
};

void out_fini(struct out *o);
/* Empties it, keeps the memory, resets a failure. */
void out_reset(struct out *o);
/* Makes room for n more bytes and a NUL. false: out of memory. */
bool out_reserve(struct out *o, size_t n);
void out_add(struct out *o, const char *p, size_t n);
void out_printf(struct out *o, const char *fmt, ...) __attribute__((__format__(__printf__, 2, 3)));
/* A quoted JSON string of valid UTF-8; NULL is null. */
void out_string(struct out *o, const char *s);
void out_string_n(struct out *o, const char *s, size_t n);

#endif
