/* SPDX-License-Identifier: MIT
 * `turncast plugins`: lists plugin files and the instances that use them. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "cli/command_table.h"
#include "cli/inspect/plugin_describe.h"
#include "cli/oneshot_host.h"
#include "conf/conf_scope.h"

static const struct args_option rows[] = {ARG_CONFIG, {0}};

struct cmd_plugins_state {
    const struct conf *conf;
    unsigned files, broken;
};

static bool cmd_plugins_is_same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return strcmp(a, b) == 0 || (stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
                                 sa.st_ino == sb.st_ino);
}

/* "enabled as a: own turns; b: all turns" for the enabled instances of this file. */
static void add_uses(struct buf *out, const struct conf *conf, const char *path)
{
    for (size_t i = 0; i < conf->n_instances; i++) {
        const struct conf_instance *const inst = &conf->instances[i];
        CLEANUP_FREE char *means =
            loader_find_path(inst->plugin, (const char *const *)conf->plugin_dirs, NULL);
        if (!inst->enabled || !means || !cmd_plugins_is_same_file(means, path))
            continue;
        buf_printf(out, "%s%s: ", out->len ? "; " : "enabled as ", inst->name);
        conf_scope_describe(inst, out);
    }
}

static void cmd_plugins_print_row(void *ctx, const char *path)
{
    struct cmd_plugins_state *list = ctx;
    struct tc_err err = {0};
    CLEANUP_BUF struct buf uses = {0};
    struct loaded_plugin *l = loader_probe_file(path, &err);
    list->files++;
    if (!l) {
        list->broken++;
        printf("%-12s error: %s\n", strrchr(path, '/') + 1, err_format(&err));
        return;
    }
    add_uses(&uses, list->conf, l->path);
    const struct tc_plugin *p = &l->plugin;
    printf("%-12s %-8s ABI %u.%u  %s%s%s%s\n", p->name, *p->version ? p->version : "-", p->major,
           p->minor, p->summary, uses.len ? " (" : "", uses.len ? uses.p : "", uses.len ? ")" : "");
    loader_unref_plugin(l);
}

static bool cmd_plugins_is_listed(const struct conf *conf, const char *path)
{
    const char *const name = strrchr(path, '/') + 1;
    for (char **dir = conf->plugin_dirs; *dir; dir++) {
        CLEANUP_FREE char *there = xasprintf("%s/%s", *dir, name);
        if (cmd_plugins_is_same_file(there, path))
            return true;
    }
    return false;
}

/* Lists files outside of the plugin directories that instances name by path, each once. */
static void cmd_plugins_print_elsewhere(struct cmd_plugins_state *list)
{
    const struct conf_instance *const all = list->conf->instances;
    for (size_t i = 0; i < list->conf->n_instances; i++) {
        const char *const path = all[i].plugin;
        bool done = !all[i].enabled || !path || !strchr(path, '/');
        for (size_t k = 0; !done && k < i; k++)
            done = all[k].enabled && all[k].plugin && strcmp(all[k].plugin, path) == 0;
        if (!done && !cmd_plugins_is_listed(list->conf, path))
            cmd_plugins_print_row(list, path);
    }
}

static int cmd_plugins_print_all(const struct conf *conf)
{
    struct cmd_plugins_state list = {.conf = conf};
    loader_list_files((const char *const *)conf->plugin_dirs, cmd_plugins_print_row, &list);
    cmd_plugins_print_elsewhere(&list);
    if (list.files == 0)
        for (char **dir = conf->plugin_dirs; *dir; dir++)
            fprintf(stderr, "turncast: no plugins found in %s (plugins.directory)\n", *dir);
    return list.broken || list.files == 0 ? EXIT_USAGE : 0;
}

/* `name`: a plugin, the path of a plugin file, or an instance that uses the plugin. */
static struct loaded_plugin *cmd_plugins_find(const struct conf *conf, const char *name,
                                              struct tc_err *err)
{
    const char *const *const dirs = (const char *const *)conf->plugin_dirs;
    CLEANUP_FREE char *path = loader_find_path(name, dirs, err);
    if (path)
        return loader_probe_file(path, err);
    for (size_t i = 0; i < conf->n_instances; i++)
        if (strcmp(conf->instances[i].name, name) == 0 && conf->instances[i].plugin)
            return loader_probe_by_name(conf->instances[i].plugin, dirs, err);
    return NULL;
}

static int print_one(const struct conf *conf, const char *name)
{
    struct tc_err err = {0};
    struct loaded_plugin *l = cmd_plugins_find(conf, name, &err);
    if (!l) {
        command_conf_print_error(&err);
        return EXIT_USAGE;
    }
    CLEANUP_BUF struct buf uses = {0};
    plugin_describe_print(stdout, l);
    add_uses(&uses, conf, l->path);
    printf("  %s\n", uses.len ? uses.p : "(not used)");
    loader_unref_plugin(l);
    return 0;
}

static int cmd_plugins_run(const struct args *args)
{
    struct conf *conf = command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    const int status =
        args->n_operands ? print_one(conf, args->operands[0]) : cmd_plugins_print_all(conf);
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_plugins = {
    .name = "plugins",
    .operands = "[NAME|FILE.so]",
    .summary = "Lists the available plugins, or describes one",
    .about =
        "Plugins are searched in the plugin directories; the configuration selects those to run.",
    .args = rows,
    .max = 1,
    .run = cmd_plugins_run,
};
