/* SPDX-License-Identifier: MIT
 * `turncast visibility`: shows or changes an agent's stored visibility. */
#include "cli/command_table.h"
#include "cli/oneshot_host.h"
#include "cli/run/visibility_args.h"

static const struct args_option rows[] = {
    ARG_AGENT("agent whose settings are changed; default: default_agent"),
    ARG_CONFIG,
    {0},
};

/* Without agents in the configuration, any name is accepted. */
static const char *agent_name(const struct args *args, const struct conf *conf)
{
    const struct conf_agent *agent = conf_agent_find(conf, args->agent);
    if (agent)
        return agent->name;
    if (conf->n_agents && args->agent) {
        CLEANUP_BUF struct buf hint = {0};
        conf_add_agent_hint(conf, args->agent, &hint);
        args_usage_error(&cmd_visibility, "%s: unknown agent \"%s\"%s", conf->file, args->agent,
                         hint.p);
        return NULL;
    }
    return args->agent ? args->agent : "default";
}

static int cmd_visibility_change(const struct args *args, struct visibility_store *store,
                                 const char *agent)
{
    const struct visibility before = oneshot_host_load_visibility(store, agent);
    struct visibility v = before;
    const int status = visibility_args_apply(&cmd_visibility, args->operands, args->n_operands, &v);
    if (status)
        return status;
    if (visibility_args_save(store, agent, &before, &v) == STICKY_FAILED)
        return EXIT_USAGE;
    visibility_args_print(v);
    return 0;
}

static int cmd_visibility_run(const struct args *args)
{
    struct conf *conf = command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    struct visibility_store *const store = visibility_store_new(conf);
    const char *const agent = agent_name(args, conf);
    const int status = agent ? cmd_visibility_change(args, store, agent) : EXIT_USAGE;
    visibility_store_free(store);
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_visibility = {
    .name = "visibility",
    .operands = "[/show-X|/hide-X]...",
    .summary = "Shows or changes the visibility settings of an agent",
    .about =
        "X is thinking, tools, narration, final or all. The settings are stored per agent and\n"
        "printed as one line of JSON.",
    .args = rows,
    .max = 100,
    .run = cmd_visibility_run,
};
