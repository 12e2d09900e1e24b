/* SPDX-License-Identifier: MIT
 * The change that a tool makes to files, as lines of a diff: from the arguments of the call (an old
 * and a new text, the content of a file, a patch) or from its result. */
#ifndef CLI_EDIT_DIFF_H
#define CLI_EDIT_DIFF_H

#include <turncast/plugin.h>

#include "terminal/terminal.h"

#define EDIT_DIFF_LINES_MAX 5000 /* further lines are counted, but not shown */

struct edit_diff {
    char *text; /* lines: ' ', '+', '-' or '@' and the line; owned; NULL: none */
    size_t len, cap;
    size_t lines, added, removed;
};

void edit_diff_fini(struct edit_diff *d);
/* Whether the arguments (JSON) describe a change. */
bool edit_diff_is_edit(const char *args);
/* False: they do not describe a change. */
bool edit_diff_from_args(struct edit_diff *d, const char *args);
/* Whether the arguments consist only of this path and the texts of the diff. */
bool edit_diff_is_whole(const char *args, const char *path);
bool edit_diff_from_result(struct edit_diff *d, const struct tc_tool_result *ev);
/* Writes each line behind `margin`; at most `most` lines, then the number of the others. */
void edit_diff_put(const struct edit_diff *d, struct term *t, const char *margin, size_t most);

#endif
