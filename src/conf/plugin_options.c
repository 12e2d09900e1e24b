/* SPDX-License-Identifier: MIT
 * Owns how option text becomes members of a plugin's struct. */
#include "conf/plugin_options.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "base/nearest_word.h"
#include "conf/parse/secret.h"

#define HOST_KEYS_MAX ((size_t)32)

/* One value on its way into the struct. */
struct cell {
    const struct tc_option *row;
    char *to; /* the member */
    struct arena *arena;
};

static int parse_str(const struct cell *c, const char *text)
{
    const char *const copy = arena_strdup(c->arena, text);
    memcpy(c->to, &copy, sizeof copy);
    return 0;
}

static int plugin_options_parse_int(const struct cell *c, const char *text)
{
    char *end;
    errno = 0;
    const int64_t v = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        return -1;
    memcpy(c->to, &v, sizeof v);
    return 0;
}

static int parse_bool(const struct cell *c, const char *text)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            const bool v = i % 2;
            memcpy(c->to, &v, sizeof v);
            return 0;
        }
    }
    return -1;
}

/* A plugin that was started before may have set another decimal point. */
static int parse_real(const struct cell *c, const char *text)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *end;
    const double v = strtod_l(text, &end, plain);
    freelocale(plain);
    if (end == text || *end || !isfinite(v))
        return -1;
    memcpy(c->to, &v, sizeof v);
    return 0;
}

static const struct plugin_option_type {
    const char *wanted;
    size_t size;
    int (*parse)(const struct cell *c, const char *text);
} types[] = {
    [TC_T_STR] = {"text", sizeof(const char *), parse_str},
    [TC_T_INT] = {"an integer", sizeof(int64_t), plugin_options_parse_int},
    [TC_T_BOOL] = {"true or false", sizeof(bool), parse_bool},
    [TC_T_REAL] = {"a number", sizeof(double), parse_real},
};

static bool key_is_sane(const char *key)
{
    const size_t n = strlen(key);
    return n > 0 && n <= NEAREST_WORD_MAX && key[0] >= 'a' && key[0] <= 'z' &&
           strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

static bool plugin_options_fits(const struct tc_option *row, size_t conf_size)
{
    const size_t size = types[row->type].size;
    return row->offset % size == 0 && row->offset <= conf_size && size <= conf_size - row->offset;
}

static bool default_parses(const struct tc_option *row)
{
    union {
        const char *s;
        int64_t i;
        double r;
    } scratch;
    struct arena arena = {0};
    const struct cell cell = {row, (char *)&scratch, &arena};
    const bool good = !row->dflt || types[row->type].parse(&cell, row->dflt) == 0;
    arena_fini(&arena);
    return good;
}

static int check_row(const struct tc_option *rows, size_t i, size_t conf_size, struct tc_err *err)
{
    const struct tc_option *const row = &rows[i];
    if (!key_is_sane(row->key))
        return err_set(err, NULL, "option %zu: invalid key; use [a-z][a-z0-9_]*", i + 1);
    if ((size_t)row->type >= sizeof types / sizeof *types)
        return err_set(err, NULL, "option \"%s\": unknown type %d", row->key, (int)row->type);
    if (!plugin_options_fits(row, conf_size))
        return err_set(err, NULL, "option \"%s\": offset %zu does not fit a structure of %zu bytes",
                       row->key, row->offset, conf_size);
    if (!default_parses(row))
        return err_set(err, NULL, "option \"%s\": invalid default \"%s\"; expected %s", row->key,
                       row->dflt, types[row->type].wanted);
    for (size_t k = 0; k < i; k++)
        if (strcmp(rows[k].key, row->key) == 0)
            return err_set(err, NULL, "option \"%s\": declared twice", row->key);
    return 0;
}

int plugin_options_check_table(const struct tc_option *rows, size_t conf_size, struct tc_err *err)
{
    for (size_t i = 0; rows && rows[i].key; i++) {
        if (i == OPTIONS_MAX)
            return err_set(err, NULL, "more than %zu options; the last row must have the key NULL",
                           OPTIONS_MAX);
        if (check_row(rows, i, conf_size, err) < 0)
            return -1;
    }
    return 0;
}

/* What every step of a fill shares. */
struct fill {
    char *out;
    const struct tc_option *rows;
    const char *file;
    struct arena *arena;
    struct tc_err *err;
};

static void plugin_options_set_place(const struct fill *f, int line)
{
    if (f->err && line > 0)
        snprintf(f->err->place, sizeof f->err->place, "%s:%d", f->file, line);
    else if (f->err)
        snprintf(f->err->place, sizeof f->err->place, "%s", f->file);
}

static int plugin_options_fail(const struct fill *f, int line, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
static int plugin_options_fail(const struct fill *f, int line, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err_set(f->err, NULL, "%s", text);
    plugin_options_set_place(f, line);
    return -1;
}

static const struct tc_option *plugin_options_find_row(const struct tc_option *rows,
                                                       const char *key)
{
    for (; rows && rows->key; rows++)
        if (strcmp(rows->key, key) == 0)
            return rows;
    return NULL;
}

/* The nearest may be a key that the host reads: it came here because it was misspelt. */
static int plugin_options_fail_unknown(const struct fill *f, const struct conf_option *pair)
{
    const char *names[OPTIONS_MAX + HOST_KEYS_MAX], *key;
    size_t n = 0;
    for (; f->rows && f->rows[n].key && n < OPTIONS_MAX; n++)
        names[n] = f->rows[n].key;
    for (size_t i = 0; i < HOST_KEYS_MAX && (key = conf_instance_key_at(i)); i++)
        names[n++] = key;
    const char *const near = nearest_word_find(pair->key, names, n);
    if (near)
        return plugin_options_fail(f, pair->line, "unknown option \"%s\" (did you mean \"%s\"?)",
                                   pair->key, near);
    return plugin_options_fail(f, pair->line, "unknown option \"%s\"", pair->key);
}

/* The value of a secret is never part of a message. */
static int store_secret(const struct fill *f, const struct cell *cell,
                        const struct conf_option *pair)
{
    struct tc_err why = {0};
    const char *const text =
        pair->resolved ? pair->value : secret_resolve(pair->value, f->arena, &why);
    if (!text)
        return plugin_options_fail(f, pair->line, "option \"%s\": %s", pair->key, why.text);
    if (pair->resolved)
        log_add_secret(text);
    if (types[cell->row->type].parse(cell, text) < 0)
        return plugin_options_fail(f, pair->line, "option \"%s\": expected %s", pair->key,
                                   types[cell->row->type].wanted);
    return 0;
}

static int store_pair(const struct fill *f, const struct conf_option *pairs, size_t i)
{
    const struct conf_option *const pair = &pairs[i];
    const struct tc_option *const row = plugin_options_find_row(f->rows, pair->key);
    if (!row)
        return plugin_options_fail_unknown(f, pair);
    for (size_t k = 0; k < i; k++)
        if (strcmp(pairs[k].key, pair->key) == 0)
            return plugin_options_fail(f, pair->line, "duplicate option \"%s\"", pair->key);
    const struct cell cell = {row, f->out + row->offset, f->arena};
    if (row->flags & TC_SECRET)
        return store_secret(f, &cell, pair);
    if (types[row->type].parse(&cell, pair->value) < 0)
        return plugin_options_fail(f, pair->line,
                                   "option \"%s\": invalid value \"%s\"; expected %s", pair->key,
                                   pair->value, types[row->type].wanted);
    return 0;
}

static bool is_given(const struct conf_option *pairs, const char *key)
{
    for (; pairs && pairs->key; pairs++)
        if (strcmp(pairs->key, key) == 0)
            return true;
    return false;
}

int plugin_options_parse(void *out, const struct tc_option *rows, const struct conf_option *pairs,
                         const char *file, int line, struct arena *arena, struct tc_err *err)
{
    const struct fill f = {out, rows, file, arena, err};
    for (size_t i = 0; pairs && pairs[i].key; i++)
        if (store_pair(&f, pairs, i) < 0)
            return -1;
    for (const struct tc_option *row = rows; row && row->key; row++) {
        if (is_given(pairs, row->key))
            continue;
        if (row->flags & TC_REQUIRED)
            return plugin_options_fail(&f, line, "missing required option \"%s\" (%s)", row->key,
                                       row->help ? row->help : types[row->type].wanted);
        const struct cell cell = {row, f.out + row->offset, arena};
        if (row->dflt && types[row->type].parse(&cell, row->dflt) < 0)
            return plugin_options_fail(&f, line, "option \"%s\": invalid default", row->key);
    }
    return 0;
}

int plugin_options_fill_instance(void *out, const struct tc_option *rows,
                                 const struct conf_instance *inst, const char *file,
                                 struct arena *arena, struct tc_err *err)
{
    if (plugin_options_parse(out, rows, inst->options, file, inst->line, arena, err) == 0)
        return 0;
    if (err && inst->line <= 0) {
        const struct tc_err why = *err;
        snprintf(err->text, sizeof err->text, "instance %.64s: %.640s", inst->name, why.text);
    }
    return -1;
}
