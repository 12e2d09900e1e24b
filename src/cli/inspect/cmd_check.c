/* SPDX-License-Identifier: MIT
 * `turncast check`: validates a configuration or a plugin without running it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/command_table.h"
#include "cli/inspect/agent_program.h"
#include "cli/inspect/answerer_check.h"
#include "cli/inspect/plugin_describe.h"
#include "dialect/dialect.h"

static const struct args_option rows[] = {{0}};

/* Each check prints its problems as "file:line: …" and returns how many there are. */

static unsigned cmd_check_check_agent(const struct conf *conf, const struct conf_agent *a)
{
    unsigned problems = 0;
    CLEANUP_FREE char *program = agent_program_find(conf_agent_program(a));
    if (!dialect_find(a->dialect)) {
        printf("%s:%d: agents.%s.dialect: there is no dialect \"%s\"\n", conf->file, a->line,
               a->name, a->dialect);
        problems++;
    }
    if (!program) {
        printf("%s:%d: agents.%s.%s: there is no program \"%s\"\n", conf->file, a->line, a->name,
               a->prefix[0] ? "prefix" : "command", conf_agent_program(a));
        problems++;
    }
    struct tc_err err = {0};
    if (conf_check_agent_user(conf, a, &err) < 0) {
        printf("%s\n", err_format(&err));
        problems++;
    }
    return problems;
}

/* What works, and is hardly meant. */
static void warn_people(const struct conf *conf, const struct conf_instance *inst)
{
    const bool nobody = !inst->allow || !inst->allow[0];
    const char *why = NULL;
    if (!inst->grants && !nobody)
        why = "allow without grants: nothing of what they write is taken";
    else if ((inst->grants & CONF_SUBMIT) && nobody)
        why = "grants without allow: nobody may write there";
    else if ((inst->grants & CONF_SUBMIT) && inst->allow_chats && !inst->allow_chats[0])
        why = "allow_chats is empty: nobody may write anywhere";
    if (why)
        printf("%s:%d: warning: plugins.instances.%s: %s\n", conf->file, inst->line, inst->name,
               why);
}

/* What an agent asks, and nobody is there to answer, is denied after ask_timeout_s. */
static void warn_asking(const struct conf *conf, const struct conf_agent *a)
{
    if (!answerer_check_agent_asks(a))
        return;
    if (!answerer_check_exist(conf))
        printf(
            "%s:%d: warning: agents.%s: it can ask for approval, and no instance and no HTTP key "
            "may answer: add \"answer\" to the grants of one\n",
            conf->file, a->line, a->name);
    for (size_t i = 0; i < a->n_rules; i++) {
        const char *const missing = answerer_check_missing(conf, &a->rules[i]);
        if (missing)
            printf("%s:%d: warning: agents.%s.approvals: to names instance %s, where nobody may "
                   "answer: add \"answer\" to its grants\n",
                   conf->file, a->rules[i].line, a->name, missing);
    }
}

static unsigned cmd_check_check_agent_of(const struct conf *conf, const struct conf_instance *inst)
{
    if (!(inst->grants & CONF_SUBMIT) || conf_agent_find(conf, inst->agent))
        return 0;
    printf("%s:%d: plugins.instances.%s: no agent is named, and there is no default_agent\n",
           conf->file, inst->line, inst->name);
    return 1;
}

static unsigned check_instance(const struct conf *conf, const struct conf_instance *inst)
{
    struct tc_err err = {0};
    struct loaded_plugin *l =
        loader_probe_by_name(inst->plugin, (const char *const *)conf->plugin_dirs, &err);
    if (!l) {
        printf("%s:%d: plugins.instances.%s: %s\n", conf->file, inst->line, inst->name,
               err_format(&err));
        return 1;
    }
    const int rc = loader_check_options(l, inst, conf->file, &err);
    if (rc < 0)
        printf("%s\n", err_format(&err));
    loader_unref_plugin(l);
    warn_people(conf, inst);
    return (rc < 0) + cmd_check_check_agent_of(conf, inst);
}

static unsigned check_keys(struct conf *conf)
{
    struct tc_err err = {0};
    if (conf_resolve_keys(conf, &err) == 0)
        return 0;
    printf("%s\n", err_format(&err));
    return 1;
}

static int check_conf(const char *path)
{
    struct tc_err err = {0};
    struct conf *conf = conf_load(path, &err);
    if (!conf) {
        printf("%s\n", err_format(&err));
        return EXIT_USAGE;
    }
    unsigned problems = check_keys(conf);
    for (size_t i = 0; i < conf->n_agents; i++)
        problems += cmd_check_check_agent(conf, &conf->agents[i]);
    for (size_t i = 0; i < conf->n_instances; i++)
        problems += check_instance(conf, &conf->instances[i]);
    for (size_t i = 0; i < conf->n_agents; i++)
        warn_asking(conf, &conf->agents[i]);
    if (problems == 0)
        printf("%s: good: %zu agents, %zu instances\n", conf->file, conf->n_agents,
               conf->n_instances);
    conf_unref(conf);
    return problems ? EXIT_USAGE : 0;
}

static int check_plugin(const char *path)
{
    struct tc_err err = {0};
    struct loaded_plugin *l = loader_probe_file(path, &err);
    if (!l) {
        printf("%s\n", err_format(&err));
        return EXIT_USAGE;
    }
    plugin_describe_print(stdout, l);
    loader_unref_plugin(l);
    return 0;
}

static int cmd_check_run(const struct args *args)
{
    const char *file = args->operands[0];
    const size_t len = file ? strlen(file) : 0;
    if (len > 3 && strcmp(file + len - 3, ".so") == 0)
        return check_plugin(file);
    CLEANUP_FREE char *found = file ? NULL : conf_default_path();
    return check_conf(file ? file : found);
}

const struct cli_command cmd_check = {
    .name = "check",
    .operands = "[CONFIG|FILE.so]",
    .summary = "Checks a configuration or a plugin",
    .about =
        "Without a file, checks the configuration that the other commands use. No function of a\n"
        "plugin is called.",
    .args = rows,
    .max = 1,
    .run = cmd_check_run,
};
