/* SPDX-License-Identifier: MIT
 * Parses the header lines of one response. */
#include "io/http/client/response_headers.h"

#include <ctype.h>
#include <string.h>

#include "base/bytes/utf8.h"

static struct str strip_spaces(const char *from, const char *end)
{
    while (from < end && isspace((unsigned char)*from))
        from++;
    while (end > from && isspace((unsigned char)end[-1]))
        end--;
    return (struct str){from, (size_t)(end - from)};
}

/* A line that begins with a space continues the previous one (obsolete), and is ignored. */
static bool response_headers_accepts(const struct response_headers *h, struct str name,
                                     struct str value)
{
    if (!name.len || isspace((unsigned char)*name.p) || memchr(value.p, '\0', value.len))
        return false;
    return h->count < RESPONSE_HEADERS_MAX &&
           name.len + value.len <= RESPONSE_HEADERS_BYTES - h->bytes &&
           utf8_is_valid(name.p, name.len) && utf8_is_valid(value.p, value.len);
}

void response_headers_add(struct response_headers *h, struct str line)
{
    const char *const colon = line.len ? memchr(line.p, ':', line.len) : NULL;
    if (!colon)
        return;
    const struct str name = {line.p, (size_t)(colon - line.p)};
    const struct str value = strip_spaces(colon + 1, line.p + line.len);
    if (!response_headers_accepts(h, name, value))
        return;
    char *const lower = arena_strndup(&h->arena, name.p, name.len);
    for (char *at = lower; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    h->bytes += name.len + value.len;
    h->all[h->count++] = (struct httpc_header){lower, arena_strndup(&h->arena, value.p, value.len)};
}

void response_headers_clear(struct response_headers *h)
{
    arena_reset(&h->arena);
    h->count = h->bytes = 0;
}

void response_headers_fini(struct response_headers *h)
{
    arena_fini(&h->arena);
}
