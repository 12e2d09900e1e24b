/* SPDX-License-Identifier: MIT
 * Checks of the configuration, its agents and instances. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/inspect/agent_program.h"
#include "cli/inspect/answerer_check.h"
#include "cli/inspect/conf_check.h"
#include "cli/inspect/doctor/doctor.h"
#include "cli/inspect/probe/agent_flags.h"
#include "cli/inspect/probe/agent_login.h"
#include "conf/conf_scope.h"
#include "conf/options/plugin_options.h"
#include "core/host/host_reload.h"
#include "dialect/dialect.h"
#include "plugin/abi/loader.h"

/* ---- the file ---- */

static bool is_readable_by_others(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && (st.st_mode & 044);
}

static bool doctor_conf_is_literal_secret(const char *secret)
{
    return strncmp(secret, "env:", 4) != 0 && strncmp(secret, "file:", 5) != 0;
}

/* A secret in a file that other users can read is not protected. */
static void doctor_conf_check_secret(struct doctor *d, const char *name, const char *key,
                                     const char *value, const char *file)
{
    const char *const path = file ? file : d->conf->file;
    if (!doctor_conf_is_literal_secret(value) || !is_readable_by_others(path))
        return;
    doctor_report(d, FINDING_WARNING, name,
                  "secret \"%s\" is stored in a file that other users can read", key);
    doctor_suggest(d, "run: chmod 600 %s, or refer to the secret as env:NAME or file:PATH", path);
}

static void doctor_conf_check_keys(struct doctor *d)
{
    for (size_t i = 0; i < d->conf->http.n_keys; i++)
        doctor_conf_check_secret(d, d->conf->http.keys[i].name, "key", d->conf->http.keys[i].source,
                                 d->conf->http.keys[i].file);
}

/* Prints and clears the findings. */
static void report_findings(struct doctor *d, const char *name, struct findings *findings,
                            const char *remedy)
{
    findings_sort(findings);
    for (size_t i = 0; i < findings->n; i++)
        doctor_report_finding(d, name, &findings->items[i], remedy);
    findings_fini(findings);
}

static void doctor_conf_check_file(struct doctor *d, const char *path)
{
    struct tc_err err = {0};
    struct findings findings = {0};
    if (!path) {
        doctor_report(d, FINDING_WARNING, "configuration",
                      "no configuration file found; using defaults");
        doctor_suggest(d, "run: turncast init");
    } else if (conf_check_keys(d->conf, &findings) == 0 && host_reload_check(d->conf, &err) < 0) {
        findings_add_err(&findings, FINDING_ERROR, &err);
    } else if (!findings.n) {
        doctor_report(d, FINDING_OK, "configuration", "%s", path);
    }
    report_findings(d, "configuration", &findings,
                    "turncast serve will not start until this is fixed");
}

bool doctor_read_conf(struct doctor *d, const char *path)
{
    struct findings findings = {0};
    d->conf = conf_load_all(path, &findings);
    if (findings.errors) {
        conf_unref(d->conf);
        findings_fini(&findings);
        findings = (struct findings){0};
        conf_unref(conf_check_file(path, &findings)); /* including errors found by plugins */
        d->conf = NULL;
        report_findings(d, "configuration", &findings, "see turncast.conf(5)");
        return false;
    }
    doctor_conf_check_file(d, path);
    doctor_conf_check_keys(d);
    return true;
}

/* ---- agents ---- */

/* Login state of programs whose login methods are known. */
static void doctor_conf_check_login(struct doctor *d, const char *name, const struct conf_agent *a)
{
    const struct agent_kind *const kind = agent_login_kind_of(a);
    CLEANUP_BUF struct buf where = {0};
    if (!kind)
        return;
    if (agent_login_find(kind, a, &where)) {
        doctor_report(d, FINDING_OK, name, "login: %s", where.p);
        return;
    }
    doctor_report(d, FINDING_WARNING, name, "no login found");
    doctor_suggest(d, "%s, or set %s and name it in env_pass", kind->login, kind->variables[0]);
}

/* Checks an agent without a program, whose events come from a service or Redis. */
static void doctor_conf_check_transport(struct doctor *d, const struct conf_agent *a,
                                        struct doctor_agent *asked)
{
    CLEANUP_FREE char *answer = agent_program_read_version(asked->version);
    CLEANUP_FREE char *name = xasprintf("agent %s", a->name);
    CLEANUP_FREE char *place = conf_format_place(d->conf, a->file, a->line);
    asked->version = NULL;
    if (a->transport.kind == CONF_TRANSPORT_REDIS) {
        doctor_report(d, FINDING_OK, name, "reads a stream of Redis");
    } else if (a->transport.kind == CONF_TRANSPORT_NATS && answer && strcmp(answer, "ok") == 0) {
        doctor_report(d, FINDING_OK, name, "runs are taken at %s", a->transport.nats->subject);
    } else if (answer && strcmp(answer, "ok") == 0) {
        doctor_report(d, FINDING_OK, name, "%s at %s accepts requests", a->transport.service.agent,
                      a->transport.service.url);
    } else {
        doctor_report(d, FINDING_ERROR, name, "%s",
                      answer ? answer : "no answer from turncast-remote");
        doctor_suggest(d, "check the keys of transport at %s", place);
    }
}

static void doctor_conf_check_agent(struct doctor *d, const struct conf_agent *a,
                                    struct doctor_agent *asked)
{
    if (!conf_agent_program(a)) {
        doctor_conf_check_transport(d, a, asked);
        return;
    }
    const char *const file = asked->file;
    CLEANUP_FREE char *version = agent_program_read_version(asked->version);
    CLEANUP_FREE char *name = xasprintf("agent %s", a->name);
    CLEANUP_FREE char *place = conf_format_place(d->conf, a->file, a->line);
    struct findings findings = {0};
    struct stat st;
    if (!conf_agent_runs_here(d->conf, a)) {
        doctor_report(d, FINDING_OK, name, "runs on other hosts");
    } else if (!file) {
        doctor_report(d, FINDING_ERROR, name, "program \"%s\" not found or not executable",
                      conf_agent_program(a));
        doctor_suggest(d, "install it, or set its full path in command at %s", place);
    } else if (!dialect_find(a->dialect)) {
        CLEANUP_BUF struct buf hint = {0};
        conf_check_add_dialect_hint(a->dialect, &hint);
        findings_add(&findings, FINDING_ERROR, NULL, "unknown dialect \"%s\"%s", a->dialect,
                     hint.p);
        report_findings(d, name, &findings, "");
    } else if (a->cwd && (stat(a->cwd, &st) < 0 || !S_ISDIR(st.st_mode))) {
        doctor_report(d, FINDING_ERROR, name, "cwd \"%s\" is not a directory", a->cwd);
        doctor_suggest(d, "run: mkdir -p %s, or change cwd", a->cwd);
    } else {
        doctor_report(d, FINDING_OK, name, "%s%s%s", file, version ? ", " : "",
                      version ? version : "");
        doctor_conf_check_login(d, name, a);
        agent_flags_check(d->conf, a, &findings);
        report_findings(d, name, &findings, "");
    }
    asked->version = NULL;
}

static void doctor_conf_check_answerer(struct doctor *d, const struct conf_agent *a)
{
    CLEANUP_FREE char *name = xasprintf("agent %s", a->name);
    if (!answerer_check_agent_asks(a))
        return;
    if (!answerer_check_exist(d->conf)) {
        doctor_report(d, FINDING_WARNING, name,
                      "can ask for approval, but no instance or HTTP key is allowed to answer");
        doctor_suggest(d, "add \"answer\" to the grants of an instance in %s", d->conf->file);
    }
    for (size_t i = 0; i < a->n_rules; i++) {
        const struct conf_rule *const rule = &a->rules[i];
        CLEANUP_FREE char *place = conf_format_place(d->conf, rule->file, rule->line);
        const char *const missing = answerer_check_missing(d->conf, &a->rules[i]);
        if (!missing)
            continue;
        doctor_report(d, FINDING_WARNING, name,
                      "asks in instance \"%s\", where nobody is allowed to answer", missing);
        doctor_suggest(d, "add \"answer\" to the grants of that instance, or change to at %s",
                       place);
    }
}

void doctor_check_agents(struct doctor *d)
{
    if (!d->conf->n_agents) {
        doctor_report(d, FINDING_WARNING, "agents", "no agent is configured");
        doctor_suggest(d, "run: turncast init");
    }
    for (size_t i = 0; i < d->conf->n_agents; i++) {
        doctor_conf_check_agent(d, &d->conf->agents[i], &d->agents[i]);
        doctor_conf_check_answerer(d, &d->conf->agents[i]);
    }
}

/* ---- instances ---- */

static void doctor_conf_check_options(struct doctor *d, const char *name,
                                      const struct conf_instance *inst,
                                      const struct loaded_plugin *l)
{
    for (const struct tc_option *o = l->plugin.options; o && o->key; o++) {
        const struct conf_option *const set = conf_option_find(inst->options, o->key);
        if (set && plugin_options_secret(o, set->value) == OPTION_SECRET_TEXT)
            doctor_conf_check_secret(d, name, o->key, set->value, set->file);
    }
    CLEANUP_FREE char *place = conf_format_place(d->conf, inst->file, inst->line);
    const bool nobody = (!inst->allow || !inst->allow[0]) && !inst->chat.pairing;
    if (!(inst->grants & CONF_SUBMIT) || !nobody)
        return;
    doctor_report(d, FINDING_WARNING, name,
                  "grants \"submit\", but allow is empty: nobody can send messages");
    doctor_suggest(d, "add allow = (ID, ...) to the instance at %s", place);
}

/* Whether the plugin makes requests, or receives them. */
static bool doctor_conf_uses_service(const struct loaded_plugin *l)
{
    static const unsigned callbacks[] = {DESCRIPTOR_ON_REPLY, DESCRIPTOR_ON_HIT,
                                         DESCRIPTOR_ON_FRAME};
    for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
        if (loader_has_callback(l, callbacks[i]))
            return true;
    return l->plugin.flags & TC_DELIVERS;
}

/* A connector that parses input of strangers should be isolated, so that an exploit harms only
 * itself. */
static void doctor_conf_check_isolation(struct doctor *d, const char *name,
                                        const struct conf_instance *inst,
                                        const struct loaded_plugin *l)
{
    CLEANUP_FREE char *place = conf_format_place(d->conf, inst->file, inst->line);
    if (inst->isolation != CONF_THREAD || !doctor_conf_uses_service(l))
        return;
    doctor_report(d, FINDING_WARNING, name,
                  "not isolated: it talks to a network service with full access to this process "
                  "(isolation = \"thread\")");
    doctor_suggest(d, "remove isolation = \"thread\" at %s", place);
}

/* Whether a rule sends requests to the instance, regardless of its scope. */
static bool doctor_conf_is_asked(const struct conf *conf, const struct conf_instance *inst)
{
    for (size_t i = 0; i < conf->n_agents; i++)
        for (size_t k = 0; k < conf->agents[i].n_rules; k++)
            for (const struct conf_place *to = conf->agents[i].rules[k].to; to && to->instance;
                 to++)
                if (strcmp(to->instance, inst->name) == 0)
                    return true;
    return false;
}

static void doctor_conf_check_scope(struct doctor *d, const char *name,
                                    const struct conf_instance *inst)
{
    if (conf_scope_admits_any(d->conf, inst) || doctor_conf_is_asked(d->conf, inst))
        return;
    CLEANUP_FREE char *place = conf_format_place(d->conf, inst->file, inst->line);
    CLEANUP_BUF struct buf scope = {0};
    conf_scope_describe(inst, &scope);
    doctor_report(d, FINDING_WARNING, name,
                  "receives no turn: its scope is \"%s\", and there are none", scope.p);
    doctor_suggest(d, "set turns = \"all\", or change agents or conversations, at %s", place);
}

/* Prints the result of the credentials' test. */
static void doctor_conf_check_service(struct doctor *d, const char *name,
                                      struct service_probe *probe)
{
    if (!probe)
        return;
    const struct finding found = service_probe_get_finding(probe);
    if (found.file) {
        doctor_report_finding(d, name, &found, "");
        return;
    }
    doctor_report(d, found.level, name, "%s", found.text);
    if (found.remedy)
        doctor_suggest(d, "%s", found.remedy);
}

static void doctor_conf_check_plugin(struct doctor *d, const char *name,
                                     const struct conf_instance *inst,
                                     const struct doctor_instance *asked)
{
    const struct loaded_plugin *const l = asked->plugin;
    struct findings findings = {0};
    (void)plugin_options_check(&l->plugin, d->conf, inst, &findings);
    (void)conf_check_isolation(d->conf, inst, l, &findings);
    if (findings.errors) {
        CLEANUP_FREE char *remedy =
            xasprintf("run: turncast plugins %s (lists its options)", inst->plugin);
        report_findings(d, name, &findings, remedy);
        return;
    }
    doctor_report(d, FINDING_OK, name, "%s %s", l->path, l->plugin.version);
    doctor_conf_check_options(d, name, inst, l);
    doctor_conf_check_isolation(d, name, inst, l);
    doctor_conf_check_scope(d, name, inst);
    doctor_conf_check_service(d, name, asked->probe);
}

static void doctor_conf_check_instance(struct doctor *d, const struct conf_instance *inst,
                                       const struct doctor_instance *asked)
{
    CLEANUP_FREE char *name = xasprintf("instance %s", inst->name);
    struct findings findings = {0};
    if (asked->plugin) {
        doctor_conf_check_plugin(d, name, inst, asked);
    } else {
        findings_add(&findings, FINDING_ERROR, NULL, "%s", err_format(&asked->err));
        report_findings(d, name, &findings, "run: turncast plugins (lists the plugins found)");
    }
}

void doctor_check_instances(struct doctor *d)
{
    for (size_t i = 0; i < d->conf->n_instances; i++)
        if (d->conf->instances[i].enabled)
            doctor_conf_check_instance(d, &d->conf->instances[i], &d->instances[i]);
}
