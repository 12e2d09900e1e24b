/* SPDX-License-Identifier: MIT
 * Parses option text into members of a plugin's option struct. */
#include "conf/options/plugin_options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/cleanup.h"
#include "base/nearest_word.h"
#include "conf/options/option_rules.h"
#include "conf/parse/conf_path.h"
#include "conf/parse/option_list.h"
#include "conf/parse/secret.h"

#define HOST_KEYS_MAX ((size_t)32)

/* One value during its conversion. */
struct cell {
    const struct tc_option *row;
    char *to; /* target member */
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

static int parse_real(const struct cell *c, const char *text)
{
    char *end;
    const double v = option_rules_parse_real(text, &end);
    if (end == text || *end || !isfinite(v))
        return -1;
    memcpy(c->to, &v, sizeof v);
    return 0;
}

static int parse_list(const struct cell *c, const char *text)
{
    const char *const *const list = option_list_split(c->arena, text);
    memcpy(c->to, &list, sizeof list);
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
    [TC_T_LIST] = {"a list of strings", sizeof(const char *const *), parse_list},
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

static bool default_parses(const struct tc_option *row, const struct tc_rule *rules)
{
    CLEANUP_BUF struct buf scaled = {0}, why = {0};
    union {
        const char *s;
        const char *const *list;
        int64_t i;
        double r;
    } scratch;
    struct arena arena = {0};
    const struct cell cell = {row, (char *)&scratch, &arena};
    const char *const text =
        row->dflt ? option_rules_scale(rules, row, row->dflt, &scaled, &why) : NULL;
    const bool good = !row->dflt || (text && types[row->type].parse(&cell, text) == 0);
    arena_fini(&arena);
    return good;
}

static int check_row(const struct tc_plugin *plugin, size_t i, struct tc_err *err)
{
    const struct tc_option *const rows = plugin->options, *const row = &rows[i];
    const size_t conf_size = plugin->conf_size;
    if (!key_is_sane(row->key))
        return err_set(err, NULL, "option %zu: invalid key; use [a-z][a-z0-9_]*", i + 1);
    if ((size_t)row->type >= sizeof types / sizeof *types)
        return err_set(err, NULL, "option \"%s\": unknown type %d", row->key, (int)row->type);
    if ((row->flags & TC_PROGRAMS) && row->type != TC_T_LIST)
        return err_set(err, NULL, "option \"%s\": TC_PROGRAMS is for a list of strings", row->key);
    if (!plugin_options_fits(row, conf_size))
        return err_set(err, NULL, "option \"%s\": offset %zu does not fit a structure of %zu bytes",
                       row->key, row->offset, conf_size);
    for (size_t k = 0; k < i; k++)
        if (strcmp(rows[k].key, row->key) == 0)
            return err_set(err, NULL, "option \"%s\": declared twice", row->key);
    return 0;
}

int plugin_options_check_table(const struct tc_plugin *plugin, struct tc_err *err)
{
    const struct tc_option *const rows = plugin->options;
    for (size_t i = 0; rows && rows[i].key; i++) {
        if (i == OPTIONS_MAX)
            return err_set(err, NULL, "more than %zu options; the last row must have the key NULL",
                           OPTIONS_MAX);
        if (check_row(plugin, i, err) < 0)
            return -1;
    }
    /* Checks rules before defaults, because the rules convert the defaults. */
    if (option_rules_check_table(plugin->rules, rows, err) < 0)
        return -1;
    for (const struct tc_option *row = rows; row && row->key; row++)
        if (!default_parses(row, plugin->rules))
            return err_set(err, NULL, "option \"%s\": invalid default \"%s\"; expected %s",
                           row->key, row->dflt, types[row->type].wanted);
    return 0;
}

/* Shared arguments of the steps. */
struct fill {
    char *out;
    const struct tc_option *rows;
    const struct tc_rule *rules;
    const struct plugin_options_source *source;
    const struct conf *conf; /* NULL: skips rules about paths and the host */
    struct arena *arena;
    struct findings *findings;
};

/* Groups of one instance may be in several files. */
static const char *plugin_options_find_file(const struct plugin_options_source *s, const char *key)
{
    const struct conf_option *const pair = conf_option_find(s->pairs, key);
    const char *const file = pair ? pair->file : s->place;
    return file ? file : s->file;
}

static int plugin_options_fail(const struct fill *f, int line, const char *key, const char *fmt,
                               ...) PRINTF_LIKE(4, 5);
static int plugin_options_fail(const struct fill *f, int line, const char *key, const char *fmt,
                               ...)
{
    const struct plugin_options_source *const s = f->source;
    CLEANUP_BUF struct buf place = {0}, text = {0};
    va_list ap;
    buf_add_str(&place, plugin_options_find_file(s, key));
    if (line > 0)
        buf_printf(&place, ":%d", line);
    if (s->name)
        buf_printf(&text, "%s%s.", s->line > 0 ? "plugins.instances." : "", s->name);
    buf_printf(&text, "%s: ", key);
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    return findings_add(f->findings, FINDING_ERROR, place.p, "%s", text.p);
}

const struct tc_option *plugin_options_find_row(const struct tc_option *rows, const char *key)
{
    for (; rows && rows->key; rows++)
        if (strcmp(rows->key, key) == 0)
            return rows;
    return NULL;
}

/* Suggests keys of the host, too: a misspelt key of the host arrives here as an option. */
static int plugin_options_fail_unknown(const struct fill *f, const struct conf_option *pair)
{
    const char *names[OPTIONS_MAX + HOST_KEYS_MAX], *key;
    CLEANUP_BUF struct buf all = {0};
    size_t n = 0;
    for (; f->rows && f->rows[n].key && n < OPTIONS_MAX; n++)
        names[n] = f->rows[n].key;
    for (size_t i = 0; i < n; i++)
        buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
    for (size_t i = 0; i < HOST_KEYS_MAX && (key = conf_instance_key_at(i)); i++)
        names[n++] = key;
    const char *const near = nearest_word_find(pair->key, names, n);
    if (near)
        return plugin_options_fail(f, pair->line, pair->key,
                                   "unknown option (did you mean \"%s\"?)", near);
    return plugin_options_fail(f, pair->line, pair->key,
                               "unknown option; options of the plugin: %s",
                               all.len ? all.p : "none");
}

/* Directory for relative paths of the pair, with links resolved. */
static const char *plugin_options_directory(const struct conf_option *pair, struct arena *arena)
{
    const char *const given = pair->dir ? pair->dir : ".";
    CLEANUP_FREE char *real = realpath(given, NULL);
    return arena_strdup(arena, real ? real : given);
}

enum option_secret plugin_options_secret(const struct tc_option *row, const char *text)
{
    if (row && !(row->flags & TC_SECRET))
        return OPTION_SECRET_NONE;
    const bool is_list = row ? row->type == TC_T_LIST : option_list_is_list(text);
    return is_list ? OPTION_SECRET_LIST : OPTION_SECRET_TEXT;
}

static const char *plugin_options_resolve_text(const struct tc_option *row, const char *text,
                                               const char *dir, struct arena *arena,
                                               struct tc_err *err)
{
    switch (plugin_options_secret(row, text)) {
    case OPTION_SECRET_TEXT:
        if (!row) /* a list may be given as a single string */
            option_list_resolve_secrets(arena, text, dir, NULL);
        return secret_resolve(text, dir, arena, err);
    case OPTION_SECRET_LIST:
        return option_list_resolve_secrets(arena, text, dir, err);
    case OPTION_SECRET_NONE:
        break;
    }
    return text;
}

const char *plugin_options_resolve_secrets(const struct tc_option *row,
                                           const struct conf_option *pair, struct arena *arena,
                                           struct tc_err *err)
{
    return plugin_options_resolve_text(row, pair->value, pair->dir, arena, err);
}

const char *plugin_options_resolve(const struct tc_rule *rules, const struct tc_option *row,
                                   const struct conf_option *pair, struct arena *arena,
                                   struct tc_err *err)
{
    const char *text = pair->value;
    if (pair->dir && *text && option_rules_is_path(rules, row))
        return conf_path_resolve(arena, pair->dir, text);
    if (row->flags & TC_PROGRAMS)
        text = option_list_resolve_paths(arena, text, plugin_options_directory(pair, arena));
    return plugin_options_resolve_text(row, text, pair->dir, arena, err);
}

/* Error messages never contain the value of a secret. */
static int plugin_options_fail_value(const struct fill *f, const struct tc_option *row,
                                     const char *text, int line)
{
    if (row->flags & TC_SECRET)
        return plugin_options_fail(f, line, row->key, "invalid value; expected %s",
                                   types[row->type].wanted);
    return plugin_options_fail(f, line, row->key, "invalid value \"%s\"; expected %s", text,
                               types[row->type].wanted);
}

/* Stores a value in its member, and checks its rules. */
static int plugin_options_store(const struct fill *f, const struct tc_option *row, const char *text,
                                int line)
{
    const struct cell cell = {row, f->out + row->offset, f->arena};
    CLEANUP_BUF struct buf scaled = {0}, why = {0};
    const char *const value = option_rules_scale(f->rules, row, text, &scaled, &why);
    if (value && types[row->type].parse(&cell, value) < 0)
        return plugin_options_fail_value(f, row, text, line);
    if (!value || option_rules_check_value(f->rules, row, value, f->conf != NULL, &why) < 0)
        return plugin_options_fail(f, line, row->key, "%s", why.p);
    return 0;
}

static int store_resolved(const struct fill *f, const struct tc_option *row,
                          const struct conf_option *pair)
{
    struct tc_err why = {0};
    const char *const text =
        pair->resolved ? pair->value : plugin_options_resolve(f->rules, row, pair, f->arena, &why);
    if (!text)
        return plugin_options_fail(f, pair->line, pair->key, "%s", why.text);
    if (pair->resolved && row->type == TC_T_LIST)
        option_list_mask_secrets(text);
    else if (pair->resolved && (row->flags & TC_SECRET))
        log_add_secret(text);
    return plugin_options_store(f, row, text, pair->line);
}

static int store_pair(const struct fill *f, const struct conf_option *pair)
{
    const struct tc_option *const row = plugin_options_find_row(f->rows, pair->key);
    if (!row)
        return plugin_options_fail_unknown(f, pair);
    if (!pair->value) /* an error was reported already */
        return 0;
    if (conf_option_find(f->source->pairs, pair->key) != pair)
        return plugin_options_fail(f, pair->line, pair->key, "duplicate option; remove one");
    if (option_list_is_list(pair->value) && row->type != TC_T_LIST)
        return plugin_options_fail(f, pair->line, pair->key, "expected %s, found a list",
                                   types[row->type].wanted);
    return store_resolved(f, row, pair);
}

/* Fills members that the configuration does not set. */
static int plugin_options_store_default(const struct fill *f, const struct tc_option *row)
{
    const char *const what = row->help ? row->help : types[row->type].wanted;
    if ((row->flags & TC_REQUIRED) && f->source->line > 0)
        return plugin_options_fail(f, f->source->line, row->key,
                                   "missing required option (%s); set it in the instance", what);
    if (row->flags & TC_REQUIRED) /* the value has no place in a file */
        return plugin_options_fail(f, 0, row->key, "missing required option (%s); set %s=VALUE",
                                   what, row->key);
    return row->dflt ? plugin_options_store(f, row, row->dflt, f->source->line) : 0;
}

/* For rules about several options: set, and not a false switch. */
static bool plugin_options_is_set(const void *ctx, const char *key)
{
    const struct fill *const f = ctx;
    const struct conf_option *const pair = conf_option_find(f->source->pairs, key);
    const struct tc_option *const row = plugin_options_find_row(f->rows, key);
    bool on = true;
    if (pair && row && row->type == TC_T_BOOL)
        memcpy(&on, f->out + row->offset, sizeof on);
    return pair && on;
}

static int plugin_options_check_server(const struct fill *f, const struct tc_rule *rule, int line)
{
    if (rule->kind != TC_RULE_SERVER || !f->conf || f->conf->http.listen ||
        !plugin_options_is_set(f, rule->key))
        return 0;
    return plugin_options_fail(f, line, rule->key, "requires the HTTP server; set http.listen");
}

static int plugin_options_check_groups(const struct fill *f)
{
    int rc = 0;
    for (const struct tc_rule *rule = f->rules; rule && rule->key; rule++) {
        CLEANUP_BUF struct buf why = {0};
        const struct conf_option *const pair = conf_option_find(f->source->pairs, rule->key);
        const int line = pair ? pair->line : f->source->line;
        if (option_rules_check_group(rule, plugin_options_is_set, f, &why) < 0)
            rc = plugin_options_fail(f, line, rule->key, "%s", why.p);
        else if (plugin_options_check_server(f, rule, line) < 0)
            rc = -1;
    }
    return rc;
}

/* Collects the absolute paths in a list option; the instance and its programs may read them. */
static size_t plugin_options_count_paths(const struct fill *f, const struct tc_option *row)
{
    const char *const *list;
    size_t n = 0;
    memcpy(&list, f->out + row->offset, sizeof list);
    for (; list && *list; list++)
        n += **list == '/';
    return n;
}

static int plugin_options_check_paths(const struct fill *f)
{
    const struct conf_option *pair = f->source->pairs;
    size_t n = 0;
    for (; pair && pair->key; pair++) {
        const struct tc_option *const row = plugin_options_find_row(f->rows, pair->key);
        n += row && (row->flags & TC_PROGRAMS) ? plugin_options_count_paths(f, row) : 0;
        if (n > PLUGIN_OPTIONS_PATHS_MAX)
            return plugin_options_fail(f, pair->line, pair->key,
                                       "too many files and directories of programs (limit: %zu in "
                                       "all options of the instance)",
                                       PLUGIN_OPTIONS_PATHS_MAX);
    }
    return 0;
}

static int plugin_options_fill(const struct fill *f)
{
    const struct conf_option *const pairs = f->source->pairs;
    int rc = 0;
    for (const struct conf_option *pair = pairs; pair && pair->key; pair++)
        if (store_pair(f, pair) < 0)
            rc = -1;
    for (const struct tc_option *row = f->rows; row && row->key; row++)
        if (!conf_option_find(pairs, row->key) && plugin_options_store_default(f, row) < 0)
            rc = -1;
    if (plugin_options_check_paths(f) < 0)
        rc = -1;
    return plugin_options_check_groups(f) < 0 ? -1 : rc;
}

int plugin_options_parse(void *out, const struct tc_plugin *plugin,
                         const struct plugin_options_source *source, struct arena *arena,
                         struct tc_err *err)
{
    struct findings all = {0};
    const struct fill f = {out, plugin->options, plugin->rules, source, NULL, arena, &all};
    const int rc = plugin_options_fill(&f);
    if (rc < 0)
        findings_take_first(&all, err);
    findings_fini(&all);
    return rc;
}

static struct plugin_options_source plugin_options_source_of(const struct conf_instance *inst,
                                                             const char *file)
{
    return (struct plugin_options_source){inst->name, inst->options, file, inst->file, inst->line};
}

int plugin_options_fill_instance(void *out, const struct tc_plugin *plugin,
                                 const struct conf_instance *inst, const char *file,
                                 struct arena *arena, struct tc_err *err)
{
    const struct plugin_options_source source = plugin_options_source_of(inst, file);
    return plugin_options_parse(out, plugin, &source, arena, err);
}

int plugin_options_check(const struct tc_plugin *plugin, const struct conf *conf,
                         const struct conf_instance *inst, struct findings *findings)
{
    struct arena arena = {0};
    CLEANUP_FREE void *out = xcalloc(1, plugin->conf_size + 1);
    const struct plugin_options_source source = plugin_options_source_of(inst, conf->file);
    const struct fill f = {out, plugin->options, plugin->rules, &source, conf, &arena, findings};
    const int rc = plugin_options_fill(&f);
    arena_fini(&arena);
    return rc;
}
