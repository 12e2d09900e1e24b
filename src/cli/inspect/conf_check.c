/* SPDX-License-Identifier: MIT
 * Checks that need more than the file: programs, dialects, plugins, and who may answer. */
#include "cli/inspect/conf_check.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/nearest_word.h"
#include "cli/inspect/agent_program.h"
#include "cli/inspect/answerer_check.h"
#include "cli/inspect/probe/agent_flags.h"
#include "conf/options/plugin_options.h"
#include "dialect/dialect.h"
#include "plugin/abi/loader.h"

#define DIALECTS_MAX ((size_t)64)

/* ---- agents ---- */

void conf_check_add_dialect_hint(const char *name, struct buf *out)
{
    const char *names[DIALECTS_MAX];
    size_t n = 0;
    for (; n < DIALECTS_MAX && dialect_get(n); n++)
        names[n] = dialect_get(n)->name;
    const char *const near = nearest_word_find(name, names, n);
    if (near)
        buf_printf(out, " (did you mean \"%s\"?)", near);
    else
        buf_add_str(out, "; see turncast.conf(5), DIALECTS");
}

static void conf_check_program(const struct conf_agent *a, const char *place,
                               struct findings *findings)
{
    const char *const name = conf_agent_program(a);
    CLEANUP_FREE char *program = name ? agent_program_find(name) : NULL;
    if (name && !program) /* only files without a name that was listed before */
        findings_add(findings, FINDING_ERROR, place,
                     "agents.%s.%s: program \"%s\" not found or not executable; install it, or "
                     "write its full path",
                     a->name, a->prefix[0] ? "prefix" : "command", name);
}

static void conf_check_agent(const struct conf *conf, const struct conf_agent *a,
                             struct findings *findings)
{
    CLEANUP_FREE char *place = conf_format_place(conf, a->file, a->line);
    struct tc_err err = {0};
    struct stat st;
    if (!dialect_find(a->dialect)) {
        CLEANUP_BUF struct buf hint = {0};
        conf_check_add_dialect_hint(a->dialect, &hint);
        findings_add(findings, FINDING_ERROR, place, "agents.%s.dialect: unknown dialect \"%s\"%s",
                     a->name, a->dialect, hint.p);
    }
    if (a->command[0])
        agent_flags_check(conf, a, findings);
    if (!conf_agent_runs_here(conf, a)) /* the program is installed on another host */
        return;
    conf_check_program(a, place, findings);
    if (a->cwd && (stat(a->cwd, &st) < 0 || !S_ISDIR(st.st_mode)))
        findings_add(findings, FINDING_ERROR, place,
                     "agents.%s.cwd: \"%s\" is not a directory; create it or change cwd", a->name,
                     a->cwd);
    if (conf_check_agent_user(conf, a, &err) < 0)
        findings_add_err(findings, FINDING_ERROR, &err);
}

/* A request that nobody can answer is denied after ask_timeout_s. */
static void conf_check_asking(const struct conf *conf, const struct conf_agent *a,
                              struct findings *findings)
{
    CLEANUP_FREE char *place = conf_format_place(conf, a->file, a->line);
    if (!answerer_check_agent_asks(a))
        return;
    if (!answerer_check_exist(conf))
        findings_add(findings, FINDING_WARNING, place,
                     "agents.%s: can ask for approval, but no instance or HTTP key is allowed to "
                     "answer; add \"answer\" to the grants of one",
                     a->name);
    for (size_t i = 0; i < a->n_rules; i++) {
        CLEANUP_FREE char *at = conf_format_place(conf, a->rules[i].file, a->rules[i].line);
        const char *const missing = answerer_check_missing(conf, &a->rules[i]);
        if (missing)
            findings_add(findings, FINDING_WARNING, at,
                         "agents.%s.approvals: to: nobody in instance \"%s\" is allowed to answer; "
                         "add \"answer\" to its grants",
                         a->name, missing);
    }
}

/* ---- instances ---- */

/* Warns about valid settings that are probably mistakes. */
static const char *conf_check_find_doubt(const struct conf_instance *inst)
{
    const bool nobody = (!inst->allow || !inst->allow[0]) && !inst->chat.pairing;
    if (!inst->grants && !nobody)
        return "allow has no effect without grants: messages are ignored; add grants = "
               "[\"submit\"]";
    if ((inst->grants & CONF_SUBMIT) && nobody)
        return "grants \"submit\", but allow is empty: nobody can send messages; add allow = (ID, "
               "...)";
    if ((inst->grants & CONF_SUBMIT) && inst->allow_chats && !inst->allow_chats[0])
        return "allow_chats is empty: messages from every chat are rejected; remove it or list "
               "chats";
    return NULL;
}

static void conf_check_people(const struct conf *conf, const struct conf_instance *inst,
                              struct findings *findings)
{
    CLEANUP_FREE char *place = conf_format_place(conf, inst->file, inst->line);
    const char *const doubt = conf_check_find_doubt(inst);
    if (doubt)
        findings_add(findings, FINDING_WARNING, place, "plugins.instances.%s: %s", inst->name,
                     doubt);
    if ((inst->grants & CONF_SUBMIT) && !inst->agent && !conf_agent_find(conf, NULL))
        findings_add(findings, FINDING_ERROR, place,
                     "plugins.instances.%s: no agent; set agent here or default_agent", inst->name);
}

static bool conf_check_starts_programs(const struct loaded_plugin *l)
{
    for (const struct tc_option *o = l->plugin.options; o && o->key; o++)
        if (o->flags & TC_PROGRAMS)
            return true;
    return false;
}

int conf_check_isolation(const struct conf *conf, const struct conf_instance *inst,
                         const struct loaded_plugin *l, struct findings *findings)
{
    CLEANUP_FREE char *place = conf_format_place(conf, inst->file, inst->line);
    const size_t before = findings->errors;
    struct stat st;
    if (inst->isolation == CONF_THREAD && conf_check_starts_programs(l))
        findings_add(findings, FINDING_ERROR, place,
                     "plugins.instances.%s.isolation: the plugin starts programs and needs a "
                     "process; remove isolation = \"thread\"",
                     inst->name);
    for (char **path = inst->paths; path && *path; path++)
        if (inst->isolation != CONF_THREAD && stat(*path, &st) < 0)
            findings_add(
                findings, FINDING_ERROR, place,
                "plugins.instances.%s.paths: cannot access \"%s\": %s; create it or change "
                "the path",
                inst->name, *path, strerror(errno));
    return findings->errors > before ? -1 : 0;
}

/* Checks a plugin file given by path; uses the host's error message, and adds a remedy. */
static bool conf_check_plugin_file(const struct conf_instance *inst, const char *place,
                                   struct findings *findings)
{
    struct stat st;
    if (!strchr(inst->plugin, '/') || stat(inst->plugin, &st) == 0)
        return true;
    findings_add(findings, FINDING_ERROR, place,
                 "plugins.instances.%s: %s: cannot open: %s; build it or change the path",
                 inst->name, inst->plugin, strerror(errno));
    return false;
}

static void conf_check_instance(const struct conf *conf, const struct conf_instance *inst,
                                struct findings *findings)
{
    CLEANUP_FREE char *place = conf_format_place(conf, inst->file, inst->line);
    struct tc_err err = {0};
    conf_check_people(conf, inst, findings);
    if (!inst->plugin || !conf_check_plugin_file(inst, place, findings))
        return;
    struct loaded_plugin *const l =
        loader_probe_by_name(inst->plugin, (const char *const *)conf->plugin_dirs, &err);
    if (!l) {
        findings_add(findings, FINDING_ERROR, place, "plugins.instances.%s: %s", inst->name,
                     err_format(&err));
        return;
    }
    plugin_options_check(&l->plugin, conf, inst, findings);
    (void)conf_check_isolation(conf, inst, l, findings);
    loader_unref_plugin(l);
}

/* ---- whole configuration ---- */

struct conf *conf_check_file(const char *path, struct findings *findings)
{
    struct conf *const conf = conf_load_all(path, findings);
    if (!conf)
        return NULL;
    conf_check_keys(conf, findings);
    for (size_t i = 0; i < conf->n_agents; i++)
        conf_check_agent(conf, &conf->agents[i], findings);
    for (size_t i = 0; i < conf->n_instances; i++)
        conf_check_instance(conf, &conf->instances[i], findings);
    for (size_t i = 0; i < conf->n_agents; i++)
        conf_check_asking(conf, &conf->agents[i], findings);
    return conf;
}
