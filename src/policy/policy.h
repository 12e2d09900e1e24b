/* SPDX-License-Identifier: MIT
 * Approval policy: decides by the rules of the configuration whether a tool call is allowed, denied
 * or put to people. The first matching rule decides; without one, people are asked. An allow rule
 * matches only if every reader interprets the argument in the same way; deny and ask rules match if
 * any reader might. Pure. ⏎ */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "base/arena.h"
#include "conf/conf.h"

enum policy_action { POLICY_ASK = CONF_ASK, POLICY_ALLOW = CONF_ALLOW, POLICY_DENY = CONF_DENY };

struct policy_decision {
    enum policy_action action;
    /* The deciding rule, or NULL: none. With the action ask, this may be a deny rule: whether it
     * matches is uncertain, so no later rule may allow. */
    const struct conf_rule *rule;
};

/* `tool` may be NULL. `args` is the text of a JSON object, or NULL. */
struct policy_decision policy_evaluate(const struct conf_agent *agent, const char *tool,
                                       const char *args, size_t len);
/* The key under which approvals of a call are stored: its main argument if that is unambiguous and
 * determines the effect, otherwise all arguments as compact JSON (which begins with a brace, unlike
 * any main argument). NULL: no arguments, so the approval cannot be stored. In the arena. */
char *policy_approval_key(struct arena *a, const char *tool, const char *args, size_t len);

#endif
