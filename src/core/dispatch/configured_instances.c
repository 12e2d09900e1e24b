/* SPDX-License-Identifier: MIT
 * Chooses the instances for plugins that only lie in a directory. */
#include "core/dispatch/configured_instances.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plugin/abi/loader.h"

#define AUTO_EVENTS 4096
#define AUTO_BYTES (8 << 20)

static void configured_instances_add(struct configured_instances *r,
                                     const struct conf_instance *spec)
{
    r->wanted = xrealloc(r->wanted, (r->n + 1) * sizeof *r->wanted);
    r->wanted[r->n++] = spec;
}

static bool has_name(const struct configured_instances *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->wanted[i]->name, name) == 0)
            return true;
    return false;
}

/* A module named by an instance, enabled or not, is not loaded a second time. */
static bool is_configured(const struct conf *conf, const char *name)
{
    for (size_t i = 0; i < conf->n_instances; i++) {
        const char *const plugin = conf->instances[i].plugin;
        const char *const slash = strrchr(plugin, '/');
        const char *const base = slash ? slash + 1 : plugin;
        const size_t n = strlen(name);
        if (strncmp(base, name, n) == 0 && (!base[n] || strcmp(base + n, ".so") == 0))
            return true;
    }
    return false;
}

/* A plugin that writes to a file or the terminal needs an explicit instance: it shows everything,
 * and needs a place to write to. */
static bool is_log(const char *name)
{
    static const char *const logs[] = {"audit", "cli", "jsonl", "null"};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        if (strcmp(name, logs[i]) == 0)
            return true;
    return false;
}

static void configured_instances_add_file(void *ctx, const char *path)
{
    struct configured_instances *const r = ctx;
    const char *const base = strrchr(path, '/') + 1;
    char *const name = xstrndup(base, strlen(base) - strlen(".so"));
    if (is_log(name) || is_configured(r->conf, name) || has_name(r, name)) {
        free(name);
        return;
    }
    struct conf_instance *const spec = xcalloc(1, sizeof *spec);
    *spec = (struct conf_instance){
        .name = name,
        .plugin = xstrdup(path),
        .enabled = true,
        .queue_events = AUTO_EVENTS,
        .queue_bytes = AUTO_BYTES,
    };
    configured_instances_add(r, spec);
}

struct configured_instances *configured_instances_new(const struct conf *conf)
{
    struct configured_instances *const r = xcalloc(1, sizeof *r);
    r->conf = conf_ref(conf);
    for (size_t i = 0; i < conf->n_instances; i++)
        if (conf->instances[i].enabled)
            configured_instances_add(r, &conf->instances[i]);
    r->n_explicit = r->n;
    if (conf->autoload)
        loader_list_files((const char *const *)conf->plugin_dirs, configured_instances_add_file, r);
    return r;
}

void configured_instances_free(struct configured_instances *r)
{
    if (!r)
        return;
    for (size_t i = r->n_explicit; i < r->n; i++) {
        free(r->wanted[i]->name);
        free(r->wanted[i]->plugin);
        free((void *)(uintptr_t)r->wanted[i]);
    }
    free(r->wanted);
    conf_unref(r->conf);
    free(r);
}
