/* SPDX-License-Identifier: MIT
 * Decides a request without a person: by the approval rules of the agent, or by a remembered
 * approval. */
#include <string.h>

#include "core/request/approvals.h"
#include "core/request/request_internal.h"
#include "text/sentence/texts.h"
#include "policy/policy.h"

static void decide_soon(struct request *q, bool allow, const char *by, const char *reason)
{
    request_move(q, REQUEST_ON_DECIDE);
    q->by = by;
    q->soon = (struct dialect_answer){
        .request_id = q->id,
        .decision = allow ? DIALECT_ALLOW : DIALECT_DENY,
        .reason = reason,
    };
}

static bool is_remembered(const struct request *q)
{
    const struct request_turn *const t = q->turn;
    struct approvals *const a = t->registry->spec.approvals;
    return a && q->argument &&
           approvals_match(a, t->spec.agent->name, t->conversation, t->id, q->tool, q->argument);
}

/* Rules decide only approvals of tool calls; questions need a person. */
static void judge_approval(struct request *q)
{
    const size_t len = q->args ? strlen(q->args) : 0;
    const struct policy_decision v = policy_evaluate(q->turn->spec.agent, q->tool, q->args, len);
    q->argument = q->tool ? policy_approval_key(&q->arena, q->tool, q->args, len) : NULL;
    if (v.action == POLICY_ALLOW)
        decide_soon(q, true, "policy", NULL);
    else if (v.action == POLICY_DENY)
        decide_soon(q, false, "policy", texts_get(TEXT_DENIED_BY_RULE));
    else if (is_remembered(q))
        decide_soon(q, true, "an earlier \"always allow\" decision", NULL);
    else if (v.rule && v.rule->action == CONF_ASK)
        request_limit_places(q, v.rule->to);
    q->four_eyes = q->turn->spec.agent->four_eyes || (v.rule && v.rule->four_eyes);
}

void request_apply_policy(struct request *q)
{
    if (strcmp(q->kind, "approval") == 0)
        judge_approval(q);
    if (q->state == REQUEST_NEW && q->turn->registry->spec.unattended)
        decide_soon(q, false, "host", texts_get(TEXT_DENIED_UNATTENDED));
    if (q->state == REQUEST_NEW && q->turn->n_open > REQUESTS_OPEN)
        decide_soon(q, false, "host", texts_get(TEXT_DENIED_TOO_MANY));
}
