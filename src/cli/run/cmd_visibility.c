/* SPDX-License-Identifier: MIT
 * turncast visibility: reads or changes the stored switches of an agent. */
#include "cli/command_table.h"
#include "cli/oneshot_host.h"
#include "cli/run/visibility_args.h"

static const struct arg rows[] = {
    ARG_AGENT("whose switches; without it the default agent's"),
    ARG_CONFIG,
    {0},
};

/* Without agents in the configuration every name is as good as another. */
static const char *agent_name(const struct args *args, const struct conf *conf)
{
    const struct conf_agent *agent = conf_agent_find(conf, args->agent);
    if (agent)
        return agent->name;
    if (conf->n_agents && args->agent) {
        args_fail(&cmd_visibility, "%s: there is no agent \"%s\"", conf->file, args->agent);
        return NULL;
    }
    return args->agent ? args->agent : "default";
}

static int change(const struct args *args, struct sticky *sticky, const char *agent)
{
    const struct visibility before = host_visibility(sticky, agent);
    struct visibility v = before;
    const int status = tokens_apply(&cmd_visibility, args->operands, args->n_operands, &v);
    if (status)
        return status;
    if (tokens_keep(sticky, agent, &before, &v) == STICKY_FAILED)
        return EXIT_USAGE;
    tokens_print(v);
    return 0;
}

static int run(const struct args *args)
{
    struct conf *conf = host_load_conf(args);
    if (!conf)
        return EXIT_USAGE;
    struct sticky *const sticky = sticky_new(conf);
    const char *const agent = agent_name(args, conf);
    const int status = agent ? change(args, sticky, agent) : EXIT_USAGE;
    sticky_free(sticky);
    conf_unref(conf);
    return status;
}

const struct command cmd_visibility = {
    .name = "visibility",
    .operands = "[/show-X|/hide-X]...",
    .summary = "Shows or changes what people see of an agent's turns",
    .about =
        "X is thinking, tools, narration, final or all. The switches are kept per agent, and are\n"
        "printed as one JSON line.",
    .args = rows,
    .max = 100,
    .run = run,
};
