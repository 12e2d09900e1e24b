/* SPDX-License-Identifier: MIT
 * What a call of a tool is about: which of its arguments counts, and what different readers may
 * take it for. Which one it is stands in a table, or in a rule: a model chooses the keys of what
 * it calls, so none is ever guessed. Pure. */
#ifndef POLICY_TOOL_ARGUMENT_H
#define POLICY_TOOL_ARGUMENT_H

#include <stdbool.h>

#include "base/arena.h"

/* What interprets the argument. ANY: a tool or an argument that is not in the table. */
enum tool_argument_kind {
    ARGUMENT_ANY,
    ARGUMENT_COMMAND,
    ARGUMENT_PATH,
    ARGUMENT_URL,
    ARGUMENT_TEXT,
};

/* A member of the arguments: its key unescaped, its value raw. */
struct tool_argument_member {
    struct str key, value;
};

/* The arguments of a call, read once for all rules. */
struct tool_argument_set {
    struct tool_argument_member *members;
    size_t n;
    bool valid; /* they are an object, with no more members than are kept */
    bool ascii; /* and so are its keys */
};

struct tool_argument {
    enum tool_argument_kind kind;
    bool clear;  /* no reader can take it for anything but `text`, and nothing beside it matters */
    bool unread; /* it may hold what `texts` does not */
    bool alone;  /* clear, a string, and of a command also the only thing that says what is run */
    struct str text;
    struct str *texts; /* all that it may be taken for */
    size_t n;
};

/* Borrows `args` (may be NULL). */
struct tool_argument_set tool_argument_parse_call(struct arena *a, const char *args, size_t len);
/* The argument of that name; NULL: the main one of the tool. */
struct tool_argument tool_argument_find(struct arena *a, const struct tool_argument_set *call,
                                        const char *tool, const char *name);
/* The script of "sh -c 'SCRIPT'", when nothing in it is quoted in another way; else absent. */
struct str tool_argument_shell_script(struct str command);

#endif
