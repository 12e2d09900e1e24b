/* SPDX-License-Identifier: MIT
 * Fills structs from nodes by rows: which key, what kind of value, where it goes, what it may be.
 * Whatever does not fit is an error with its place and the full name of its key. */
#ifndef CONF_PARSE_CONF_ROW_H
#define CONF_PARSE_CONF_ROW_H

#include "base/attr.h"
#include "base/sys/finding.h"
#include "conf/parse/conf_node.h"

/* What every read shares. */
struct conf_row_ctx {
    struct arena *arena;       /* owns all that is made */
    const char *file;          /* or the command line's option, for messages */
    const char *dir;           /* what relative paths begin at */
    struct findings *findings; /* every error is added, and reading goes on */
};

struct conf_choice {
    const char *name; /* NULL ends a table */
    int value;
};

struct conf_row {
    const char *key; /* NULL ends a table */
    int (*read)(const struct conf_row_ctx *r, const struct conf_node *n, const struct conf_row *row,
                void *target);
    size_t offset;     /* of the member in the target */
    int64_t min, max;  /* of numbers (in the unit of the file) and of the length of lists */
    const void *extra; /* conf_row_choice, conf_row_flags: struct conf_choice; conf_row_group:
                          struct conf_row */
};

/* Reads every key of the group into target, also behind one that is wrong. One that no row has is
 * an error that names the nearest. */
int conf_row_parse_group(const struct conf_row_ctx *r, const struct conf_node *group,
                         const struct conf_row *rows, void *target) MUST_CHECK;
/* The row of that key, or NULL. */
const struct conf_row *conf_row_find(const struct conf_row *rows, const char *key);

/* What a row's `read` may be, by the member's type: char * (conf_row_path: resolved), char ** (a
 * list, conf_row_paths: or one string), bool, int64_t (conf_row_ms: seconds in the file), an enum
 * (conf_row_choice), unsigned (conf_row_flags: a list of choices), and a group whose rows fill the
 * same target. */
int conf_row_string(const struct conf_row_ctx *r, const struct conf_node *n,
                    const struct conf_row *row, void *target);
int conf_row_path(const struct conf_row_ctx *r, const struct conf_node *n,
                  const struct conf_row *row, void *target);
int conf_row_strings(const struct conf_row_ctx *r, const struct conf_node *n,
                     const struct conf_row *row, void *target);
int conf_row_paths(const struct conf_row_ctx *r, const struct conf_node *n,
                   const struct conf_row *row, void *target);
int conf_row_bool(const struct conf_row_ctx *r, const struct conf_node *n,
                  const struct conf_row *row, void *target);
int conf_row_int(const struct conf_row_ctx *r, const struct conf_node *n,
                 const struct conf_row *row, void *target);
int conf_row_ms(const struct conf_row_ctx *r, const struct conf_node *n, const struct conf_row *row,
                void *target);
int conf_row_choice(const struct conf_row_ctx *r, const struct conf_node *n,
                    const struct conf_row *row, void *target);
int conf_row_flags(const struct conf_row_ctx *r, const struct conf_node *n,
                   const struct conf_row *row, void *target);
int conf_row_group(const struct conf_row_ctx *r, const struct conf_node *n,
                   const struct conf_row *row, void *target);

/* 0, or -1 when the node is of another type: for rows with a read of their own. */
int conf_row_check_type(const struct conf_row_ctx *r, const struct conf_node *n,
                        enum conf_node_type type) MUST_CHECK;
/* The value of a choice by name, or an error that lists them. */
int conf_row_parse_choice_name(const struct conf_row_ctx *r, const struct conf_node *n,
                               const char *word, const struct conf_choice *choices,
                               int *value) MUST_CHECK;
/* As conf_path_resolve, from the folder of the file. */
char *conf_row_resolve_path(const struct conf_row_ctx *r, const char *path);
/* Fails with the node's place and "its.full.name: …". Returns -1. */
int conf_row_error(const struct conf_row_ctx *r, const struct conf_node *n, const char *fmt, ...)
    __attribute__((__format__(__printf__, 3, 4)));

#endif
