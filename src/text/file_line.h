/* SPDX-License-Identifier: MIT
 * The line of a prompt that names an attached file: "[file: PATH (NAME)]", without " (NAME)" if the
 * file has no name of its own. A person can write such a line, too. Pure. */
#ifndef TEXT_FILE_LINE_H
#define TEXT_FILE_LINE_H

#include <stdbool.h>

#include "base/bytes/buf.h"
#include "base/str.h"

/* Borrowed from the line. */
struct file_line {
    struct str path;
    struct str rest; /* behind the path, up to the bracket */
    struct str name; /* up to the last parenthesis of `rest`; len 0: none */
};

/* line: without a newline. False: another line. */
bool file_line_read(struct file_line *f, struct str line);
/* Appends a line without a newline. rest: as above. */
void file_line_append(struct buf *out, const char *path, struct str rest);

#endif
