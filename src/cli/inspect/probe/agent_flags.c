/* SPDX-License-Identifier: MIT
 * Table of required and harmful arguments, by program and dialect. */
#include "cli/inspect/probe/agent_flags.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/inspect/probe/agent_login.h"

/* Kinds of problems of an argument. */
enum agent_flag_rule {
    FLAG_WANTED, /* missing, under both names */
    FLAG_VALUE,  /* missing, or with another value */
    FLAG_HARMS,  /* present */
    FLAG_ROOT,   /* present, for root without IS_SANDBOX */
};

struct agent_flag {
    const char *program, *dialect;
    enum agent_flag_rule rule;
    const char *name, *other; /* two names of the argument; other may be NULL */
    const char *value;        /* for FLAG_VALUE */
    const char *text;         /* text: the problem; remedy: what to do */
};

#define NO_STREAM "prints no event stream; add "
#define INTERACTIVE "starts the interactive interface, which waits for a terminal; add "
#define LOST "ends without an answer when the limit is reached; remove it, and use turn_timeout_s"

static const struct agent_flag agent_flags[] = {
    {"claude", "claude", FLAG_WANTED, "-p", "--print", NULL, INTERACTIVE "-p"},
    {"claude", "claude", FLAG_VALUE, "--output-format", NULL, "stream-json",
     NO_STREAM "--output-format stream-json"},
    {"claude", "claude", FLAG_WANTED, "--verbose", NULL, NULL,
     "prints nothing but an error with --output-format stream-json; add --verbose"},
    {"claude", "claude", FLAG_HARMS, "--max-turns", NULL, NULL, "with --max-turns " LOST},
    {"claude", "claude", FLAG_HARMS, "--continue", "-c", NULL,
     "with --continue mixes conversations: it resumes the last session of the directory; use "
     "resume"},
    {"claude", "claude", FLAG_ROOT, "--dangerously-skip-permissions", NULL, NULL,
     "refuses --dangerously-skip-permissions for root; set user, or IS_SANDBOX=1 in env_set"},
    {"codex", "codex", FLAG_WANTED, "exec", NULL, NULL, INTERACTIVE "exec"},
    {"codex", "codex", FLAG_WANTED, "--json", NULL, NULL, NO_STREAM "--json"},
    {"codex", "codex-app", FLAG_WANTED, "app-server", NULL, NULL, INTERACTIVE "app-server"},
    {"gemini", "gemini", FLAG_VALUE, "-o", "--output-format", "stream-json",
     NO_STREAM "-o stream-json"},
    {"gemini", "acp", FLAG_WANTED, "--acp", "--experimental-acp", NULL, INTERACTIVE "--acp"},
    {"opencode", "opencode", FLAG_WANTED, "run", NULL, NULL, INTERACTIVE "run"},
    {"opencode", "opencode", FLAG_VALUE, "--format", NULL, "json", NO_STREAM "--format json"},
    {"opencode", "acp", FLAG_WANTED, "acp", NULL, NULL, INTERACTIVE "acp"},
    {"qwen", "qwen", FLAG_VALUE, "-o", "--output-format", "stream-json",
     NO_STREAM "-o stream-json"},
    {"qwen", "qwen", FLAG_HARMS, "--max-session-turns", NULL, NULL,
     "with --max-session-turns " LOST},
    {"qwen", "qwen", FLAG_HARMS, "--max-tool-calls", NULL, NULL, "with --max-tool-calls " LOST},
    {"qwen", "acp", FLAG_WANTED, "--acp", "--experimental-acp", NULL, INTERACTIVE "--acp"},
    {"copilot", "copilot", FLAG_VALUE, "--output-format", NULL, "json",
     NO_STREAM "--output-format json"},
    {"copilot", "acp", FLAG_WANTED, "--acp", NULL, NULL, INTERACTIVE "--acp"},
};
#define N_FLAGS (sizeof agent_flags / sizeof *agent_flags)

/* The value behind "NAME=", or the argument behind NAME ("" if it is the last); NULL: absent. */
static const char *agent_flags_find(char *const *args, const char *name)
{
    const size_t len = name ? strlen(name) : 0;
    for (; name && *args; args++) {
        if (strcmp(*args, name) == 0)
            return args[1] ? args[1] : "";
        if (strncmp(*args, name, len) == 0 && (*args)[len] == '=')
            return *args + len + 1;
    }
    return NULL;
}

static bool agent_flags_is_root(const struct conf_agent *agent)
{
    if (agent->user ? agent->user->uid != 0 : geteuid() != 0)
        return false;
    for (char *const *set = agent->env_set; *set; set++)
        if (strcmp(*set, "IS_SANDBOX=1") == 0)
            return false;
    return true;
}

static bool agent_flags_applies(const struct agent_flag *flag, const struct conf_agent *agent)
{
    const char *value = agent_flags_find(agent->command + 1, flag->name);
    if (!value)
        value = agent_flags_find(agent->command + 1, flag->other);
    switch (flag->rule) {
    case FLAG_WANTED:
        return !value;
    case FLAG_VALUE:
        return !value || strcmp(value, flag->value) != 0;
    case FLAG_ROOT:
        return value && agent_flags_is_root(agent);
    case FLAG_HARMS:
        break;
    }
    return value != NULL;
}

void agent_flags_check(const struct conf *conf, const struct conf_agent *agent,
                       struct findings *findings)
{
    const struct agent_kind *const kind = agent_login_kind_of(agent);
    CLEANUP_FREE char *place = conf_format_place(conf, agent->file, agent->line);
    for (size_t i = 0; kind && i < N_FLAGS; i++) {
        const struct agent_flag *const flag = &agent_flags[i];
        if (strcmp(flag->program, kind->name) == 0 && strcmp(flag->dialect, agent->dialect) == 0 &&
            agent_flags_applies(flag, agent))
            findings_add(findings, FINDING_WARNING, place, "agents.%s.command: %s %s", agent->name,
                         kind->name, flag->text);
    }
}
