/* SPDX-License-Identifier: MIT
 * Table of the programs and their login methods. */
#include "cli/inspect/probe/agent_login.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/agent/launch.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Tested with the program versions that the definitions name. */
static const struct agent_kind agent_kinds[] = {
    {"claude", "agents/claude.conf",
     WORDS("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"),
     WORDS("CLAUDE_CONFIG_DIR:.claude:.credentials.json"), "run claude and type /login",
     "npm install -g @anthropic-ai/claude-code"},
    {"codex", "agents/codex-app.conf", WORDS("OPENAI_API_KEY", "CODEX_API_KEY"),
     WORDS("CODEX_HOME:.codex:auth.json"), "run: codex login", "npm install -g @openai/codex"},
    {"gemini", "agents/gemini-acp.conf",
     WORDS("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"),
     WORDS(".gemini/oauth_creds.json", ".gemini/.env"), "run gemini and choose how to log in",
     "npm install -g @google/gemini-cli"},
    {"opencode", "agents/opencode-acp.conf",
     WORDS("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENCODE_API_KEY"),
     WORDS("XDG_DATA_HOME:.local/share:opencode/auth.json"), "run: opencode auth login",
     "npm install -g opencode-ai"},
    {"qwen", "agents/qwen-acp.conf", WORDS("OPENAI_API_KEY"),
     WORDS(".qwen/oauth_creds.json", ".qwen/.env"), "run qwen and choose how to log in",
     "npm install -g @qwen-code/qwen-code"},
    {"copilot", "agents/copilot-acp.conf",
     WORDS("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"),
     WORDS("COPILOT_HOME:.copilot:config.json"), "run copilot and type /login",
     "npm install -g @github/copilot"},
};
#define N_KINDS (sizeof agent_kinds / sizeof *agent_kinds)

const struct agent_kind *agent_login_kind(size_t i)
{
    return i < N_KINDS ? &agent_kinds[i] : NULL;
}

const struct agent_kind *agent_login_kind_of(const struct conf_agent *agent)
{
    const char *const program = agent->command[0] ? agent->command[0] : "";
    const char *const slash = strrchr(program, '/');
    for (size_t i = 0; i < N_KINDS; i++)
        if (strcmp(slash ? slash + 1 : program, agent_kinds[i].name) == 0)
            return &agent_kinds[i];
    return NULL;
}

/* The value of "NAME=value"; NULL: unset or empty. */
static const char *agent_login_get(char *const *env, const char *name, size_t len)
{
    for (; *env; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return (*env)[len + 1] ? *env + len + 1 : NULL;
    return NULL;
}

/* Path of the candidate; owned; NULL: not applicable. */
static char *agent_login_file(char *const *env, const char *file)
{
    const char *const home = agent_login_get(env, "HOME", strlen("HOME"));
    const size_t variable = strcspn(file, ":");
    const char *const base = file[variable] ? agent_login_get(env, file, variable) : NULL;
    if (!file[variable])
        return home ? xasprintf("%s/%s", home, file) : NULL;
    const char *const in_home = file + variable + 1, *const rest = strchr(in_home, ':');
    if (base)
        return xasprintf("%s/%s", base, rest + 1);
    return home ? xasprintf("%s/%.*s/%s", home, (int)(rest - in_home), in_home, rest + 1) : NULL;
}

static bool agent_login_find_in(const struct agent_kind *kind, char *const *env, struct buf *where)
{
    struct stat st;
    for (const char *const *name = kind->variables; *name; name++)
        if (agent_login_get(env, *name, strlen(*name))) {
            buf_add_str(where, *name);
            return true;
        }
    for (const char *const *file = kind->files; *file; file++) {
        CLEANUP_FREE char *path = agent_login_file(env, *file);
        if (path && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
            buf_add_str(where, path);
            return true;
        }
    }
    return false;
}

bool agent_login_find(const struct agent_kind *kind, const struct conf_agent *agent,
                      struct buf *where)
{
    extern char **environ;
    char **const env = launch_build_env(agent, environ, NULL);
    const bool found = agent_login_find_in(kind, env, where);
    launch_free(env);
    return found;
}
