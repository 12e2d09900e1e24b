/* SPDX-License-Identifier: MIT
 * What a call of a tool is about: which of its arguments counts, and what different readers may
 * take it for. Which one it is stands in a table, or in a rule: a model chooses the keys of what
 * it calls, so none is ever guessed. Pure. */
#ifndef POLICY_TOOL_ARGUMENT_H
#define POLICY_TOOL_ARGUMENT_H

#include <stdbool.h>

#include "base/arena.h"

/* What reads it in the end. ANY: a tool or an argument that is not in the table. */
enum argument_kind {
    ARGUMENT_ANY,
    ARGUMENT_COMMAND,
    ARGUMENT_PATH,
    ARGUMENT_URL,
    ARGUMENT_TEXT,
};

/* A member of the arguments: its key unescaped, its value raw. */
struct argument_member {
    struct str key, value;
};

/* The arguments of a call, read once for all rules. */
struct argument_call {
    struct argument_member *members;
    size_t n;
    bool valid; /* they are an object, with no more members than are kept */
    bool ascii; /* and so are its keys */
};

struct argument {
    enum argument_kind kind;
    bool clear;  /* no reader can take it for anything but `text`, and nothing beside it matters */
    bool unread; /* it may hold what `texts` does not */
    bool alone;  /* clear, a string, and of a command also the only thing that says what is run */
    struct str text;
    struct str *texts; /* all that it may be taken for */
    size_t n;
};

/* Borrows `args` (may be NULL). */
struct argument_call argument_read(struct arena *a, const char *args, size_t len);
/* The argument of that name; NULL: the main one of the tool. */
struct argument argument_find(struct arena *a, const struct argument_call *call, const char *tool,
                              const char *name);
/* The script of "sh -c 'SCRIPT'", when nothing in it is quoted in another way; else absent. */
struct str argument_script(struct str command);

#endif
