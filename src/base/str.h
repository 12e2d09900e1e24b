/* SPDX-License-Identifier: MIT
 * String view: pointer and length of borrowed bytes, not NUL-terminated; p == NULL means absent.
 */
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
    return s.len == strlen(lit) && s.p && memcmp(s.p, lit, s.len) == 0;
}

static inline bool str_equal(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static inline bool str_has_prefix(struct str s, struct str prefix)
{
    return s.len >= prefix.len && memcmp(s.p, prefix.p, prefix.len) == 0;
}

/* Whether the text is empty or only white space. */
static inline bool str_is_blank(struct str s)
{
    size_t i = 0;
    while (i < s.len && (s.p[i] == ' ' || s.p[i] == '\t' || s.p[i] == '\r' || s.p[i] == '\n'))
        i++;
    return i == s.len;
}

#endif
