/* SPDX-License-Identifier: MIT
 * Asks for the options of a connector according to its option table: required options, and usable
 * secrets. Contains no code for a specific connector. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/init/init_ask.h"
#include "cli/init/init_plan.h"
#include "cli/oneshot_host.h"
#include "conf/default_paths.h"
#include "conf/options/plugin_options.h"

/* ---- choice of the connector ---- */

/* Whether the plugin shows turns in a service, where people may also write. */
static bool init_connector_is_one(const struct loaded_plugin *l)
{
    return l->plugin.chat || l->plugin.probe;
}

static void init_connector_add_name(void *ctx, const char *path)
{
    struct buf *const names = ctx;
    struct tc_err err = {0};
    struct loaded_plugin *const l = loader_probe_file(path, &err);
    if (l && init_connector_is_one(l))
        buf_printf(names, "%s%s", names->len ? ", " : "", l->plugin.name);
    loader_unref_plugin(l);
}

static void init_connector_list(struct init_plan *plan, struct buf *names)
{
    loader_list_files((const char *const *)default_paths_plugin_dirs(&plan->arena),
                      init_connector_add_name, names);
    buf_add(names, "", 0);
}

static int init_connector_load(struct init_plan *plan, const char *name)
{
    const char *const *const dirs = (const char *const *)default_paths_plugin_dirs(&plan->arena);
    struct tc_err err = {0};
    struct loaded_plugin *const l = loader_probe_by_name(name, dirs, &err);
    if (l && init_connector_is_one(l)) {
        plan->connector = l;
        return 0;
    }
    CLEANUP_BUF struct buf names = {0};
    init_connector_list(plan, &names);
    fprintf(stderr, "turncast: %s; connectors for services: %s\n",
            l ? "this plugin is not a connector for a service" : err_format(&err), names.p);
    loader_unref_plugin(l);
    return -1;
}

int init_connector_choose(struct init_plan *plan)
{
    const char *const named = plan->args->init.connector;
    if (named)
        return init_connector_load(plan, named) < 0 ? EXIT_USAGE : 0;
    if (!plan->asks)
        return 0;
    CLEANUP_BUF struct buf names = {0};
    init_connector_list(plan, &names);
    CLEANUP_FREE char *question = xasprintf("Connector for a service (%s; Enter for none)",
                                            names.len ? names.p : "none installed");
    for (;;) {
        CLEANUP_FREE char *name = init_ask_line(question, NULL);
        if (!name)
            return EXIT_USAGE;
        if (!*name || init_connector_load(plan, name) == 0)
            return 0;
    }
}

/* ---- its options ---- */

static void init_connector_set(struct init_plan *plan, const char *key, const char *value,
                               const char *secret)
{
    struct arena *const a = &plan->arena;
    if (plan->n_settings < INIT_SETTINGS_MAX)
        plan->settings[plan->n_settings++] = (struct init_setting){
            arena_strdup(a, key), arena_strdup(a, value), arena_strdup(a, secret)};
}

/* Parses "KEY=VALUE" of --set. A secret must be a reference, because every user can read the
 * command line. */
static int init_connector_parse_set(struct init_plan *plan, const char *word)
{
    struct arena *const a = &plan->arena;
    const char *const eq = strchr(word, '=');
    if (!eq || eq == word)
        return args_usage_error(&cmd_init, "--set: expected OPTION=VALUE");
    const char *const key = arena_strndup(a, word, (size_t)(eq - word));
    const struct tc_option *const row =
        plugin_options_find_row(plan->connector->plugin.options, key);
    const bool is_file = strncmp(eq + 1, "file:", 5) == 0;
    const bool is_secret = row && (row->flags & TC_SECRET);
    if (is_secret && !is_file && strncmp(eq + 1, "env:", 4) != 0)
        return args_usage_error(&cmd_init,
                                "--set %s: other users can read a command line; use %s=env:NAME or "
                                "%s=file:PATH",
                                key, key, key);
    const char *const path =
        is_secret && is_file ? default_paths_make_absolute(a, eq + 1 + 5) : NULL;
    init_connector_set(plan, key, path ? arena_sprintf(a, "file:%s", path) : eq + 1, NULL);
    return 0;
}

static const char *init_connector_get_setting(const struct init_plan *plan, const char *key)
{
    for (size_t i = 0; i < plan->n_settings; i++)
        if (strcmp(plan->settings[i].key, key) == 0)
            return plan->settings[i].value;
    return NULL;
}

/* Whether the option is set, and not false. */
static bool init_connector_is_set(const struct init_plan *plan, const char *key)
{
    const char *const value = init_connector_get_setting(plan, key);
    return value && strcmp(value, "false") != 0;
}

static bool init_connector_names(const char *words, const char *key)
{
    const size_t len = strlen(key);
    for (const char *at = words; at && (at = strstr(at, key)); at += len)
        if ((at == words || at[-1] == ' ') && (!at[len] || at[len] == ' '))
            return true;
    return false;
}

/* Whether the option is required, by itself or because of another option that is set. */
static bool init_connector_requires(const struct init_plan *plan, const struct tc_option *o)
{
    const struct tc_rule *rule = plan->connector->plugin.rules;
    for (; rule && rule->key; rule++)
        if (rule->kind == TC_RULE_NEEDS && strcmp(rule->text, o->key) == 0 &&
            init_connector_is_set(plan, rule->key))
            return true;
    return o->flags & TC_REQUIRED;
}

/* Whether exactly one of several options must be set and this is one of them; it is useful alone,
 * then. */
static bool init_connector_is_alternative(const struct tc_rule *rule, const char *key)
{
    for (; rule && rule->key; rule++)
        if (rule->kind == TC_RULE_EXACTLY_ONE &&
            (strcmp(rule->key, key) == 0 || init_connector_names(rule->text, key)))
            return true;
    return false;
}

/* Whether to ask the person for the option: it is required, or a secret that works without the HTTP
 * server and without other options. */
static bool init_connector_asks_for(const struct init_plan *plan, const struct tc_option *o)
{
    const struct loaded_plugin *const l = plan->connector;
    if (init_connector_requires(plan, o))
        return true;
    bool wanted = (o->flags & TC_SECRET) && o->type == TC_T_STR;
    for (const struct tc_rule *rule = l->plugin.rules; rule && rule->key; rule++)
        if ((rule->kind == TC_RULE_SERVER && strcmp(rule->key, o->key) == 0) ||
            (rule->kind == TC_RULE_NEEDS && init_connector_names(rule->text, o->key) &&
             !init_connector_is_alternative(l->plugin.rules, o->key)))
            wanted = false;
    return wanted;
}

/* Whether another option excludes this one. */
static bool init_connector_is_excluded(const struct init_plan *plan, const struct tc_option *o)
{
    const struct tc_plugin *const plugin = &plan->connector->plugin;
    for (const struct tc_rule *rule = plugin->rules; rule && rule->key; rule++) {
        const bool is_first = strcmp(rule->key, o->key) == 0;
        if (rule->kind != TC_RULE_EXACTLY_ONE ||
            (!is_first && !init_connector_names(rule->text, o->key)))
            continue;
        for (size_t i = 0; i < plan->n_settings; i++)
            if (strcmp(plan->settings[i].key, rule->key) == 0 ||
                init_connector_names(rule->text, plan->settings[i].key))
                return true;
    }
    return false;
}

/* The name TELEGRAM_TOKEN for the option token of telegram. */
static const char *init_connector_variable(struct init_plan *plan, const struct tc_option *o)
{
    char *const name = arena_sprintf(&plan->arena, "%s_%s", plan->connector->plugin.name, o->key);
    for (char *c = name; *c; c++)
        *c = (char)(*c == '-' ? '_' : toupper((unsigned char)*c));
    return name;
}

static int init_connector_fail_missing(struct init_plan *plan, const struct tc_option *o)
{
    const char *const name = plan->connector->plugin.name;
    const bool secret = o->flags & TC_SECRET;
    fprintf(stderr, "turncast: %s: missing required option \"%s\" (%s); use --set %s=%s", name,
            o->key, o->help ? o->help : o->key, o->key, secret ? "file:PATH" : "VALUE");
    if (secret)
        fprintf(stderr, ", or set the environment variable %s", init_connector_variable(plan, o));
    fputc('\n', stderr);
    return EXIT_USAGE;
}

static void init_connector_store_secret(struct init_plan *plan, const struct tc_option *o,
                                        const char *text)
{
    struct arena *const a = &plan->arena;
    const char *const file = arena_sprintf(a, "file:%s/%s.%s", default_paths_dirname(a, plan->file),
                                           plan->connector->plugin.name, o->key);
    if (o->flags & TC_SECRET)
        init_connector_set(plan, o->key, file, text);
    else
        init_connector_set(plan, o->key, text, NULL);
}

static int init_connector_ask(struct init_plan *plan, const struct tc_option *o)
{
    const bool required = init_connector_requires(plan, o);
    CLEANUP_FREE char *question = xasprintf("  %s: %s%s", o->key, o->help ? o->help : "",
                                            required ? "" : " (Enter for none)");
    for (;;) {
        char *const text =
            o->flags & TC_SECRET ? init_ask_secret(question) : init_ask_line(question, NULL);
        const bool ended = !text, empty = ended || !*text;
        if (!empty)
            init_connector_store_secret(plan, o, text);
        if (text)
            explicit_bzero(text, strlen(text));
        free(text);
        if (ended)
            return EXIT_USAGE;
        if (!empty || !required)
            return 0;
    }
}

static int init_connector_find_value(struct init_plan *plan, const struct tc_option *o)
{
    const char *const variable = o->flags & TC_SECRET ? init_connector_variable(plan, o) : NULL;
    const char *const value = variable ? getenv(variable) : NULL;
    if (value && *value) {
        init_connector_set(plan, o->key, arena_sprintf(&plan->arena, "env:%s", variable), NULL);
        printf("  %s: from the environment variable %s\n", o->key, variable);
        return 0;
    }
    if (plan->asks)
        return init_connector_ask(plan, o);
    return init_connector_requires(plan, o) ? init_connector_fail_missing(plan, o) : 0;
}

int init_connector_set_options(struct init_plan *plan)
{
    const struct loaded_plugin *const l = plan->connector;
    int status = 0;
    if (!l)
        return plan->args->n_repeated ? args_usage_error(&cmd_init, "--set requires --connector")
                                      : 0;
    for (size_t i = 0; i < plan->args->n_repeated && status == 0; i++)
        status = init_connector_parse_set(plan, plan->args->repeated[i]);
    for (const struct tc_option *o = l->plugin.options; o && o->key && status == 0; o++)
        if (!init_connector_get_setting(plan, o->key) && init_connector_asks_for(plan, o) &&
            !init_connector_is_excluded(plan, o))
            status = init_connector_find_value(plan, o);
    return status;
}

/* ---- derived settings ---- */

static void init_connector_add_grants(struct init_plan *plan, const char *words)
{
    static const char *const names[] = {"submit", "cancel", "answer"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (init_connector_names(words, names[i]) && !init_connector_names(plan->grants, names[i]))
            plan->grants = arena_sprintf(&plan->arena, "%s%s%s", plan->grants,
                                         *plan->grants ? " " : "", names[i]);
}

void init_connector_apply_rules(struct init_plan *plan)
{
    const struct tc_plugin *const plugin = plan->connector ? &plan->connector->plugin : NULL;
    /* An older plugin does not declare its grants. */
    plan->grants = plugin && plugin->minor < 6 ? "submit cancel answer" : "";
    plan->serves = false;
    for (const struct tc_rule *rule = plugin ? plugin->rules : NULL; rule && rule->key; rule++) {
        if (!init_connector_is_set(plan, rule->key))
            continue;
        plan->serves |= rule->kind == TC_RULE_SERVER;
        if (rule->kind == TC_RULE_GRANTS)
            init_connector_add_grants(plan, rule->text);
    }
}

/* ---- permitted people ---- */

int init_connector_set_people(struct init_plan *plan)
{
    plan->allow = plan->args->init.allow;
    if (!plan->connector)
        return plan->allow ? args_usage_error(&cmd_init, "--allow requires --connector") : 0;
    if (plan->allow && !*plan->grants)
        return args_usage_error(&cmd_init, "--allow: nobody writes to this connector");
    if (plan->allow || !plan->asks || !*plan->grants)
        return 0;
    CLEANUP_FREE char *ids =
        init_ask_line(init_connector_names(plan->grants, "submit")
                          ? "  IDs of the people who may write to it, separated by commas (Enter: "
                            "pair them later)"
                          : "  IDs of the people who may answer requests, separated by commas",
                      NULL);
    if (!ids)
        return EXIT_USAGE;
    plan->allow = arena_strdup(&plan->arena, ids);
    return 0;
}
