/* SPDX-License-Identifier: MIT
 * Tests of core/budget/budgets.h: above a budget no turn begins until the next day, also after a
 * restart. */
#include "core/budget/budgets.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/budget/budget_text.h"
#include "core/budget/turn_spending.h"
#include "tap/tap.h"

#define NOON 1795780800 /* 2026-11-27 12:00 UTC */

static struct conf_budgets conf = {
    .utc = true,
    .scopes = {[CONF_BUDGET_HOST] = {.micros = 10000000},
               [CONF_BUDGET_AGENT] = {.tokens = 1000},
               [CONF_BUDGET_PERSON] = {.micros = 5000000},
               [CONF_BUDGET_KEY] = {.micros = 1000000, .tokens = 50}},
};
static const struct budget_payer ann = {.agent = "a", .conversation = "tg:1", .person = "tg/ann"};
static const struct budget_payer bob = {.agent = "a", .conversation = "tg:2", .person = "tg/bob"};
static const struct budget_payer ci = {.agent = "b", .conversation = "http:ci", .key = "ci"};
static struct loop *loop;
static struct journal_async *journal;
static struct budgets *budgets;
static int turns;
static char log_path[600];

static void open_all(void)
{
    struct tc_err err = {0};
    journal = journal_async_open(loop, tap_tmpdir(), NULL, NULL, &err);
    if (!journal)
        bail("%s", err_format(&err));
    budgets = budgets_new(journal, &conf);
}

static void restart(void)
{
    journal_async_close(journal);
    budgets_free(budgets);
    open_all();
}

/* A turn of the payer ends with that cost; returns the warning. */
static const char *spend(const struct budget_payer *p, int64_t micros, int64_t tokens)
{
    static struct buf warning;
    char id[20];
    snprintf(id, sizeof id, "t%d", turns++);
    buf_reset(&warning);
    struct journal_spent spent = {.turns = 1,
                                  .counted = 1,
                                  .input = tokens - tokens / 3,
                                  .output = tokens / 3,
                                  .priced = 1,
                                  .micros = micros};
    budgets_add(budgets, p, &spent, &warning);
    journal_async_admit_turn(journal,
                             &(struct journal_turn){.id = id,
                                                    .agent = p->agent,
                                                    .conv = p->conversation,
                                                    .source = "tg",
                                                    .person = p->person,
                                                    .owner = p->key},
                             NULL, NULL);
    journal_async_end_turn(journal, &(struct journal_outcome){.turn = id, .spent = &spent}, NULL,
                           NULL);
    return warning.len ? warning.p : "";
}

static const char *refused(const struct budget_payer *p)
{
    static struct buf text;
    struct budget_refusal why;
    buf_reset(&text);
    if (!budgets_allow(budgets, p, &why))
        budget_text_append_refusal(&text, &why);
    return text.len ? text.p : "";
}

static bool is_logged(const char *text)
{
    char *const all = tap_slurp(log_path, NULL);
    const bool found = strstr(all, text) != NULL;
    free(all);
    return found;
}

static void add_name(void *ctx, const struct budget_state *s)
{
    buf_printf(ctx, "%s%s ", conf_budget_scope_name(s->scope), s->name);
}

/* "SCOPE NAME " of each budget that is reported. */
static const char *reported(void)
{
    static struct buf names;
    buf_reset(&names);
    budgets_each(budgets, add_name, &names);
    return names.len ? names.p : "";
}

static bool has_words(const char *names)
{
    return strstr(names, "host ") && strstr(names, "agenta ") && strstr(names, "persontg/ann ") &&
           !strstr(names, "tg/bob");
}

static void test_person(void)
{
    is_str(refused(&ann), "", "a user without costs is allowed");
    is_str(spend(&ann, 3999999, 10), "", "below 80 %% no warning is written");
    is_str(spend(&ann, 1, 0),
           "person \"tg/ann\": used today: 4.00 of 5.00 USD"
           " (budgets.person.usd_per_day)",
           "at 80 %% a warning is written");
    is_str(spend(&ann, 500000, 0), "", "the warning is written once");
    is_str(refused(&ann), "", "above 80 %% the rest of the budget may be used");
    has_str(spend(&ann, 500000, 0), "5.00 of 5.00 USD", "at 100 %% a warning is written");
    is_str(refused(&ann),
           "Your budget for today is used up ($5.00 of $5.00), so your message was not accepted. "
           "A new budget begins in 12 h 0 min; please send it again then.",
           "a user whose budget is used up is refused");
    is_str(refused(&bob), "", "another user is allowed");
    ok(has_words(reported()),
       "budgets of the host, of each agent, and of users near the limit are reported");
    restart();
    ok(!is_logged("agent \"a\": used today"),
       "a restart warns of no budget that is far from its limit");
    has_str(refused(&ann), "Your budget for today", "the user is refused after a restart");
    is_str(refused(&bob), "", "the other user is allowed after a restart");
}

static void test_key(void)
{
    has_str(spend(&ci, 100, 49), "key \"ci\": used today: 49 of 50 tokens",
            "at 98 %% of the tokens of a key a warning is written");
    is_str(refused(&ci), "", "a key with one token left is allowed");
    spend(&ci, 0, 1);
    has_str(refused(&ci), "(50 of 50 tokens)", "a key without tokens is refused");
    is_int((int)(budgets_used(budgets, CONF_BUDGET_KEY) * 100), 100,
           "the used share of the key's budget is 100 %%");
    ok(budgets_used(budgets, CONF_BUDGET_CONVERSATION) < 0,
       "a scope without a budget has no used share");
}

static void test_host_and_agent(void)
{
    has_str(spend(&bob, 4999900, 0), "host: used today: 10.00 of 10.00 USD",
            "the cost of all users counts towards the budget of the host");
    has_str(refused(&bob), "Today's budget is used up ($10.00 of $10.00)",
            "every user is refused when the budget of the host is spent");
    conf.scopes[CONF_BUDGET_HOST].micros = 0;
    is_str(refused(&bob), "", "after the limit is removed the user is allowed");
    spend(&bob, 0, 990);
    has_str(refused(&bob), "budget of the agent a is used up (1000 of 1000 tokens)",
            "an agent whose tokens are spent is refused");
}

static void test_next_day(void)
{
    clock_fake(0, NOON + 12 * 3600 - 1);
    ok(*refused(&ann), "the budget is still spent in the last second of the day");
    clock_fake(0, NOON + 12 * 3600);
    is_int((int)(budgets_used(budgets, CONF_BUDGET_PERSON) * 100), 0,
           "nothing of the budget of the next day is used");
    is_str(refused(&ann), "", "the user is allowed on the next day");
    spend(&ann, 5000000, 0);
    ok(*refused(&ann), "the budget of the next day can be spent, too");
    clock_fake(0, NOON);
    ok(*refused(&ci), "after the clock was set back the cost of that day counts");
    clock_fake(0, NOON + 12 * 3600);
    ok(*refused(&ann), "after the clock was set forward the cost of the later day counts");
    is_str(refused(&ci), "", "a user without cost on that day is allowed");
    clock_fake(0, NOON);
    restart();
}

static void test_report(void)
{
    struct turn_spending s = {.budgets = budgets, .payer = {.agent = "x", .conversation = "c"}};
    struct journal_spent more;
    ok(turn_spending_count(&s, STR(""), &more, NULL), "a turn without usage is counted");
    is_int(more.turns, 1, "a turn without usage counts as one turn");
    is_int(more.priced, 0, "a turn without usage has no cost");
    is_int(more.day, 20261127, "a turn without usage counts for today");
    ok(turn_spending_count(&s, STR("{\"input_tokens\":5,\"cost_usd\":0.25}"), &more, NULL),
       "usage that is reported later is counted");
    is_int(more.turns, 0, "later usage is not another turn");
    is_int(more.micros, 250000, "the cost of later usage is counted");
    ok(turn_spending_count(&s, STR("{\"input_tokens\":12,\"output_tokens\":3,\"cost_usd\":0.25}"),
                           &more, NULL),
       "increased usage is counted");
    is_int(more.input, 7, "the increase of the input tokens is counted");
    is_int(more.output, 3, "the increase of the output tokens is counted");
    is_int(more.micros, 0, "an unchanged cost is not counted again");
    ok(!turn_spending_count(&s, STR("{\"input_tokens\":12,\"output_tokens\":3,\"cost_usd\":0.25}"),
                            &more, NULL),
       "unchanged usage is not counted");
    s.budgets = NULL;
    ok(!turn_spending_count(&s, STR("{\"input_tokens\":9}"), &more, NULL),
       "without budgets usage is not counted");
}

static void test_other_conf(void)
{
    static const struct conf_budgets other = {
        .utc = true, .scopes = {[CONF_BUDGET_CONVERSATION] = {.tokens = 1}}};
    spend(&bob, 0, 1);
    budgets_set_conf(budgets, &other);
    has_str(refused(&bob), " of 1 token", "a reload replaces the budgets");
    budgets_set_conf(budgets, &conf);
}

int main(void)
{
    plan_lazy();
    snprintf(log_path, sizeof log_path, "%s/log", tap_tmpdir());
    const int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    log_setup(LOG_TEXT, LOG_WARN, log);
    loop = loop_new();
    clock_fake(0, NOON);
    open_all();
    test_person();
    test_key();
    test_host_and_agent();
    test_next_day();
    test_report();
    test_other_conf();
    journal_async_close(journal);
    budgets_free(budgets);
    loop_free(loop);
    ok(is_logged("person \"tg/ann\": used today: 4.00 of 5.00 USD"), "warnings are logged");
    clock_fake_end();
    close(log);
    return 0;
}
