/* SPDX-License-Identifier: MIT
 * Section `agents`: keys, defaults, bounds. */
#include <string.h>

#include "conf/conf_internal.h"

#define DAY_S (24 * 3600)

#define AGENT(member) offsetof(struct conf_agent, member)

static int read_command(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target);
static int conf_agent_read_env(const struct conf_row_ctx *r, const struct conf_node *n,
                               const struct conf_row *row, void *target);

static const struct conf_choice backgrounds[] = {
    {"wait", CONF_WAIT}, {"follow", CONF_FOLLOW}, {NULL, 0}};

static const struct conf_choice runnings[] = {
    {"queue", CONF_QUEUE}, {"steer", CONF_STEER}, {"interrupt", CONF_INTERRUPT}, {NULL, 0}};

static const struct conf_row limit_rows[] = {
    {"memory_mb", conf_row_int, AGENT(limits.memory_mb), 1, 1 << 30, NULL},
    {"processes", conf_row_int, AGENT(limits.processes), 1, 1 << 22, NULL},
    {"files", conf_row_int, AGENT(limits.files), 16, 1 << 20, NULL},
    {"cpu_s", conf_row_int, AGENT(limits.cpu_s), 1, 30 * DAY_S, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const struct conf_row rows[] = {
    {"prefix", read_command, AGENT(prefix), 1, 1000, NULL},
    {"command", read_command, AGENT(command), 1, 1000, NULL},
    {"resume", read_command, AGENT(resume), 0, 1000, NULL},
    {"transport", conf_transport_parse, AGENT(transport), 0, 0, NULL},
    {"dialect", conf_row_string, AGENT(dialect), 0, 0, NULL},
    {"mode", conf_row_string, AGENT(mode), 0, 0, NULL},
    {"cwd", conf_row_path, AGENT(cwd), 0, 0, NULL},
    {"models", conf_variant_read, AGENT(choices.models), 1, CONF_CHOICES_MAX, NULL},
    {"cwds", conf_row_paths, AGENT(choices.cwds), 1, CONF_CHOICES_MAX, NULL},
    {"env_pass", conf_agent_read_env, AGENT(env_pass), 0, 1000, ""},
    {"env_set", conf_agent_read_env, AGENT(env_set), 0, 1000, "="},
    {"user", conf_user_parse, AGENT(user), 0, 0, NULL},
    {"limits", conf_row_group, 0, 0, 0, limit_rows},
    {"turn_timeout_s", conf_row_ms, AGENT(turn_timeout_ms), 0, 30 * DAY_S, NULL},
    {"idle_timeout_s", conf_row_ms, AGENT(idle_timeout_ms), 0, 30 * DAY_S, NULL},
    {"background_timeout_s", conf_row_ms, AGENT(background_timeout_ms), 0, 30 * DAY_S, NULL},
    {"background", conf_row_choice, AGENT(background), 0, 0, backgrounds},
    {"while_running", conf_row_choice, AGENT(while_running), 0, 0, runnings},
    {"keep_alive_s", conf_row_ms, AGENT(keep_alive_ms), 0, DAY_S, NULL},
    {"exit_grace_s", conf_row_ms, AGENT(grace.exit_ms), 0, 3600, NULL},
    {"term_grace_s", conf_row_ms, AGENT(grace.term_ms), 0, 3600, NULL},
    {"max_line_bytes", conf_row_int, AGENT(max_line), 4096, 1 << 30, NULL},
    {"attempts", conf_row_int, AGENT(attempts), 1, 10, NULL},
    {"four_eyes", conf_row_bool, AGENT(four_eyes), 0, 0, NULL},
    {"ask_timeout_s", conf_row_ms, AGENT(ask_timeout_ms), 0, 30 * DAY_S, NULL},
    {"hosts", conf_bus_read_names, AGENT(runners.hosts), 1, 1000, NULL},
    {"slots", conf_row_int, AGENT(runners.slots), 1, 1000, NULL},
    {"approvals", conf_rule_parse_all, 0, 0, 0, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

const char *conf_find_placeholder(const char *arg)
{
    const char *const equals = strchr(arg, '=');
    const char *const word = *arg == '{' ? arg : equals ? equals + 1 : "";
    const size_t len = strlen(word);
    const bool braced = len >= 2 && word[0] == '{' && word[len - 1] == '}';
    return braced && !strpbrk(word, "\": ") ? word : NULL;
}

static int check_placeholder(const struct conf_row_ctx *r, const struct conf_node *n)
{
    const char *const word = conf_find_placeholder(n->value.string);
    if (!word)
        return 0;
    if (strcmp(word, "{session_id}") == 0 || strcmp(word, "{conversation}") == 0 ||
        strcmp(word, CONF_MODEL) == 0)
        return 0;
    return conf_row_error(r, n,
                          "unknown placeholder %s; valid placeholders: {session_id}, "
                          "{conversation}, {model}",
                          word);
}

static int read_command(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target)
{
    int rc = 0;
    if (conf_row_strings(r, n, row, target) < 0)
        return -1;
    for (size_t i = 0; i < n->n; i++)
        if (check_placeholder(r, &n->items[i]) < 0)
            rc = -1;
    if (row->min > 0 && !*n->items[0].value.string)
        return conf_row_error(r, &n->items[0], "must not be empty; set it or remove it");
    return rc;
}

/* Accepts names, and "NAME=value" too if the row's extra says so. */
static int conf_agent_read_env(const struct conf_row_ctx *r, const struct conf_node *n,
                               const struct conf_row *row, void *target)
{
    const bool with_value = *(const char *)row->extra == '=';
    if (conf_row_strings(r, n, row, target) < 0)
        return -1;
    for (size_t i = 0; i < n->n; i++) {
        const char *text = n->items[i].value.string, *eq = strchr(text, '=');
        if (with_value ? !eq || eq == text : eq || !*text || *text == '$')
            return conf_row_error(r, &n->items[i], "\"%s\" is not valid; expected %s", text,
                                  with_value ? "NAME=value"
                                             : "the name of an environment variable");
    }
    return 0;
}

const char *conf_agent_program(const struct conf_agent *a)
{
    return a->prefix[0] ? a->prefix[0] : a->command[0];
}

int conf_check_name(const struct conf_row_ctx *r, const struct conf_node *n)
{
    if (strchr(n->name, '*') || strlen(n->name) > 100)
        return conf_row_error(
            r, n, "invalid name; use letters, digits, \"-\" and \"_\", at most 100 characters");
    return 0;
}

static char **no_strings(const struct conf_row_ctx *r)
{
    return arena_alloc(r->arena, sizeof(char *));
}

static bool has_model(char *const *args)
{
    for (; *args; args++) {
        const char *const word = conf_find_placeholder(*args);
        if (word && strcmp(word, CONF_MODEL) == 0)
            return true;
    }
    return false;
}

/* The program is turncast-remote, which reads its own dialect; it repeats requests itself, so
 * turncast does not retry. */
static int conf_agent_use_service(const struct conf_row_ctx *r, const struct conf_node *n,
                                  struct conf_agent *agent, const char *usual, const char *kind)
{
    if (agent->command[0] || agent->prefix[0])
        return conf_row_error(
            r, n, "cannot combine command or prefix with transport.kind = \"%s\"; remove them",
            kind);
    if (agent->dialect != usual)
        return conf_row_error(
            r, n, "cannot combine dialect with transport.kind = \"%s\"; remove it", kind);
    agent->dialect = arena_strdup(r->arena, "remote");
    if (!agent->attempts)
        agent->attempts = 1;
    return 0;
}

int conf_agent_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                     struct conf_agent *agent)
{
    char *const usual = arena_strdup(r->arena, "claude");
    *agent = (struct conf_agent){
        .name = arena_strdup(r->arena, n->name),
        .prefix = no_strings(r),
        .command = no_strings(r),
        .resume = no_strings(r),
        .dialect = usual,
        .env_pass = no_strings(r),
        .env_set = no_strings(r),
        .turn_timeout_ms = 3600 * 1000,
        .idle_timeout_ms = 15 * 60 * 1000,
        .background_timeout_ms = 3600 * 1000,
        .grace.exit_ms = 5000,
        .grace.term_ms = 5000,
        .max_line = 16 << 20,
        .ask_timeout_ms = 300 * 1000,
        .runners = {no_strings(r), 8},
        .file = n->file,
        .line = n->line,
    };
    if (conf_check_name(r, n) < 0 || conf_row_parse_group(r, n, rows, agent) < 0)
        return -1;
    if (agent->dialect == usual && agent->transport.kind == CONF_TRANSPORT_REDIS)
        agent->dialect = arena_strdup(r->arena, "agenticore-redis");
    if (agent->transport.kind == CONF_TRANSPORT_SSE &&
        conf_agent_use_service(r, n, agent, usual, "sse") < 0)
        return -1;
    if (agent->transport.kind == CONF_TRANSPORT_NATS &&
        conf_agent_use_service(r, n, agent, usual, "nats") < 0)
        return -1;
    if (!agent->attempts)
        agent->attempts = 3;
    if (!agent->command[0] && !agent->transport.kind)
        return conf_row_error(r, n,
                              "required key \"command\" is missing; add command = [\"PROGRAM\"]");
    /* A message that arrives too late for the running turn becomes the next turn of the same
     * process. */
    if (agent->while_running == CONF_STEER && !agent->keep_alive_ms)
        return conf_row_error(r, n, "while_running = \"steer\" requires keep_alive_s; set it, too");
    if (agent->choices.models && !has_model(agent->command))
        return conf_row_error(r, n,
                              "models requires {model} in command; add for example "
                              "\"--model={model}\"");
    return 0;
}
