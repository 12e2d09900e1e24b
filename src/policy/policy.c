/* SPDX-License-Identifier: MIT
 * Evaluates the rules in order. A deny rule that may or may not match prevents later allow
 * rules. */
#include "policy/policy.h"

#include "event/json/json_reader.h"
#include "policy/match_loose.h"
#include "policy/match_strict.h"
#include "policy/tool_argument.h"

/* A call during its evaluation. */
struct policy_call {
    struct arena *arena;
    const char *tool; /* tool name; never NULL */
    struct tool_argument_set args;
};

enum fit { FITS_NOT, FITS, FITS_PERHAPS };

static enum fit fit_deny(const struct policy_call *c, const struct conf_rule *rule,
                         const struct tool_argument *arg)
{
    enum fit fit = arg->unread ? FITS_PERHAPS : FITS_NOT;
    for (size_t i = 0; i < arg->n; i++)
        switch (match_loose_argument(c->arena, rule, arg->kind, arg->texts[i])) {
        case MATCH_YES:
            return FITS;
        case MATCH_UNCERTAIN:
            fit = FITS_PERHAPS;
            break;
        case MATCH_NO:
            break;
        }
    return fit;
}

static enum fit fit_rule(const struct policy_call *c, const struct conf_rule *rule)
{
    const bool allows = rule->action == CONF_ALLOW;
    if (!match_strict_tool(rule->tool, c->tool, allows))
        return FITS_NOT;
    if (rule->match == CONF_ANY)
        return FITS;
    const struct tool_argument arg =
        tool_argument_find(c->arena, &c->args, c->tool, rule->argument);
    if (!allows)
        return fit_deny(c, rule, &arg);
    return arg.clear && match_strict_argument(rule, arg.kind, arg.text) ? FITS : FITS_NOT;
}

static struct policy_decision policy_judge(const struct conf_agent *agent,
                                           const struct policy_call *c)
{
    const struct conf_rule *doubt = NULL;
    for (size_t i = 0; i < agent->n_rules; i++) {
        const struct conf_rule *const rule = &agent->rules[i];
        const enum fit fit = fit_rule(c, rule);
        if (fit == FITS_PERHAPS && !doubt)
            doubt = rule;
        if (fit != FITS)
            continue;
        if (rule->action == CONF_ALLOW && doubt)
            break;
        return (struct policy_decision){(enum policy_action)rule->action, rule};
    }
    return (struct policy_decision){POLICY_ASK, doubt};
}

struct policy_decision policy_evaluate(const struct conf_agent *agent, const char *tool,
                                       const char *args, size_t len)
{
    struct arena arena = {0};
    const struct policy_call c = {&arena, tool ? tool : "",
                                  tool_argument_parse_call(&arena, args, len)};
    const struct policy_decision verdict = policy_judge(agent, &c);
    arena_fini(&arena);
    return verdict;
}

char *policy_approval_key(struct arena *a, const char *tool, const char *args, size_t len)
{
    const struct tool_argument_set call = tool_argument_parse_call(a, args, len);
    const struct tool_argument main = tool_argument_find(a, &call, tool, NULL);
    if (!call.valid || !call.n)
        return NULL;
    if (main.alone && *main.text.p != '{')
        return arena_strndup(a, main.text.p, main.text.len);
    return json_reader_compact_dup(a, (struct str){args, len}, NULL);
}
