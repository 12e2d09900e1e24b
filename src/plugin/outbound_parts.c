/* SPDX-License-Identifier: MIT
 * Validates the parts of a multipart/form-data body. */
#include <string.h>

#include "plugin/outbound.h"
#include "plugin/validate.h"

#define MAX_PART_NAME ((size_t)512)

static size_t part_length(const struct tc_part *p, size_t max)
{
    return p->len ? p->len : strnlen(p->data, max + 1);
}

static bool is_part_text(const char *text)
{
    return !text || validate_is_text(text, MAX_PART_NAME);
}

/* A header value becomes a separate line in the body. */
static bool is_part_type(const char *type)
{
    for (const char *at = type; at && *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return false;
    return true;
}

bool outbound_parts_are_sent(const struct tc_http *http)
{
    for (size_t i = 0; i < http->part_count; i++)
        if (http->parts[i].name)
            return true;
    return false;
}

const char *outbound_parts_check(const struct tc_http *http, size_t max)
{
    size_t left = max - http->body_len;
    if (!http->part_count)
        return NULL;
    if (http->part_count > OUTBOUND_MAX_PARTS || !http->parts)
        return "too many parts";
    if (outbound_parts_are_sent(http) && (http->body || http->content_type))
        return "a request with parts has no body and no content type";
    for (size_t i = 0; i < http->part_count; i++) {
        const struct tc_part *const p = &http->parts[i];
        if (!p->data)
            return "a part has no data";
        if (!is_part_text(p->name) || !is_part_text(p->file_name) || !is_part_text(p->type))
            return "a name or the type of a part is too long or not UTF-8";
        if (!is_part_type(p->type))
            return "the type of a part has a control character";
        if (part_length(p, left) > left)
            return "the parts are too large";
        left -= part_length(p, left);
    }
    return NULL;
}

const struct tc_part *outbound_parts_copy(struct arena *a, const struct tc_http *http)
{
    struct tc_part *const to = arena_alloc(a, (http->part_count + 1) * sizeof *to);
    for (size_t i = 0; i < http->part_count; i++) {
        const struct tc_part *const p = &http->parts[i];
        const size_t len = part_length(p, PTRDIFF_MAX - 1);
        to[i] = (struct tc_part){arena_strdup(a, p->name), arena_strdup(a, p->file_name),
                                 arena_strdup(a, p->type), arena_memdup(a, p->data, len), len};
    }
    return to;
}

size_t outbound_content_size(const struct outbound_request *l)
{
    size_t size = l->http.body_len;
    for (size_t i = 0; i < l->http.part_count; i++)
        size += l->http.parts[i].len;
    return size;
}
