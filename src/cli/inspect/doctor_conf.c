/* SPDX-License-Identifier: MIT
 * Checks of the configuration, its agents and instances. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/inspect/agent_program.h"
#include "cli/inspect/answerer_check.h"
#include "cli/inspect/doctor.h"
#include "core/host/host_reload.h"
#include "dialect/dialect.h"
#include "plugin/abi/loader.h"

/* ---- the file ---- */

static bool is_readable_by_others(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && (st.st_mode & 044);
}

static bool stands_there(const char *secret)
{
    return strncmp(secret, "env:", 4) != 0 && strncmp(secret, "file:", 5) != 0;
}

/* A secret that stands in a file which others read is none. */
static void look_at_secret(struct doctor *d, const char *name, const char *key, const char *value)
{
    if (!stands_there(value) || !is_readable_by_others(d->conf->file))
        return;
    doctor_report(d, DOCTOR_WARN, name, "%s stands in a file that others can read", key);
    doctor_suggest("chmod 600 %s, or name it as env:NAME or file:PATH", d->conf->file);
}

static void look_at_keys(struct doctor *d)
{
    for (size_t i = 0; i < d->conf->http.n_keys; i++)
        look_at_secret(d, d->conf->http.keys[i].name, "its key", d->conf->http.keys[i].source);
}

bool doctor_read_conf(struct doctor *d, const char *path)
{
    struct tc_err err = {0};
    d->conf = conf_load(path, &err);
    if (!d->conf) {
        doctor_report(d, DOCTOR_FAIL, "configuration", "%s", err_format(&err));
        doctor_suggest("turncast.conf(5) says what a configuration may have");
        return false;
    }
    if (!path) {
        doctor_report(d, DOCTOR_WARN, "configuration", "there is none");
        doctor_suggest("copy turncast.conf of the documentation to ~/.config/turncast/");
    } else if (host_reload_check(d->conf, &err) < 0) {
        doctor_report(d, DOCTOR_FAIL, "configuration", "%s", err_format(&err));
        doctor_suggest("turncast serve does not start like this");
    } else {
        doctor_report(d, DOCTOR_OK, "configuration", "%s", path);
    }
    look_at_keys(d);
    return true;
}

/* ---- agents ---- */

static void look_at_agent(struct doctor *d, const struct conf_agent *a)
{
    CLEANUP_FREE char *file = agent_program_find(conf_agent_program(a));
    CLEANUP_FREE char *version = file ? agent_program_read_version(file) : NULL;
    CLEANUP_FREE char *name = xasprintf("agent %s", a->name);
    struct stat st;
    if (!file) {
        doctor_report(d, DOCTOR_FAIL, name, "there is no program \"%s\" that can be run",
                      conf_agent_program(a));
        doctor_suggest("install it, or write its path in %s:%d", d->conf->file, a->line);
    } else if (!dialect_find(a->dialect)) {
        doctor_report(d, DOCTOR_FAIL, name, "there is no dialect \"%s\"", a->dialect);
        doctor_suggest("turncast.conf(5), DIALECTS, has their names");
    } else if (a->cwd && (stat(a->cwd, &st) < 0 || !S_ISDIR(st.st_mode))) {
        doctor_report(d, DOCTOR_FAIL, name, "its cwd %s is no folder", a->cwd);
        doctor_suggest("mkdir -p %s", a->cwd);
    } else {
        doctor_report(d, DOCTOR_OK, name, "%s%s%s", file, version ? ", " : "",
                      version ? version : "");
    }
}

static void look_at_asking(struct doctor *d, const struct conf_agent *a)
{
    CLEANUP_FREE char *name = xasprintf("agent %s", a->name);
    if (!answerer_check_agent_asks(a))
        return;
    if (!answerer_check_exist(d->conf)) {
        doctor_report(d, DOCTOR_WARN, name,
                      "it can ask for approval, and no instance and no HTTP key may answer");
        doctor_suggest("grants = [\"submit\", \"cancel\", \"answer\"] in an instance of %s",
                       d->conf->file);
    }
    for (size_t i = 0; i < a->n_rules; i++) {
        const char *const missing = answerer_check_missing(d->conf, &a->rules[i]);
        if (!missing)
            continue;
        doctor_report(d, DOCTOR_WARN, name, "it asks in instance %s, where nobody may answer",
                      missing);
        doctor_suggest("add \"answer\" to the grants of that instance, for %s:%d", d->conf->file,
                       a->rules[i].line);
    }
}

void doctor_look_at_agents(struct doctor *d)
{
    if (!d->conf->n_agents) {
        doctor_report(d, DOCTOR_WARN, "agents", "there is none that could be run");
        doctor_suggest("agents/ beside the example configuration has one for each program");
    }
    for (size_t i = 0; i < d->conf->n_agents; i++) {
        look_at_agent(d, &d->conf->agents[i]);
        look_at_asking(d, &d->conf->agents[i]);
    }
}

/* ---- instances ---- */

static const char *given(const struct conf_instance *inst, const char *key)
{
    for (const struct conf_option *p = inst->options; p && p->key; p++)
        if (strcmp(p->key, key) == 0)
            return p->value;
    return NULL;
}

static void look_at_options(struct doctor *d, const char *name, const struct conf_instance *inst,
                            const struct loaded_plugin *l)
{
    for (const struct tc_option *o = l->plugin.options; o && o->key; o++)
        if ((o->flags & TC_SECRET) && given(inst, o->key))
            look_at_secret(d, name, o->key, given(inst, o->key));
    const bool nobody = !inst->allow || !inst->allow[0];
    if (!(inst->grants & CONF_SUBMIT) || !nobody)
        return;
    doctor_report(d, DOCTOR_WARN, name, "nobody may write there");
    doctor_suggest("allow = (ID, ...) in %s:%d", d->conf->file, inst->line);
}

/* It makes requests, or is asked by others. */
static bool speaks_to_a_service(const struct loaded_plugin *l)
{
    static const unsigned callbacks[] = {DESCRIPTOR_ON_REPLY, DESCRIPTOR_ON_HIT,
                                         DESCRIPTOR_ON_FRAME};
    for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
        if (loader_has_callback(l, callbacks[i]))
            return true;
    return l->plugin.flags & TC_DELIVERS;
}

/* What reads what strangers write should be able to harm itself only. */
static void doctor_conf_look_at_isolation(struct doctor *d, const char *name,
                                          const struct conf_instance *inst,
                                          const struct loaded_plugin *l)
{
    if (inst->isolation != CONF_THREAD || !speaks_to_a_service(l))
        return;
    doctor_report(d, DOCTOR_WARN, name,
                  "speaks to a service, and runs in the host, with all it has");
    doctor_suggest("take isolation = \"thread\" out of %s:%d", d->conf->file, inst->line);
}

static void look_at_instance(struct doctor *d, const struct conf_instance *inst)
{
    struct tc_err err = {0};
    CLEANUP_FREE char *name = xasprintf("instance %s", inst->name);
    struct loaded_plugin *const l =
        loader_probe_by_name(inst->plugin, (const char *const *)d->conf->plugin_dirs, &err);
    if (!l) {
        doctor_report(d, DOCTOR_FAIL, name, "%s", err_format(&err));
        doctor_suggest("turncast plugins lists those that are found");
    } else if (loader_check_options(l, inst, d->conf->file, &err) < 0) {
        doctor_report(d, DOCTOR_FAIL, name, "%s", err_format(&err));
        doctor_suggest("turncast plugins %s lists its options", inst->plugin);
    } else {
        doctor_report(d, DOCTOR_OK, name, "%s %s", l->path, l->plugin.version);
        look_at_options(d, name, inst, l);
        doctor_conf_look_at_isolation(d, name, inst, l);
    }
    loader_unref_plugin(l);
}

void doctor_look_at_instances(struct doctor *d)
{
    for (size_t i = 0; i < d->conf->n_instances; i++)
        if (d->conf->instances[i].enabled)
            look_at_instance(d, &d->conf->instances[i]);
}
