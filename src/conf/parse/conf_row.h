/* SPDX-License-Identifier: MIT
 * Fills structs from nodes by rows: which key, what kind of value, where it goes, what it may be.
 * Whatever does not fit is an error with its place and the full name of its key. */
#ifndef CONF_PARSE_CONF_ROW_H
#define CONF_PARSE_CONF_ROW_H

#include "base/attr.h"
#include "conf/parse/conf_node.h"

/* What every read shares. */
struct reader {
    struct arena *arena; /* owns all that is made */
    const char *file;    /* or the command line's option, for messages */
    const char *dir;     /* what relative paths begin at */
    struct tc_err *err;
};

struct choice {
    const char *name; /* NULL ends a table */
    int value;
};

struct row {
    const char *key; /* NULL ends a table */
    int (*read)(const struct reader *r, const struct node *n, const struct row *row, void *target);
    size_t offset;     /* of the member in the target */
    int64_t min, max;  /* of numbers (in the unit of the file) and of the length of lists */
    const void *extra; /* read_choice, read_flags: struct choice; read_group: struct row */
};

/* Reads every key of the group into target. One that no row has is an error that names the
 * nearest. */
int read_rows(const struct reader *r, const struct node *group, const struct row *rows,
              void *target) MUST_CHECK;
/* The row of that key, or NULL. */
const struct row *read_find_row(const struct row *rows, const char *key);

/* What a row's `read` may be, by the member's type: char * (read_path: resolved), char ** (a list,
 * read_paths: or one string), bool, int64_t (read_ms: seconds in the file), an enum (read_choice),
 * unsigned (read_flags: a list of choices), and a group whose rows fill the same target. */
int read_string(const struct reader *r, const struct node *n, const struct row *row, void *target);
int read_path(const struct reader *r, const struct node *n, const struct row *row, void *target);
int read_strings(const struct reader *r, const struct node *n, const struct row *row, void *target);
int read_paths(const struct reader *r, const struct node *n, const struct row *row, void *target);
int read_bool(const struct reader *r, const struct node *n, const struct row *row, void *target);
int read_int(const struct reader *r, const struct node *n, const struct row *row, void *target);
int read_ms(const struct reader *r, const struct node *n, const struct row *row, void *target);
int read_choice(const struct reader *r, const struct node *n, const struct row *row, void *target);
int read_flags(const struct reader *r, const struct node *n, const struct row *row, void *target);
int read_group(const struct reader *r, const struct node *n, const struct row *row, void *target);

/* 0, or -1 when the node is of another type: for rows with a read of their own. */
int read_expect(const struct reader *r, const struct node *n, enum node_type type) MUST_CHECK;
/* The value of a choice by name, or an error that lists them. */
int read_name(const struct reader *r, const struct node *n, const char *word,
              const struct choice *choices, int *value) MUST_CHECK;
/* A path below the folder of the file, when it is relative; in the arena. */
char *read_resolve(const struct reader *r, const char *path);
/* Fails with the node's place and "its.full.name: …". Returns -1. */
int read_fail(const struct reader *r, const struct node *n, const char *fmt, ...)
    __attribute__((__format__(__printf__, 3, 4)));

#endif
