/* SPDX-License-Identifier: MIT
 * A parsed configuration without interpretation: a tree of named values with lines. All nodes live
 * in one arena. */
#ifndef CONF_PARSE_CONF_NODE_H
#define CONF_PARSE_CONF_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/sys/err.h"

enum conf_node_type { NODE_STRING, NODE_INT, NODE_REAL, NODE_BOOL, NODE_LIST, NODE_GROUP };

struct conf_node {
    const struct conf_node *parent; /* NULL: the root */
    const char *name;               /* NULL in a list */
    enum conf_node_type type;
    const char *file; /* NULL: not from a file */
    int line;         /* 0: not from a file */
    union {
        const char *string;
        int64_t integer;
        double real;
        bool boolean;
    } value;
    struct conf_node *items; /* children of a list or a group */
    size_t n;
};

/* "a string", "a whole number"…, for messages. */
const char *conf_node_type_name(enum conf_node_type type);
/* Reads a libconfig file and its included files, which other users must not be able to change. NULL
 * with err, its place file:line. */
struct conf_node *conf_node_parse_file(struct arena *a, const char *path, struct tc_err *err);

#endif
