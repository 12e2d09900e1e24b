/* SPDX-License-Identifier: MIT
 * Parses text with libconfig, and copies its tree. No other file uses libconfig. */
#include "conf/parse/conf_node.h"

#include <libconfig.h>
#include <stdio.h>
#include <string.h>

#include "conf/parse/conf_text.h"

const char *conf_node_type_name(enum conf_node_type type)
{
    static const char *const names[] = {
        [NODE_STRING] = "a string",    [NODE_INT] = "an integer", [NODE_REAL] = "a real number",
        [NODE_BOOL] = "true or false", [NODE_LIST] = "a list",    [NODE_GROUP] = "a group",
    };
    return names[type];
}

static enum conf_node_type conf_node_type_of(const config_setting_t *s)
{
    switch (config_setting_type(s)) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        return NODE_INT;
    case CONFIG_TYPE_FLOAT:
        return NODE_REAL;
    case CONFIG_TYPE_BOOL:
        return NODE_BOOL;
    case CONFIG_TYPE_GROUP:
        return NODE_GROUP;
    case CONFIG_TYPE_ARRAY:
    case CONFIG_TYPE_LIST:
        return NODE_LIST;
    default:
        return NODE_STRING;
    }
}

static void copy_value(struct arena *a, struct conf_node *to, const config_setting_t *from)
{
    if (to->type == NODE_STRING)
        to->value.string = arena_strdup(a, config_setting_get_string(from));
    else if (to->type == NODE_INT && config_setting_type(from) == CONFIG_TYPE_INT)
        to->value.integer = config_setting_get_int(from);
    else if (to->type == NODE_INT)
        to->value.integer = config_setting_get_int64(from);
    else if (to->type == NODE_REAL)
        to->value.real = config_setting_get_float(from);
    else if (to->type == NODE_BOOL)
        to->value.boolean = config_setting_get_bool(from);
}

/* Recursion is bounded, because the parser limits the depth. */
static void copy_tree(const struct conf_text *t, struct conf_node *to, const config_setting_t *from)
{
    struct arena *const a = t->arena;
    const int line = (int)config_setting_source_line(from);
    to->name = arena_strdup(a, config_setting_name(from));
    to->type = conf_node_type_of(from);
    if (line > 0) {
        const struct conf_span at = conf_text_find_line(t, line);
        to->file = at.file;
        to->line = at.line;
    } else if (to->parent) {
        to->file = to->parent->file;
        to->line = to->parent->line;
    }
    if (to->type != NODE_GROUP && to->type != NODE_LIST) {
        copy_value(a, to, from);
        return;
    }
    to->n = (size_t)config_setting_length(from);
    to->items = arena_alloc(a, to->n * sizeof *to->items);
    for (size_t i = 0; i < to->n; i++) {
        to->items[i].parent = to;
        copy_tree(t, &to->items[i], config_setting_get_elem(from, (unsigned)i));
    }
}

static int fail_parse(const config_t *c, const struct conf_text *t, struct tc_err *err)
{
    static const char syntax[] =
        "syntax error on or before this line; check quotes, semicolons and braces";
    const char *const text = config_error_text(c);
    const struct conf_span at = conf_text_find_line(t, config_error_line(c));
    char place[sizeof err->place];
    snprintf(place, sizeof place, "%.200s:%d", at.file, at.line);
    if (strcmp(text, "duplicate setting name") == 0)
        return err_set(err, place, "%s; remove one of them", text);
    return err_set(err, place, "%s", strcmp(text, "syntax error") == 0 ? syntax : text);
}

static struct conf_node *conf_node_parse_text(const struct conf_text *t, struct tc_err *err)
{
    config_t c;
    struct conf_node *root = NULL;
    config_init(&c);
    if (config_read_string(&c, t->whole.p ? t->whole.p : "")) {
        root = arena_alloc(t->arena, sizeof *root);
        copy_tree(t, root, config_root_setting(&c));
    } else {
        fail_parse(&c, t, err);
    }
    config_destroy(&c);
    return root;
}

struct conf_node *conf_node_parse_file(struct arena *a, const char *path, struct tc_err *err)
{
    struct conf_text text;
    struct conf_node *const root =
        conf_text_read(&text, a, path, err) < 0 ? NULL : conf_node_parse_text(&text, err);
    conf_text_fini(&text);
    return root;
}
