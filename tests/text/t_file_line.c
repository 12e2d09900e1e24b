/* SPDX-License-Identifier: MIT
 * The line of a prompt that names a file: parsed into its parts, and formatted from them. */
#include "text/file_line.h"

#include <string.h>

#include "base/cleanup.h"
#include "tap/tap.h"

static const struct {
    const char *line, *path, *rest, *name;
} rows[] = {
    {"[file: /a/b]", "/a/b", "", ""},
    {"[file: /a/b (c.ogg)]", "/a/b", " (c.ogg)", "c.ogg"},
    {"[file: /a/b (c (1).ogg)]", "/a/b", " (c (1).ogg)", "c (1).ogg"},
    {"[file: /a/b ([c])]", "/a/b", " ([c])", "[c]"},
    {"[file: /a/b ()]", "/a/b", " ()", ""},
    {"[file: /a/b (c]", "/a/b", " (c", ""},
    {"[file: /a/b (c): not there any more]", "/a/b", " (c): not there any more", "c"},
    {"[file:  (c)]", "", " (c)", "c"},
};

static const char *const others[] = {"",           "[file: ]",    "[file: /a/b",
                                     "file: /a/b", "x[file: /a]", "[File: /a]"};

static bool same(struct str s, const char *wanted)
{
    return s.len == strlen(wanted) && memcmp(s.p, wanted, s.len) == 0;
}

int main(void)
{
    struct file_line f;
    plan_lazy();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const line = rows[i].line;
        CLEANUP_BUF struct buf again = {0};
        ok(file_line_read(&f, (struct str){line, strlen(line)}), "%s", line);
        ok(same(f.path, rows[i].path) && same(f.rest, rows[i].rest) && same(f.name, rows[i].name),
           "  the path, the rest, and the name are parsed");
        file_line_append(&again, rows[i].path, f.rest);
        is_str(again.p, line, "  the parts are formatted as the same line");
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ok(!file_line_read(&f, (struct str){others[i], strlen(others[i])}),
           "not a file line: \"%s\"", others[i]);
    return 0;
}
