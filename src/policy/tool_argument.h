/* SPDX-License-Identifier: MIT
 * Finds the relevant argument of a tool call, and the ways in which different readers may interpret
 * it. A table or a rule names the argument; keys are never guessed, because a model chooses the
 * keys of its calls. Pure. */
#ifndef POLICY_TOOL_ARGUMENT_H
#define POLICY_TOOL_ARGUMENT_H

#include <stdbool.h>

#include "base/arena.h"

/* Interpreter of the argument. ANY: a tool or an argument that is not in the table. */
enum tool_argument_kind {
    ARGUMENT_ANY,
    ARGUMENT_COMMAND,
    ARGUMENT_PATH,
    ARGUMENT_URL,
    ARGUMENT_TEXT,
};

/* One argument: its key unescaped, its value raw. */
struct tool_argument_member {
    struct str key, value;
};

/* The arguments of a call, parsed once for all rules. */
struct tool_argument_set {
    struct tool_argument_member *members;
    size_t n;
    bool valid; /* they are an object within the limit of members */
    bool ascii; /* and all keys are plain */
};

struct tool_argument {
    enum tool_argument_kind kind;
    bool clear;  /* every reader interprets it as `text`, and no other argument matters */
    bool unread; /* it may mean more than `texts` contains */
    bool alone;  /* `clear`, a string, and for a command also the only argument that determines the
                  * effect */
    struct str text;
    struct str *texts; /* all possible interpretations */
    size_t n;
};

/* Borrows `args` (may be NULL). */
struct tool_argument_set tool_argument_parse_call(struct arena *a, const char *args, size_t len);
/* The argument of that name; NULL: the main argument of the tool. */
struct tool_argument tool_argument_find(struct arena *a, const struct tool_argument_set *call,
                                        const char *tool, const char *name);
/* The script of "sh -c 'SCRIPT'", if it contains no other quotes; otherwise absent. */
struct str tool_argument_shell_script(struct str command);

#endif
