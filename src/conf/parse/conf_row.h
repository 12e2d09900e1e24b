/* SPDX-License-Identifier: MIT
 * Fills structs from nodes with tables of rows: key, type of value, offset, bounds. An invalid
 * value is an error with its place and the full name of its key. */
#ifndef CONF_PARSE_CONF_ROW_H
#define CONF_PARSE_CONF_ROW_H

#include "base/attr.h"
#include "base/sys/finding.h"
#include "conf/parse/conf_node.h"

/* Context that all read functions share. */
struct conf_row_ctx {
    struct arena *arena;       /* owns all created objects */
    const char *file;          /* name of the file, or the command-line option, for messages */
    const char *dir;           /* directory for relative paths */
    struct findings *findings; /* receives every error; reading continues */
};

struct conf_choice {
    const char *name; /* NULL ends a table */
    int value;
};

struct conf_row {
    const char *key; /* NULL ends a table */
    int (*read)(const struct conf_row_ctx *r, const struct conf_node *n, const struct conf_row *row,
                void *target);
    size_t offset;     /* offset of the member in the target */
    int64_t min, max;  /* bounds of a number (in the unit of the file) or of a list's length */
    const void *extra; /* conf_row_choice, conf_row_flags: struct conf_choice; conf_row_group:
                          struct conf_row */
};

/* Reads every key of the group into target; continues after an invalid key. An unknown key is an
 * error with the nearest valid key. */
int conf_row_parse_group(const struct conf_row_ctx *r, const struct conf_node *group,
                         const struct conf_row *rows, void *target) MUST_CHECK;
/* The row of that key, or NULL. */
const struct conf_row *conf_row_find(const struct conf_row *rows, const char *key);

/* Read functions for rows, by the member's type: char * (conf_row_path: resolved), char ** (a list,
 * conf_row_paths: or one string), bool, int64_t (conf_row_ms: seconds in the file), an enum
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

/* 0, or -1 after an error if the node has another type: for read functions of single rows. */
int conf_row_check_type(const struct conf_row_ctx *r, const struct conf_node *n,
                        enum conf_node_type type) MUST_CHECK;
/* Finds the value of a choice by name; adds an error that lists the names. */
int conf_row_parse_choice_name(const struct conf_row_ctx *r, const struct conf_node *n,
                               const char *word, const struct conf_choice *choices,
                               int *value) MUST_CHECK;
/* conf_path_resolve with the directory of the file. */
char *conf_row_resolve_path(const struct conf_row_ctx *r, const char *path);
/* Adds an error with the node's place and "its.full.name: …". Returns -1. */
int conf_row_error(const struct conf_row_ctx *r, const struct conf_node *n, const char *fmt, ...)
    __attribute__((__format__(__printf__, 3, 4)));

#endif
