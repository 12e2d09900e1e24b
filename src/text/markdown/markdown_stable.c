/* SPDX-License-Identifier: MIT
 * Length of the prefix of a growing text that later input cannot reformat. */
#include "text/markdown/markdown.h"

struct fence {
    char mark; /* length of the open fence; 0: none */
    size_t length;
};

/* Length of the run of ` or ~ at a line start that may be a fence, at least three; 0: none. */
static size_t markdown_stable_fence_length(struct str line, size_t *at)
{
    size_t start = 0, end;
    while (start < line.len && line.p[start] == ' ')
        start++;
    for (end = start; end < line.len && line.p[end] == line.p[start]; end++)
        ;
    *at = start;
    const bool marks = start < line.len && (line.p[start] == '`' || line.p[start] == '~');
    return marks && end - start >= 3 ? end - start : 0;
}

static bool markdown_stable_is_blank(struct str line)
{
    for (size_t i = 0; i < line.len; i++)
        if (!strchr(" \t\r", line.p[i]))
            return false;
    return true;
}

static void read_fence(struct fence *f, struct str line)
{
    size_t at;
    const size_t length = markdown_stable_fence_length(line, &at);
    if (length == 0)
        return;
    const struct str rest = {line.p + at + length, line.len - at - length};
    if (!f->mark) {
        if (line.p[at] == '~' || !memchr(rest.p, '`', rest.len))
            *f = (struct fence){line.p[at], length};
    } else if (line.p[at] == f->mark && length >= f->length && markdown_stable_is_blank(rest)) {
        f->mark = 0;
    }
}

/* Whether a line continues the block before the blank line: an indented line of a list, or a fence
 * in it. */
static bool is_indented(const char *p, const char *end)
{
    return p == end || *p == ' ' || *p == '\t';
}

size_t markdown_stable_length(struct str source)
{
    const char *const end = source.p + source.len;
    struct fence fence = {0};
    size_t settled = 0;
    const char *newline;
    for (const char *p = source.p; p < end && (newline = memchr(p, '\n', (size_t)(end - p)));
         p = newline + 1) {
        const struct str line = {p, (size_t)(newline - p)};
        read_fence(&fence, line);
        if (!fence.mark && markdown_stable_is_blank(line) && !is_indented(newline + 1, end))
            settled = (size_t)(newline + 1 - source.p);
    }
    return settled;
}
