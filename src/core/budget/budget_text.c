/* SPDX-License-Identifier: MIT
 * Formats amounts. */
#include "core/budget/budget_text.h"

#include <inttypes.h>

#include "text/sentence/texts.h"

static double dollars(int64_t micros)
{
    return (double)micros / 1e6;
}

void budget_text_append_state(struct buf *out, const struct budget_state *s, bool tokens)
{
    const char *const scope = conf_budget_scope_name(s->scope);
    buf_printf(out, "%s%s%s%s", scope, *s->name ? " \"" : "", s->name, *s->name ? "\"" : "");
    if (tokens)
        buf_printf(out,
                   ": used today: %" PRId64 " of %" PRId64 " tokens (budgets.%s.tokens_per_day)",
                   s->spent.input + s->spent.output, s->limit.tokens, scope);
    else
        buf_printf(out, ": used today: %.2f of %.2f USD (budgets.%s.usd_per_day)",
                   dollars(s->spent.micros), dollars(s->limit.micros), scope);
}

static void budget_text_append_amount(struct buf *out, const struct budget_refusal *why)
{
    const struct budget_state *const s = &why->state;
    CLEANUP_BUF struct buf spent = {0}, limit = {0};
    texts_append_decimal(&spent, dollars(s->spent.micros), 2);
    texts_append_decimal(&limit, dollars(s->limit.micros), 2);
    if (why->tokens)
        texts_append(out, TEXT_BUDGET_TOKENS,
                     TEXT_VALUES(TEXT_INT("spent", s->spent.input + s->spent.output),
                                 TEXT_INT("limit", s->limit.tokens)));
    else
        texts_append(out, TEXT_BUDGET_MONEY,
                     TEXT_VALUES(TEXT_STR("spent", spent.p), TEXT_STR("limit", limit.p)));
}

void budget_text_append_refusal(struct buf *out, const struct budget_refusal *why)
{
    static const enum text_id sentences[CONF_BUDGET_SCOPES] = {
        [CONF_BUDGET_HOST] = TEXT_BUDGET_HOST,
        [CONF_BUDGET_AGENT] = TEXT_BUDGET_AGENT,
        [CONF_BUDGET_CONVERSATION] = TEXT_BUDGET_CONVERSATION,
        [CONF_BUDGET_PERSON] = TEXT_BUDGET_PERSON,
        [CONF_BUDGET_KEY] = TEXT_BUDGET_KEY,
    };
    CLEANUP_BUF struct buf amount = {0}, time = {0};
    const int64_t minutes = (why->seconds + 59) / 60;
    budget_text_append_amount(&amount, why);
    texts_append(&time, TEXT_TIME_HOURS,
                 TEXT_VALUES(TEXT_INT("h", minutes / 60), TEXT_INT("min", minutes % 60)));
    if (why->state.scope == CONF_BUDGET_AGENT)
        texts_append(out, sentences[why->state.scope],
                     TEXT_VALUES(TEXT_STR("agent", why->state.name), TEXT_STR("amount", amount.p),
                                 TEXT_STR("time", time.p)));
    else
        texts_append(out, sentences[why->state.scope],
                     TEXT_VALUES(TEXT_STR("amount", amount.p), TEXT_STR("time", time.p)));
}
