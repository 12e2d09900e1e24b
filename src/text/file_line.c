/* SPDX-License-Identifier: MIT
 * Formats and parses the line. */
#include "text/file_line.h"

#include <string.h>

#define HEAD "[file: "
#define NAME_BEGINS " ("

static struct str file_line_find_name(struct str rest)
{
    const size_t gap = strlen(NAME_BEGINS);
    const char *const end = rest.len > gap ? memrchr(rest.p, ')', rest.len) : NULL;
    return end && end > rest.p + gap ? (struct str){rest.p + gap, (size_t)(end - rest.p) - gap}
                                     : STR("");
}

bool file_line_read(struct file_line *f, struct str line)
{
    const size_t head = strlen(HEAD);
    *f = (struct file_line){0};
    if (line.len <= head + 1 || memcmp(line.p, HEAD, head) != 0 || line.p[line.len - 1] != ']')
        return false;
    const struct str inner = {line.p + head, line.len - head - 1};
    const char *const end = memmem(inner.p, inner.len, NAME_BEGINS, strlen(NAME_BEGINS));
    f->path = (struct str){inner.p, end ? (size_t)(end - inner.p) : inner.len};
    f->rest = (struct str){inner.p + f->path.len, inner.len - f->path.len};
    f->name = file_line_find_name(f->rest);
    return true;
}

void file_line_append(struct buf *out, const char *path, struct str rest)
{
    buf_printf(out, HEAD "%s", path);
    buf_add(out, rest.p, rest.len);
    buf_add_char(out, ']');
}
