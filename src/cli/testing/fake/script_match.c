/* SPDX-License-Identifier: MIT
 * Implements partial equality, and decodes the two encodings of forms. */
#include "cli/testing/fake/script_match.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool match_report(struct buf *why, const char *what, const json_t *want, const json_t *got)
{
    char *const a = want ? json_dumps(want, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    char *const b = got ? json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    buf_printf(why, "%s: wanted %s, got %s", what, a ? a : "nothing", b ? b : "nothing");
    free(a);
    free(b);
    return false;
}

static bool match_value(const char *path, const json_t *want, const json_t *got, struct buf *why);

static bool match_object(const char *path, const json_t *want, const json_t *got, struct buf *why)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(void *)(uintptr_t)want, key, value)
    {
        char *const below = xasprintf("%s/%s", path, key);
        const bool same = match_value(below, value, json_object_get(got, key), why);
        free(below);
        if (!same)
            return false;
    }
    return true;
}

static bool match_array(const char *path, const json_t *want, const json_t *got, struct buf *why)
{
    if (json_array_size(want) != json_array_size(got))
        return match_report(why, path, want, got);
    for (size_t i = 0; i < json_array_size(want); i++) {
        char *const below = xasprintf("%s/%zu", path, i);
        const bool same = match_value(below, json_array_get(want, i), json_array_get(got, i), why);
        free(below);
        if (!same)
            return false;
    }
    return true;
}

static bool match_text(const char *want, const json_t *got)
{
    if (strcmp(want, "*") == 0)
        return got && !json_is_null(got);
    if (strncmp(want, "!~", 2) == 0)
        return !json_is_string(got) || !strstr(json_string_value(got), want + 2);
    if (!json_is_string(got))
        return false;
    const char *const text = json_string_value(got);
    return want[0] == '~' ? strstr(text, want + 1) != NULL : strcmp(want, text) == 0;
}

static bool match_value(const char *path, const json_t *want, const json_t *got, struct buf *why)
{
    if (json_is_object(want) && json_is_object(got))
        return match_object(path, want, got, why);
    if (json_is_array(want) && json_is_array(got))
        return match_array(path, want, got, why);
    bool same = json_equal(want, got);
    if (json_is_string(want))
        same = match_text(json_string_value(want), got);
    if (json_is_null(want))
        same = !got || json_is_null(got);
    return same || match_report(why, path[0] ? path : "/", want, got);
}

bool match_json(const json_t *want, const json_t *got, struct buf *why)
{
    return match_value("", want, got, why);
}

/* Parses a member that is JSON: forms carry numbers and objects as text. */
static json_t *match_form_value(const char *p, size_t n)
{
    json_t *const value = json_loadb(p, n, JSON_DECODE_ANY, NULL);
    return value ? value : json_stringn_nocheck(p, n);
}

static char *match_part_attribute(const char *head, size_t n, const char *name)
{
    char *const key = xasprintf(" %s=\"", name);
    const char *const at = memmem(head, n, key, strlen(key));
    const char *const from = at ? at + strlen(key) : NULL;
    const char *const to = from ? memchr(from, '"', n - (size_t)(from - head)) : NULL;
    free(key);
    return to ? xstrndup(from, (size_t)(to - from)) : NULL;
}

static void match_set_part(json_t *form, const char *name, const char *file, const char *text,
                           size_t len)
{
    if (file)
        json_object_set_new(
            form, name,
            json_pack("{s:s, s:o}", "filename", file, "content", json_stringn_nocheck(text, len)));
    else
        json_object_set_new(form, name, match_form_value(text, len));
}

json_t *match_parts(const struct tc_part *parts, size_t count)
{
    json_t *const form = json_object();
    for (size_t i = 0; i < count; i++)
        if (parts[i].name)
            match_set_part(form, parts[i].name, parts[i].file_name, parts[i].data, parts[i].len);
    return form;
}

static void match_add_part(json_t *form, const char *p, size_t n)
{
    const char *const blank = memmem(p, n, "\r\n\r\n", 4);
    if (!blank)
        return;
    const size_t head = (size_t)(blank - p);
    char *const name = match_part_attribute(p, head, "name"), *const file = match_part_attribute(
                                                                  p, head, "filename");
    const char *const text = blank + 4;
    const size_t len = n - head - 4;
    if (name)
        match_set_part(form, name, file, text, len);
    free(name);
    free(file);
}

static json_t *match_multipart(const char *boundary, const char *body, size_t len)
{
    json_t *const form = json_object();
    char *const mark = xasprintf("\r\n--%s", boundary);
    const char *const end = body + len;
    const char *p = len > strlen(mark) && strncmp(body, mark + 2, strlen(mark) - 2) == 0
                        ? body + strlen(mark) - 2
                        : end;
    while (p < end) {
        const char *const next = memmem(p, (size_t)(end - p), mark, strlen(mark));
        if (!next)
            break;
        match_add_part(form, p, (size_t)(next - p));
        p = next + strlen(mark);
    }
    free(mark);
    return form;
}

static char *match_percent_decode(const char *p, size_t n, size_t *len)
{
    char *const out = xmalloc(n + 1);
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const char hex[3] = {p[i] == '%' && i + 2 < n + 0 ? p[i + 1] : '0',
                             p[i] == '%' && i + 2 < n + 0 ? p[i + 2] : '0', 0};
        if (p[i] == '%' && i + 2 < n) {
            out[used++] = (char)strtol(hex, NULL, 16);
            i += 2;
        } else {
            out[used++] = p[i] == '+' ? ' ' : p[i];
        }
    }
    out[used] = '\0';
    *len = used;
    return out;
}

static json_t *match_urlencoded(const char *body, size_t len)
{
    json_t *const form = json_object();
    for (const char *p = body, *const end = body + len; p < end;) {
        const char *const amp = memchr(p, '&', (size_t)(end - p)), *const to = amp ? amp : end;
        const char *const is = memchr(p, '=', (size_t)(to - p));
        if (is) {
            size_t key_len, value_len;
            char *const key = match_percent_decode(p, (size_t)(is - p), &key_len);
            char *const value = match_percent_decode(is + 1, (size_t)(to - is - 1), &value_len);
            json_object_set_new(form, key, match_form_value(value, value_len));
            free(key);
            free(value);
        }
        p = to + 1;
    }
    return form;
}

json_t *match_body(const char *content_type, const char *body, size_t len)
{
    const char *const type = content_type ? content_type : "application/json";
    const char *const boundary = strstr(type, "boundary=");
    if (strncmp(type, "multipart/form-data", 19) == 0 && boundary)
        return match_multipart(boundary + 9, body, len);
    if (strncmp(type, "application/x-www-form-urlencoded", 33) == 0)
        return match_urlencoded(body, len);
    json_t *const value = json_loadb(body, len, JSON_DECODE_ANY, NULL);
    return value ? value : json_stringn_nocheck(body, len);
}
