/* SPDX-License-Identifier: MIT
 * Growable text for audit records. */
#include "audit_buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void out_fini(struct out *o)
{
    free(o->p);
    *o = (struct out){0};
}

void out_reset(struct out *o)
{
    o->len = 0;
    o->failed = false;
}

bool out_reserve(struct out *o, size_t n)
{
    if (o->failed || n > SIZE_MAX / 4)
        return false;
    if (o->cap - o->len > n)
        return true;
    const size_t cap = (o->len + n + 1) * 2;
    char *p = realloc(o->p, cap);
    o->failed = !p;
    if (p) {
        o->p = p;
        o->cap = cap;
    }
    return p;
}

void out_add(struct out *o, const char *p, size_t n)
{
    if (!out_reserve(o, n))
        return;
    memcpy(o->p + o->len, p, n);
    o->len += n;
    o->p[o->len] = '\0';
}

void out_printf(struct out *o, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, ap);
    if (n > 0 && out_reserve(o, (size_t)n)) {
        vsnprintf(o->p + o->len, (size_t)n + 1, fmt, again);
        o->len += (size_t)n;
    }
    va_end(again);
    va_end(ap);
}

static void add_escaped(struct out *o, unsigned char c)
{
    static const char short_form[32] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    if (c == '"' || c == '\\')
        out_printf(o, "\\%c", c);
    else if (short_form[c])
        out_printf(o, "\\%c", short_form[c]);
    else
        out_printf(o, "\\u%04x", c);
}

void out_string_n(struct out *o, const char *s, size_t n)
{
    out_add(o, "\"", 1);
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        out_add(o, s + from, i - from);
        add_escaped(o, c);
        from = i + 1;
    }
    out_add(o, s + from, n - from);
    out_add(o, "\"", 1);
}

void out_string(struct out *o, const char *s)
{
    if (s)
        out_string_n(o, s, strlen(s));
    else
        out_add(o, "null", 4);
}
