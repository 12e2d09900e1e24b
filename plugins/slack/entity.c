/* SPDX-License-Identifier: MIT
 * Text of Slack as the text that the person wrote. Pure. */
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "entity.h"

struct piece {
    const char *p;
    size_t len;
};

/* "&amp;" and its two fellows. */
static char reference(const char *p, size_t *len)
{
    static const struct {
        const char *name;
        char c;
    } references[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}};
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        *len = strlen(references[i].name);
        if (strncmp(p, references[i].name, *len) == 0)
            return references[i].c;
    }
    return '\0';
}

static char *entity_put(char *out, struct piece piece)
{
    for (size_t i = 0, len; i < piece.len; i++) {
        const char c = reference(piece.p + i, &len);
        *out++ = c ? c : piece.p[i];
        i += c ? len - 1 : 0;
    }
    return out;
}

static bool equal(struct piece a, struct piece b)
{
    return a.len == b.len && memcmp(a.p, b.p, a.len) == 0;
}

static bool is_self(struct piece target, const char *self)
{
    return self && *self && equal(target, (struct piece){self, strlen(self)});
}

static struct piece without_scheme(struct piece url)
{
    static const struct piece mailto = {"mailto:", 7};
    if (url.len > mailto.len && memcmp(url.p, mailto.p, mailto.len) == 0)
        return (struct piece){url.p + mailto.len, url.len - mailto.len};
    return url;
}

/* "<url|label>": the label is more readable, but must not hide the address. There is room: "<", "|"
 * and ">" become " (" and ")". */
static char *put_link(char *out, struct piece url, struct piece label)
{
    if (label.len == 0 || equal(url, label) || equal(without_scheme(url), label))
        return entity_put(out, without_scheme(url));
    char copy[512];
    if (url.len >= sizeof copy)
        return entity_put(out, label);
    memcpy(copy, url.p, url.len); /* the label is written over it */
    out = entity_put(out, label);
    *out++ = ' ';
    *out++ = '(';
    out = entity_put(out, (struct piece){copy, url.len});
    *out++ = ')';
    return out;
}

/* Writes the text between < and >. */
static char *put_entity(char *out, struct piece in, const char *self)
{
    const char *bar = memchr(in.p, '|', in.len);
    const struct piece label =
        bar ? (struct piece){bar + 1, (size_t)(in.p + in.len - bar - 1)} : (struct piece){"", 0};
    const size_t len = bar ? (size_t)(bar - in.p) : in.len;
    const struct piece target = {in.p + 1, len > 0 ? len - 1 : 0};
    const char kind = in.p[0];
    if (kind != '@' && kind != '#' && kind != '!')
        return put_link(out, (struct piece){in.p, len}, label);
    if (kind == '@' && is_self(target, self))
        return out;
    if (label.len > 0 && (kind == '!' || *label.p == '@' || *label.p == '#'))
        return entity_put(out, label);
    *out++ = kind == '#' ? '#' : '@';
    return entity_put(out, label.len > 0 ? label : target);
}

static const char *entity_skip_blanks(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

static void trim(char *text, size_t len)
{
    const char *start = entity_skip_blanks(text);
    while (len > (size_t)(start - text) && isspace((unsigned char)text[len - 1]))
        len--;
    memmove(text, start, len - (size_t)(start - text));
    text[len - (size_t)(start - text)] = '\0';
}

void entity_decode(char *text, const char *self)
{
    char *out = text;
    for (const char *p = text; *p;) {
        const char *end = *p == '<' ? p + 1 + strcspn(p + 1, "<>") : p;
        if (*end == '>' && end > p + 1) {
            char *before = out;
            out = put_entity(out, (struct piece){p + 1, (size_t)(end - p - 1)}, self);
            p = end + 1;
            if (out == before) /* "@bot: do it" is "do it" */
                p += *p == ':' || *p == ',';
            continue;
        }
        size_t len = 1;
        const char c = *p == '&' ? reference(p, &len) : '\0';
        *out++ = c ? c : *p;
        p += c ? len : 1;
    }
    *out = '\0';
    trim(text, (size_t)(out - text));
}
