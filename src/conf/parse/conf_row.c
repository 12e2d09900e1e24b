/* SPDX-License-Identifier: MIT
 * Converts values of the file to members of structs, and reports invalid values. */
#include "conf/parse/conf_row.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes/buf.h"
#include "base/nearest_word.h"
#include "conf/parse/conf_path.h"

#define ROWS_MAX 32 /* limit of keys of one group that are compared for a suggestion */

/* a.b.c, or a.b[2] */
static void conf_row_add_name(struct buf *out, const struct conf_node *n)
{
    if (!n->parent)
        return;
    conf_row_add_name(out, n->parent);
    if (n->name)
        buf_printf(out, "%s%s", out->len ? "." : "", n->name);
    else
        buf_printf(out, "[%zu]", (size_t)(n - n->parent->items));
}

int conf_row_error(const struct conf_row_ctx *r, const struct conf_node *n, const char *fmt, ...)
{
    CLEANUP_BUF struct buf text = {0}, place = {0};
    va_list ap;
    buf_add_str(&place, n->file ? n->file : r->file);
    if (n->line > 0)
        buf_printf(&place, ":%d", n->line);
    conf_row_add_name(&text, n);
    if (text.len)
        buf_add_str(&text, ": ");
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    return findings_add(r->findings, FINDING_ERROR, place.p, "%s", text.p);
}

const struct conf_row *conf_row_find(const struct conf_row *rows, const char *key)
{
    for (; rows->key; rows++)
        if (strcmp(rows->key, key) == 0)
            return rows;
    return NULL;
}

static int conf_row_fail_unknown(const struct conf_row_ctx *r, const struct conf_node *n,
                                 const struct conf_row *rows)
{
    const char *names[ROWS_MAX] = {NULL};
    size_t count = 0;
    for (; rows[count].key && count < ROWS_MAX; count++)
        names[count] = rows[count].key;
    const char *near = nearest_word_find(n->name, names, count);
    if (near)
        return conf_row_error(r, n, "unknown key (did you mean \"%s\"?)", near);
    CLEANUP_BUF struct buf all = {0};
    for (size_t i = 0; i < count; i++)
        buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
    return conf_row_error(r, n, "unknown key; valid keys: %s", all.p);
}

int conf_row_parse_group(const struct conf_row_ctx *r, const struct conf_node *group,
                         const struct conf_row *rows, void *target)
{
    if (conf_row_check_type(r, group, NODE_GROUP) < 0)
        return -1;
    int rc = 0;
    for (size_t i = 0; i < group->n; i++) {
        const struct conf_node *n = &group->items[i];
        const struct conf_row *row = conf_row_find(rows, n->name);
        if ((row ? row->read(r, n, row, target) : conf_row_fail_unknown(r, n, rows)) < 0)
            rc = -1;
    }
    return rc;
}

int conf_row_check_type(const struct conf_row_ctx *r, const struct conf_node *n,
                        enum conf_node_type type)
{
    if (n->type == type)
        return 0;
    return conf_row_error(r, n, "expected %s, found %s", conf_node_type_name(type),
                          conf_node_type_name(n->type));
}

/* The member of the row as memory; the row's read function defines its type. */
static void store(void *target, const struct conf_row *row, const void *value, size_t size)
{
    memcpy((char *)target + row->offset, value, size);
}

static int conf_row_check_text(const struct conf_row_ctx *r, const struct conf_node *n)
{
    if (conf_row_check_type(r, n, NODE_STRING) < 0)
        return -1;
    return *n->value.string ? 0 : conf_row_error(r, n, "must not be empty; set it or remove it");
}

int conf_row_string(const struct conf_row_ctx *r, const struct conf_node *n,
                    const struct conf_row *row, void *target)
{
    if (conf_row_check_text(r, n) < 0)
        return -1;
    char *const copy = arena_strdup(r->arena, n->value.string);
    store(target, row, &copy, sizeof copy);
    return 0;
}

char *conf_row_resolve_path(const struct conf_row_ctx *r, const char *path)
{
    return conf_path_resolve(r->arena, r->dir, path);
}

int conf_row_path(const struct conf_row_ctx *r, const struct conf_node *n,
                  const struct conf_row *row, void *target)
{
    if (conf_row_check_text(r, n) < 0)
        return -1;
    char *const path = conf_row_resolve_path(r, n->value.string);
    store(target, row, &path, sizeof path);
    return 0;
}

static char *conf_row_same_text(const struct conf_row_ctx *r, const char *text)
{
    return arena_strdup(r->arena, text);
}

static int store_strings(const struct conf_row_ctx *r, const struct conf_node *items, size_t count,
                         const struct conf_row *row, void *target,
                         char *(*make)(const struct conf_row_ctx *, const char *))
{
    char **const list = arena_alloc(r->arena, (count + 1) * sizeof *list);
    int rc = 0;
    for (size_t i = 0; i < count; i++)
        if (conf_row_check_type(r, &items[i], NODE_STRING) < 0)
            rc = -1;
        else
            list[i] = make(r, items[i].value.string);
    if (rc < 0)
        return -1;
    store(target, row, &list, sizeof list);
    return 0;
}

static int conf_row_check_list(const struct conf_row_ctx *r, const struct conf_node *n,
                               const struct conf_row *row)
{
    if (n->type != NODE_LIST)
        return conf_row_error(r, n,
                              "expected a list of strings, found %s; for example [\"a\", \"b\"]",
                              conf_node_type_name(n->type));
    if ((int64_t)n->n < row->min)
        return conf_row_error(r, n, "must not be empty; set it or remove it");
    if ((int64_t)n->n > row->max)
        return conf_row_error(r, n, "too many strings (%zu); the maximum is %lld", n->n,
                              (long long)row->max);
    return 0;
}

int conf_row_strings(const struct conf_row_ctx *r, const struct conf_node *n,
                     const struct conf_row *row, void *target)
{
    if (conf_row_check_list(r, n, row) < 0)
        return -1;
    return store_strings(r, n->items, n->n, row, target, conf_row_same_text);
}

int conf_row_paths(const struct conf_row_ctx *r, const struct conf_node *n,
                   const struct conf_row *row, void *target)
{
    if (n->type == NODE_STRING)
        return store_strings(r, n, 1, row, target, conf_row_resolve_path);
    if (conf_row_check_list(r, n, row) < 0)
        return -1;
    return store_strings(r, n->items, n->n, row, target, conf_row_resolve_path);
}

int conf_row_bool(const struct conf_row_ctx *r, const struct conf_node *n,
                  const struct conf_row *row, void *target)
{
    if (conf_row_check_type(r, n, NODE_BOOL) < 0)
        return -1;
    store(target, row, &n->value.boolean, sizeof n->value.boolean);
    return 0;
}

int conf_row_int(const struct conf_row_ctx *r, const struct conf_node *n,
                 const struct conf_row *row, void *target)
{
    if (conf_row_check_type(r, n, NODE_INT) < 0)
        return -1;
    if (n->value.integer < row->min || n->value.integer > row->max)
        return conf_row_error(r, n, "%lld is out of range; use %lld to %lld",
                              (long long)n->value.integer, (long long)row->min,
                              (long long)row->max);
    store(target, row, &n->value.integer, sizeof n->value.integer);
    return 0;
}

/* Seconds in the file become milliseconds in the struct. */
int conf_row_ms(const struct conf_row_ctx *r, const struct conf_node *n, const struct conf_row *row,
                void *target)
{
    if (n->type != NODE_INT && n->type != NODE_REAL)
        return conf_row_error(r, n, "expected a number of seconds, found %s",
                              conf_node_type_name(n->type));
    const double s = n->type == NODE_INT ? (double)n->value.integer : n->value.real;
    if (!(s >= (double)row->min && s <= (double)row->max))
        return conf_row_error(r, n, "%g s is out of range; use %lld to %lld s", s,
                              (long long)row->min, (long long)row->max);
    const int64_t ms = llround(s * 1000);
    store(target, row, &ms, sizeof ms);
    return 0;
}

int conf_row_parse_choice_name(const struct conf_row_ctx *r, const struct conf_node *n,
                               const char *word, const struct conf_choice *choices, int *value)
{
    CLEANUP_BUF struct buf all = {0};
    for (const struct conf_choice *c = choices; c->name; c++) {
        if (strcmp(c->name, word) == 0) {
            *value = c->value;
            return 0;
        }
        buf_printf(&all, "%s%s", c == choices ? "" : ", ", c->name);
    }
    return conf_row_error(r, n, "invalid value \"%s\"; valid values: %s", word, all.p);
}

int conf_row_choice(const struct conf_row_ctx *r, const struct conf_node *n,
                    const struct conf_row *row, void *target)
{
    int value = 0;
    if (conf_row_check_type(r, n, NODE_STRING) < 0 ||
        conf_row_parse_choice_name(r, n, n->value.string, row->extra, &value) < 0)
        return -1;
    store(target, row, &value, sizeof value);
    return 0;
}

int conf_row_flags(const struct conf_row_ctx *r, const struct conf_node *n,
                   const struct conf_row *row, void *target)
{
    unsigned flags = 0;
    int rc = 0;
    if (n->type != NODE_LIST)
        return conf_row_error(r, n,
                              "expected a list of strings, found %s; for example [\"a\", \"b\"]",
                              conf_node_type_name(n->type));
    for (size_t i = 0; i < n->n; i++) {
        int flag;
        if (conf_row_choice(r, &n->items[i], &(struct conf_row){.extra = row->extra}, &flag) < 0)
            rc = -1;
        else
            flags |= (unsigned)flag;
    }
    store(target, row, &flags, sizeof flags);
    return rc;
}

int conf_row_group(const struct conf_row_ctx *r, const struct conf_node *n,
                   const struct conf_row *row, void *target)
{
    return conf_row_parse_group(r, n, row->extra, target);
}
