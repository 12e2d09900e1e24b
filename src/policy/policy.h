/* SPDX-License-Identifier: MIT
 * What the configuration says to a call that an agent asks leave for: allow, deny, or ask. The
 * first rule that fits decides; where none does, somebody is asked. A rule that allows takes only
 * what every reader takes for the same thing; one that denies or asks takes what any might. Pure.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "base/arena.h"
#include "conf/conf.h"

enum policy_action { POLICY_ASK = CONF_ASK, POLICY_ALLOW = CONF_ALLOW, POLICY_DENY = CONF_DENY };

struct policy_decision {
    enum policy_action action;
    /* The rule that led to it, or NULL: none. Where the action is to ask, it may be one that
     * denies: it could not be told whether it fits, so nothing behind it may allow. */
    const struct conf_rule *rule;
};

/* `tool` may be NULL. `args` is the text of a JSON object, or NULL. */
struct policy_decision policy_evaluate(const struct conf_agent *agent, const char *tool,
                                       const char *args, size_t len);
/* What a call is remembered by: its main argument where that is clear and says what will be done,
 * else all its arguments as compact JSON (which begins with a brace, as no main argument does).
 * NULL: there are none, so it cannot be remembered. In the arena. */
char *policy_approval_key(struct arena *a, const char *tool, const char *args, size_t len);

#endif
