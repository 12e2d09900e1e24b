/* SPDX-License-Identifier: MIT
 * Plans a change of the instances: which stay, which are started, from which files. Checks
 * everything that can be checked before anything is changed: loads every file in a separate
 * process, and parses every option. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/log.h"
#include "core/dispatch/dispatch_internal.h"

bool plan_stays(const struct dispatch_slot *s, const struct conf_instance *spec)
{
    return conf_instance_equal(s->spec, spec) &&
           connector_options_equal(s->instance, s->loaded->plugin.options, spec->options) &&
           loader_is_current(s->loaded);
}

/* The linker identifies a file by its inode, and would take the new contents for the old module. */
static int check_overwritten(const struct dispatch *d, const char *path, struct tc_err *err)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct loaded_plugin *const l = d->slots[i].loaded;
        if (l && strcmp(l->path, path) == 0 && loader_is_overwritten(l))
            return err_set(err, path,
                           "was overwritten in place while loaded; install plugins by rename (mv), "
                           "or restart turncast");
    }
    return 0;
}

static void begin_probe(struct plan *p, struct plan_step *s)
{
    const struct conf *const conf = p->next->conf;
    CLEANUP_FREE char *path =
        loader_find_path(s->spec->plugin, (const char *const *)conf->plugin_dirs, &s->err);
    if (path && check_overwritten(p->dispatch, path, &s->err) == 0)
        s->probe = probe_run_add_file(p->trial, path);
}

static void add_step(struct plan *p, const struct conf_instance *spec, bool restarts)
{
    const struct dispatch *const d = p->dispatch;
    const size_t slot = dispatch_find_slot(d, spec->name);
    struct plan_step *const s = &p->steps[p->n++];
    *s = (struct plan_step){.spec = spec, .slot = slot < d->n ? slot : NO_SLOT};
    if (s->slot != NO_SLOT && !restarts && plan_stays(&d->slots[slot], spec)) {
        s->what = DISPATCH_KEPT;
        s->up = true;
        return;
    }
    s->what = s->slot == NO_SLOT ? DISPATCH_STARTED : DISPATCH_RESTARTED;
    begin_probe(p, s);
}

void plan_begin(struct plan *p, const struct conf_instance *only, void (*tried)(void *ctx),
                void *ctx)
{
    p->steps = xcalloc(p->next->n + 1, sizeof *p->steps);
    p->trial = probe_run_new();
    p->is_one = only != NULL;
    for (size_t i = 0; i < p->next->n; i++)
        if (!only || p->next->wanted[i] == only)
            add_step(p, p->next->wanted[i], only != NULL);
    probe_run_execute(p->trial);
    probe_run_watch(p->trial, p->dispatch->services.loop, tried, ctx);
}

/* ---- results ---- */

/* The result of the probe, then the check of the options. */
static int dispatch_plan_check_file(const struct plan *p, struct plan_step *s, struct tc_err *err)
{
    const struct conf *const conf = p->next->conf;
    char place[sizeof err->place] = "";
    if (s->probe)
        s->loaded = probe_run_take_result(p->trial, s->probe, &s->err);
    s->probe = NULL;
    if (s->spec->line > 0)
        snprintf(place, sizeof place, "%.200s:%d", s->spec->file ? s->spec->file : conf->file,
                 s->spec->line);
    if (!s->loaded && p->lenient) {
        *err = s->err; /* dispatch_record_disabled adds the name of the instance */
        return -1;
    }
    if (!s->loaded)
        return err_set(err, place, "plugins.instances.%s: %s", s->spec->name, err_format(&s->err));
    return loader_check_options(s->loaded, s->spec, conf->file, err);
}

static bool has_twin(const struct plan *p, const struct plan_step *s)
{
    for (const struct plan_step *other = p->steps; other < s; other++)
        if (!other->refused && strcmp(other->spec->name, s->spec->name) == 0)
            return true;
    return false;
}

static int make_next(const struct plan *p, struct plan_step *s, struct tc_err *err)
{
    if (has_twin(p, s))
        return err_set(err, p->next->conf->file,
                       "instance %s: duplicate name; rename one in plugins.instances",
                       s->spec->name);
    if (dispatch_start_slot(p->dispatch, &s->filled, p->next->conf, s->spec, s->loaded, err) < 0)
        return -1;
    s->loaded = NULL;
    return 0;
}

/* A file in a plugin directory that is not a plugin is ignored, as at the start. */
static bool may_fail(const struct plan *p, const struct plan_step *s)
{
    for (size_t i = p->next->n_explicit; i < p->next->n && !p->is_one; i++)
        if (p->next->wanted[i] == s->spec)
            return true;
    return p->lenient;
}

int plan_finish(struct plan *p, struct tc_err *err)
{
    int rc = 0;
    for (size_t i = 0; i < p->n; i++) {
        struct plan_step *const s = &p->steps[i];
        struct tc_err why = {0};
        if (s->what == DISPATCH_KEPT ||
            (dispatch_plan_check_file(p, s, &why) == 0 && make_next(p, s, &why) == 0))
            continue;
        s->refused = true;
        if (p->lenient)
            dispatch_record_disabled(p->dispatch, s->spec, &why);
        else if (may_fail(p, s))
            log_write(LOG_ERR, "host", "%s", err_format(&why));
        else if (rc == 0) {
            *err = why;
            rc = -1;
        }
    }
    probe_run_free(p->trial);
    p->trial = NULL;
    return rc;
}

void plan_fini(struct plan *p)
{
    probe_run_free(p->trial);
    for (size_t i = 0; i < p->n; i++)
        loader_unref_plugin(p->steps[i].loaded);
    free(p->steps);
    *p = (struct plan){0};
}
