/* SPDX-License-Identifier: MIT
 * `turncast plugins`: lists plugin files and the instances that use them. */
#include <stdlib.h>
#include <string.h>

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

/* "enabled as a: own turns; b: all turns" for the enabled instances of this file. */
static void add_uses(struct buf *out, const struct conf *conf, const char *path)
{
    for (size_t i = 0; i < conf->n_instances; i++) {
        const struct conf_instance *const inst = &conf->instances[i];
        CLEANUP_FREE char *means =
            loader_find_path(inst->plugin, (const char *const *)conf->plugin_dirs, NULL);
        if (!inst->enabled || !means || strcmp(means, path) != 0)
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

static int cmd_plugins_print_all(const struct conf *conf)
{
    struct cmd_plugins_state list = {.conf = conf};
    loader_list_files((const char *const *)conf->plugin_dirs, cmd_plugins_print_row, &list);
    if (list.files == 0)
        for (char **dir = conf->plugin_dirs; *dir; dir++)
            fprintf(stderr, "turncast: no plugins found in %s (plugins.directory)\n", *dir);
    return list.broken || list.files == 0 ? EXIT_USAGE : 0;
}

static int print_one(const struct conf *conf, const char *name)
{
    struct tc_err err = {0};
    struct loaded_plugin *l =
        loader_probe_by_name(name, (const char *const *)conf->plugin_dirs, &err);
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
