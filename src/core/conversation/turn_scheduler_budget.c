/* SPDX-License-Identifier: MIT
 * Refuses messages while a budget of today is used up. */
#include "core/budget/budget_text.h"
#include "core/conversation/turn_scheduler_internal.h"

/* A name given by a client of an API does not identify a person. */
const char *conversations_person(struct arena *arena, const struct turn_scheduler_message *m)
{
    return m->user && !turn_scheduler_is_api(m->source)
               ? arena_sprintf(arena, "%s/%s", m->source, m->user)
               : NULL;
}

static void refuse_over_budget(const struct budget_refusal *why, conversations_done *done,
                               void *ctx)
{
    CLEANUP_BUF struct buf text = {0};
    budget_text_append_refusal(&text, why);
    done(ctx, &(struct conversations_result){.accepted = TC_FULL,
                                             .refusal = CONVERSATIONS_BUDGET,
                                             .text = text.p,
                                             .retry_s = why->seconds});
}

bool conversations_refuse_over_budget(const struct turn_scheduler *cs,
                                      const struct turn_scheduler_message *m,
                                      conversations_done *done, void *ctx)
{
    struct arena arena = {0};
    struct budget_refusal why;
    const struct budget_payer payer = {.agent = m->agent->name,
                                       .conversation = m->key,
                                       .person = conversations_person(&arena, m),
                                       .key = m->owner};
    const bool refused = cs->spec.budgets && !budgets_allow(cs->spec.budgets, &payer, &why);
    if (refused)
        refuse_over_budget(&why, done, ctx);
    arena_fini(&arena);
    return refused;
}
