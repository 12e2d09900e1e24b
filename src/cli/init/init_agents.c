/* SPDX-License-Identifier: MIT
 * Finds the agent programs that have a definition in share/turncast. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/data_path.h"
#include "cli/init/init_ask.h"
#include "cli/init/init_plan.h"
#include "cli/inspect/agent_program.h"
#include "cli/oneshot_host.h"

#define DEFINITION_MAX ((size_t)65536)
#define FIRST_LINE "\nagents : {\n"
#define LAST_LINE "\n};"

/* The contents of the group `agents` of a definition. NULL with err. */
static char *init_agents_read(struct arena *a, const char *path, struct tc_err *err)
{
    CLEANUP_FILE FILE *f = fopen(path, "re");
    char *const text = arena_alloc(a, DEFINITION_MAX);
    if (!f) {
        err_set(err, path, "cannot open");
        return NULL;
    }
    text[fread(text, 1, DEFINITION_MAX - 1, f)] = '\0';
    char *const begin = strstr(text, FIRST_LINE);
    char *end = begin;
    for (char *at = begin; at && (at = strstr(at, LAST_LINE)); at++)
        end = at;
    if (!begin || end == begin) {
        err_set(err, path, "is not a definition of an agent; reinstall turncast");
        return NULL;
    }
    end[1] = '\0';
    return begin + strlen(FIRST_LINE);
}

/* Adds installed agents only. -1 with err: the installation of turncast is damaged. */
static int init_agents_add(struct init_plan *plan, const struct agent_kind *kind,
                           struct tc_err *err)
{
    CLEANUP_FREE char *program = agent_program_find(kind->name);
    CLEANUP_FREE char *path = program ? data_path_find(kind->profile, err) : NULL;
    CLEANUP_BUF struct buf where = {0};
    struct init_agent *const agent = &plan->agents[plan->n_agents];
    if (!program)
        return 0;
    struct conf *const conf = path ? conf_load(path, err) : NULL;
    agent->definition = conf ? init_agents_read(&plan->arena, path, err) : NULL;
    if (agent->definition) {
        agent->kind = kind;
        agent->program = arena_strdup(&plan->arena, program);
        agent->login = agent_login_find(kind, &conf->agents[0], &where)
                           ? arena_strdup(&plan->arena, where.p)
                           : NULL;
        plan->n_agents++;
    }
    conf_unref(conf);
    return agent->definition ? 0 : -1;
}

static int init_agents_fail_none(const char *wanted)
{
    const struct agent_kind *kind;
    fprintf(stderr, "turncast: no %s found in PATH; install one, for example:\n",
            wanted ? wanted : "agent");
    for (size_t i = 0; (kind = agent_login_kind(i)); i++)
        if (!wanted || strcmp(wanted, kind->name) == 0)
            fprintf(stderr, "    %-9s %s\n", kind->name, kind->install);
    return EXIT_USAGE;
}

static void init_agents_print(const struct init_plan *plan)
{
    puts("Agents found:");
    for (size_t i = 0; i < plan->n_agents; i++) {
        const struct init_agent *const agent = &plan->agents[i];
        printf("  %-9s %s (%s%s)\n", agent->kind->name, agent->program,
               agent->login ? "login: " : "no login found; ",
               agent->login ? agent->login : agent->kind->login);
    }
}

static const struct init_agent *init_agents_find_by_name(const struct init_plan *plan,
                                                         const char *name)
{
    for (size_t i = 0; i < plan->n_agents; i++)
        if (strcmp(plan->agents[i].kind->name, name) == 0)
            return &plan->agents[i];
    return NULL;
}

/* The first agent that is logged in, otherwise the first. */
static const struct init_agent *init_agents_find_default(const struct init_plan *plan)
{
    for (size_t i = 0; i < plan->n_agents; i++)
        if (plan->agents[i].login)
            return &plan->agents[i];
    return &plan->agents[0];
}

static int init_agents_choose(struct init_plan *plan)
{
    const struct init_agent *const proposed = init_agents_find_default(plan);
    plan->chosen = proposed;
    if (!plan->asks || plan->n_agents == 1)
        return 0;
    for (;;) {
        CLEANUP_FREE char *name = init_ask_line("Agent that answers", proposed->kind->name);
        if (!name)
            return EXIT_USAGE;
        plan->chosen = init_agents_find_by_name(plan, name);
        if (plan->chosen)
            return 0;
        printf("Unknown agent \"%s\".\n", name);
    }
}

static bool init_agents_is_known(const char *name)
{
    const struct agent_kind *kind;
    for (size_t i = 0; (kind = agent_login_kind(i)); i++)
        if (strcmp(kind->name, name) == 0)
            return true;
    return false;
}

int init_agents_find(struct init_plan *plan)
{
    const char *const wanted = plan->args->agent;
    const struct agent_kind *kind;
    struct tc_err err = {0};
    if (wanted && !init_agents_is_known(wanted))
        return args_usage_error(&cmd_init,
                                "--agent: unknown agent \"%s\"; valid values: claude, "
                                "codex, gemini, opencode, qwen, copilot",
                                wanted);
    for (size_t i = 0; (kind = agent_login_kind(i)) && plan->n_agents < INIT_AGENTS_MAX; i++)
        if ((!wanted || strcmp(wanted, kind->name) == 0) && init_agents_add(plan, kind, &err) < 0) {
            command_conf_print_error(&err);
            return EXIT_USAGE;
        }
    if (!plan->n_agents)
        return init_agents_fail_none(wanted);
    init_agents_print(plan);
    return init_agents_choose(plan);
}
