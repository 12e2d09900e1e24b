/* SPDX-License-Identifier: MIT
 * Finds one argument in a tool call's JSON without building a tree of it. */
#include "call_preview.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "shell_unwrap.h"

#define TEXT_SIZE 4096

struct slice {
    const char *p, *end;
};

static const struct {
    const char *tool, *key;
} telling[] = {
    {"Bash", "command"},     {"WebSearch", "query"},   {"WebFetch", "url"}, {"Read", "file_path"},
    {"Write", "file_path"},  {"Edit", "file_path"},    {"Grep", "pattern"}, {"Glob", "pattern"},
    {"Task", "description"}, {"Agent", "description"},
};

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && strchr(" \t\r\n", *p))
        p++;
    return p;
}

/* End of the string whose opening quote is at p. */
static const char *string_end(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\' && p + 1 < end)
            p++;
    return p < end ? p + 1 : end;
}

/* End of the value at p; for an object or array, behind its last bracket. */
static const char *value_end(const char *p, const char *end)
{
    unsigned depth = 0;
    while (p < end) {
        if (*p == '"') {
            p = string_end(p, end);
        } else {
            if (strchr("}],", *p) && depth == 0)
                return p;
            depth += *p == '{' || *p == '[';
            depth -= *p == '}' || *p == ']';
            p++;
        }
        if (depth == 0 && strchr("\"}]", p[-1]))
            return p;
    }
    return end;
}

/* The next member of an object; moves `at` behind it. */
static bool next_member(struct slice *at, struct slice *key, struct slice *value)
{
    const char *p = skip_space(at->p, at->end);
    while (p < at->end && (*p == '{' || *p == ','))
        p = skip_space(p + 1, at->end);
    if (p >= at->end || *p != '"')
        return false;
    *key = (struct slice){p + 1, string_end(p, at->end) - 1};
    p = skip_space(key->end + 1, at->end);
    if (p >= at->end || *p != ':')
        return false;
    p = skip_space(p + 1, at->end);
    *value = (struct slice){p, value_end(p, at->end)};
    at->p = value->end;
    return value->p < value->end;
}

static bool is_telling_scalar(struct slice value)
{
    const size_t n = (size_t)(value.end - value.p);
    if (value.p[0] == '"')
        return n > 2;
    return value.p[0] != '{' && value.p[0] != '[' && value.p[0] != 'n';
}

/* The value to show: of `key` if it is a scalar, otherwise the first scalar, otherwise nothing. */
static struct slice find(struct slice object, const char *key)
{
    struct slice name, value, first = {NULL, NULL};
    const size_t n = key ? strlen(key) : 0;
    while (next_member(&object, &name, &value)) {
        if (!is_telling_scalar(value))
            continue;
        if (key && (size_t)(name.end - name.p) == n && memcmp(name.p, key, n) == 0)
            return value;
        if (!first.p)
            first = value;
    }
    return first;
}

static uint32_t hex4(const char *p)
{
    unsigned code = 0;
    return sscanf(p, "%4x", &code) == 1 ? code : 0xfffd;
}

static size_t encode(char *out, uint32_t cp)
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    const size_t len = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--, cp >>= 6)
        out[i] = (char)(0x80 | (cp & 0x3f));
    out[0] = (char)((0xf00 >> len & 0xff) | cp);
    return len;
}

/* Appends one escape at p (a backslash) to out. Returns its end. */
static const char *unescape(const char *p, const char *end, char *out, size_t *len)
{
    static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
    if (p + 1 >= end)
        return end;
    if (p[1] != 'u') {
        const char *at = strchr(from, p[1]);
        out[(*len)++] = at ? to[at - from] : p[1];
        return p + 2;
    }
    if (end - p < 6)
        return end;
    uint32_t cp = hex4(p + 2);
    p += 6;
    if (cp >= 0xd800 && cp <= 0xdbff && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
        const uint32_t low = hex4(p + 2);
        if (low >= 0xdc00 && low <= 0xdfff) {
            cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
            p += 6;
        }
    }
    *len += encode(out + *len, cp == 0 || (cp >= 0xd800 && cp <= 0xdfff) ? 0xfffd : cp);
    return p;
}

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The start of a value's text; never cut within a character. */
static size_t call_preview_decode(char out[TEXT_SIZE], struct slice value)
{
    const bool escaped = value.p[0] == '"';
    const char *p = escaped ? value.p + 1 : value.p, *const end =
                                                         escaped ? value.end - 1 : value.end;
    size_t len = 0;
    while (p < end && len + 8 < TEXT_SIZE) {
        if (escaped && *p == '\\')
            p = unescape(p, end, out, &len);
        else
            out[len++] = *p++;
    }
    while (p < end && continues(*p) && len + 1 < TEXT_SIZE)
        out[len++] = *p++;
    out[len] = '\0';
    return len;
}

/* At most PREVIEW_CHARS characters; newlines are spaces. */
static void shorten(char out[PREVIEW_SIZE], const char *p, size_t n)
{
    const char *const end = p + n;
    size_t len = 0;
    for (unsigned chars = 0; p < end && chars < PREVIEW_CHARS; chars++) {
        const size_t from = len;
        out[len++] = *p == '\n' || *p == '\r' ? ' ' : *p;
        for (p++; p < end && continues(*p) && len - from < 4; p++)
            out[len++] = *p;
    }
    out[len] = '\0';
    if (p < end)
        memcpy(out + len, "…", sizeof "…");
}

/* The elements of an array of texts; for ["bash", "-lc", "COMMAND"] the command. */
static size_t join_words(char out[TEXT_SIZE], struct slice array)
{
    char word[TEXT_SIZE];
    size_t len = 0, n = 0;
    bool shell = false;
    out[0] = '\0';
    for (const char *p = skip_space(array.p + 1, array.end); p < array.end && *p == '"';) {
        const char *const end = string_end(p, array.end);
        const size_t size = call_preview_decode(word, (struct slice){p, end});
        shell = n == 0 ? is_shell(word, size) : shell && (n != 1 || is_command_option(word));
        if (n == 2 && shell)
            len = 0;
        if (len + size + 2 < TEXT_SIZE)
            len += (size_t)snprintf(out + len, TEXT_SIZE - len, "%s%s", len ? " " : "", word);
        n++;
        p = skip_space(end, array.end);
        p = skip_space(p < array.end && *p == ',' ? p + 1 : p, array.end);
    }
    return len;
}

/* The paths of {"changes": [{"path": …}]} or {"changes": {PATH: …}}. */
static size_t join_paths(char out[TEXT_SIZE], struct slice changes)
{
    size_t len = 0;
    struct slice name, value, path;
    out[0] = '\0';
    if (changes.p[0] == '{') {
        while (next_member(&changes, &name, &value) && len + 512 < TEXT_SIZE)
            len +=
                (size_t)snprintf(out + len, 512, "%s%.*s", len ? ", " : "",
                                 name.end - name.p < 500 ? (int)(name.end - name.p) : 500, name.p);
        return len;
    }
    for (const char *p = skip_space(changes.p + 1, changes.end); p < changes.end && *p == '{';) {
        char text[TEXT_SIZE];
        const char *const end = value_end(p, changes.end);
        path = find((struct slice){p, end}, "path");
        if (path.p && len + 512 < TEXT_SIZE) {
            call_preview_decode(text, path);
            len += (size_t)snprintf(out + len, 512, "%s%.500s", len ? ", " : "", text);
        }
        p = skip_space(end, changes.end);
        p = skip_space(p < changes.end && *p == ',' ? p + 1 : p, changes.end);
    }
    return len;
}

static const char *key_of(const char *tool)
{
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
        if (strcmp(tool, telling[i].tool) == 0)
            return telling[i].key;
    return NULL;
}

/* A member of that name that is a list or an object. */
static struct slice find_member(struct slice object, const char *key, char opening)
{
    struct slice name, value;
    const size_t n = strlen(key);
    while (next_member(&object, &name, &value))
        if ((size_t)(name.end - name.p) == n && memcmp(name.p, key, n) == 0 &&
            (value.p[0] == '[' || value.p[0] == opening))
            return value;
    return (struct slice){NULL, NULL};
}

void preview_args(char out[PREVIEW_SIZE], const char *tool, const char *args, size_t len)
{
    char text[TEXT_SIZE];
    const struct slice object = {args, args + len};
    const struct slice words = find_member(object, "command", '[');
    const struct slice changes = find_member(object, "changes", '{');
    size_t n = words.p ? join_words(text, words) : changes.p ? join_paths(text, changes) : 0;
    if (n == 0) {
        const struct slice value = find(object, key_of(tool));
        n = call_preview_decode(text,
                                value.p ? value : (struct slice){args, args + (len > 2 ? len : 0)});
    }
    shorten(out, text, shell_unwrap(text, n));
}

const char *preview_name(const char *tool)
{
    const char *last = tool;
    if (strncmp(tool, "mcp__", 5) == 0)
        for (const char *at = strstr(tool, "__"); at; at = strstr(at + 1, "__"))
            last = at + 2;
    return *last ? last : tool;
}

void preview_elapsed(char out[32], double ms)
{
    if (!(ms >= 0))
        snprintf(out, 32, "?");
    else if (ms < 1000)
        snprintf(out, 32, "%.0fms", ms);
    else if (ms < 60000)
        snprintf(out, 32, "%.1fs", ms / 1000);
    else
        snprintf(out, 32, "%.0fm%02.0fs", floor(ms / 60000), floor(fmod(ms, 60000) / 1000));
}
