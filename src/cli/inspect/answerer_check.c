/* SPDX-License-Identifier: MIT
 * Decides whether anybody can answer an agent's requests. */
#include "cli/inspect/answerer_check.h"

#include <string.h>

#include "dialect/dialect.h"
#include "turn/agent_input.h"

/* Claude Code asks its host only with this option. */
#define CLAUDE_ASKS "--permission-prompt-tool"

static bool has_argument(char *const *args, const char *begin)
{
    for (; *args; args++)
        if (strncmp(*args, begin, strlen(begin)) == 0)
            return true;
    return false;
}

bool answerer_check_agent_asks(const struct conf_agent *agent)
{
    if (!agent_input_can_answer(dialect_find(agent->dialect)))
        return false;
    return strcmp(agent->dialect, "claude") != 0 || has_argument(agent->command, CLAUDE_ASKS);
}

static bool may_answer(const struct conf_instance *inst)
{
    return inst->enabled && (inst->grants & CONF_ANSWER) &&
           ((inst->allow && inst->allow[0]) || inst->chat.pairing);
}

/* `turncast run` has a terminal; a host that people write to usually has none. */
static bool is_served(const struct conf *conf)
{
    for (size_t i = 0; i < conf->n_instances; i++)
        if (conf->instances[i].enabled && (conf->instances[i].grants & CONF_SUBMIT))
            return true;
    return conf->http.listen != NULL;
}

static bool is_key_granted(const struct conf_http *http)
{
    for (size_t i = 0; i < http->n_keys; i++)
        if (http->keys[i].grants & CONF_ANSWER)
            return true;
    return http->n_keys == 0;
}

bool answerer_check_exist(const struct conf *conf)
{
    const bool served = is_served(conf);
    for (size_t i = 0; i < conf->n_instances; i++) {
        const struct conf_instance *const inst = &conf->instances[i];
        if (may_answer(inst) && !(served && strcmp(inst->plugin, "cli") == 0))
            return true;
    }
    return conf->http.listen && is_key_granted(&conf->http);
}

const char *answerer_check_missing(const struct conf *conf, const struct conf_rule *rule)
{
    for (const struct conf_place *to = rule->to; to && to->instance; to++) {
        const struct conf_instance *const inst = conf_instance_find(conf, to->instance);
        if (inst && !may_answer(inst))
            return inst->name;
    }
    return NULL;
}
