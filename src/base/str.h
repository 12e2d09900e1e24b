/* SPDX-License-Identifier: MIT
 * A borrowed slice of bytes: pointer and length, not NUL-terminated. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
    const char *p; /* NULL: absent */
    size_t len;
};

#define STR(lit) ((struct str){(lit), sizeof(lit) - 1})

static inline bool str_is(struct str s, const char *lit)
{
    return s.p && s.len == strlen(lit) && memcmp(s.p, lit, s.len) == 0;
}

static inline bool str_equal(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static inline bool str_has_prefix(struct str s, struct str prefix)
{
    return s.len >= prefix.len && memcmp(s.p, prefix.p, prefix.len) == 0;
}

#endif
