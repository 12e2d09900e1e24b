/* SPDX-License-Identifier: MIT
 * Owns today's sums in memory, one for each name with usage. */
#include "core/budget/budgets.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/log.h"
#include "core/budget/budget_day.h"
#include "core/budget/budget_text.h"

#define WARN_TENTHS 8 /* percentage of a budget at which operators are warned */

struct budget_entry {
    enum conf_budget_scope scope;
    const char *name; /* its name follows the struct */
    struct journal_spent spent;
};

struct budgets {
    struct journal_async *journal;
    const struct conf_budgets *conf;
    int64_t day;
    bool set_back; /* latest day that the clock has shown */
    uint64_t refusals;
    void *tree; /* of search.h */
};

/* ---- the sums ---- */

static int budgets_compare(const void *a, const void *b)
{
    const struct budget_entry *const one = a, *const other = b;
    return one->scope != other->scope ? (one->scope > other->scope) - (one->scope < other->scope)
                                      : strcmp(one->name, other->name);
}

static struct budget_entry *budgets_find(const struct budgets *b, enum conf_budget_scope scope,
                                         const char *name)
{
    const struct budget_entry key = {.scope = scope, .name = name};
    struct budget_entry *const *const found = tfind(&key, &b->tree, budgets_compare);
    return found ? *found : NULL;
}

static struct budget_entry *budgets_find_or_make(struct budgets *b, enum conf_budget_scope scope,
                                                 const char *name)
{
    struct budget_entry *e = budgets_find(b, scope, name);
    if (e)
        return e;
    const size_t size = strlen(name) + 1;
    e = xmalloc(sizeof *e + size);
    *e = (struct budget_entry){.scope = scope, .name = memcpy(e + 1, name, size)};
    alloc_check(tsearch(e, &b->tree, budgets_compare), sizeof(void *));
    return e;
}

static void budgets_load_row(void *ctx, const struct journal_spent_row *row)
{
    for (size_t i = 0; i < CONF_BUDGET_SCOPES; i++)
        if (strcmp(conf_budget_scope_name((enum conf_budget_scope)i), row->scope) == 0)
            budgets_find_or_make(ctx, (enum conf_budget_scope)i, row->name)->spent = row->spent;
}

static void budgets_clear(struct budgets *b, int64_t day)
{
    tdestroy(b->tree, free);
    b->tree = NULL;
    b->day = day;
}

/* Waits for the disk. Sums that the journal cannot read begin at zero; the journal logs the
 * error. */
static void budgets_load(struct budgets *b, int64_t day)
{
    budgets_clear(b, day);
    (void)journal_async_list_spent(b->journal, b->day, budgets_load_row, b);
}

/* Starts a new day with empty sums, unless the clock was set back before and the day is already
 * known. */
static void budgets_begin_day(struct budgets *b)
{
    const int64_t today = budget_day_today(b->conf->utc);
    if (today == b->day)
        return;
    b->set_back |= today < b->day;
    (b->set_back ? budgets_load : budgets_clear)(b, today);
}

/* ---- limits ---- */

static int64_t budget_tokens(const struct journal_spent *s)
{
    return s->input + s->output;
}

static bool budget_reaches(int64_t used, int64_t limit, int64_t tenths)
{
    return limit && used >= limit / 10 * tenths + limit % 10 * tenths / 10;
}

static struct budget_state budget_state_of(const struct budgets *b, const struct budget_entry *e)
{
    return (struct budget_state){e->scope, e->name, e->spent, b->conf->scopes[e->scope]};
}

static bool budget_is_near(const struct budget_state *s)
{
    return budget_reaches(s->spent.micros, s->limit.micros, WARN_TENTHS) ||
           budget_reaches(budget_tokens(&s->spent), s->limit.tokens, WARN_TENTHS);
}

static void budgets_describe(const struct budget_state *s, bool tokens, struct buf *warning)
{
    CLEANUP_BUF struct buf text = {0};
    budget_text_append_state(&text, s, tokens);
    log_write(LOG_WARN, "budget", "%s", text.p);
    if (warning)
        buf_printf(warning, "%s%s", warning->len ? "; " : "", text.p);
}

/* Warns once at 80 %, and once when the budget is used up. */
static void budgets_warn(const struct budget_state *before, const struct budget_state *now,
                         struct buf *warning)
{
    static const int64_t steps[] = {WARN_TENTHS, 10};
    bool money = false, tokens = false;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        money |= !budget_reaches(before->spent.micros, now->limit.micros, steps[i]) &&
                 budget_reaches(now->spent.micros, now->limit.micros, steps[i]);
        tokens |= !budget_reaches(budget_tokens(&before->spent), now->limit.tokens, steps[i]) &&
                  budget_reaches(budget_tokens(&now->spent), now->limit.tokens, steps[i]);
    }
    if (money)
        budgets_describe(now, false, warning);
    if (tokens)
        budgets_describe(now, true, warning);
}

static const char *budget_payer_name(const struct budget_payer *p, enum conf_budget_scope scope)
{
    switch (scope) {
    case CONF_BUDGET_HOST:
        return "";
    case CONF_BUDGET_AGENT:
        return p->agent;
    case CONF_BUDGET_CONVERSATION:
        return p->conversation;
    case CONF_BUDGET_PERSON:
        return p->person;
    case CONF_BUDGET_KEY:
        return p->key;
    }
    return NULL;
}

bool budgets_allow(struct budgets *b, const struct budget_payer *payer, struct budget_refusal *why)
{
    budgets_begin_day(b);
    for (size_t i = 0; i < CONF_BUDGET_SCOPES; i++) {
        const char *const name = budget_payer_name(payer, (enum conf_budget_scope)i);
        const struct budget_entry *const e =
            name ? budgets_find(b, (enum conf_budget_scope)i, name) : NULL;
        if (!e)
            continue;
        *why = (struct budget_refusal){.state = budget_state_of(b, e)};
        const struct conf_budget *const limit = &why->state.limit;
        const bool money = budget_reaches(e->spent.micros, limit->micros, 10);
        why->tokens = !money && budget_reaches(budget_tokens(&e->spent), limit->tokens, 10);
        why->seconds = budget_day_remaining_s(b->conf->utc);
        if (!money && !why->tokens)
            continue;
        b->refusals++;
        return false;
    }
    return true;
}

uint64_t budgets_count_refusals(const struct budgets *b)
{
    return b->refusals;
}

static void budget_spent_add(struct journal_spent *to, const struct journal_spent *s)
{
    to->turns += s->turns;
    to->counted += s->counted;
    to->input += s->input;
    to->output += s->output;
    to->priced += s->priced;
    to->micros += s->micros;
}

void budgets_add(struct budgets *b, const struct budget_payer *payer, struct journal_spent *spent,
                 struct buf *warning)
{
    budgets_begin_day(b);
    spent->day = b->day;
    for (size_t i = 0; i < CONF_BUDGET_SCOPES; i++) {
        const char *const name = budget_payer_name(payer, (enum conf_budget_scope)i);
        if (!name || (i != CONF_BUDGET_HOST && !*name))
            continue;
        struct budget_entry *const e = budgets_find_or_make(b, (enum conf_budget_scope)i, name);
        const struct budget_state before = budget_state_of(b, e);
        budget_spent_add(&e->spent, spent);
        const struct budget_state now = budget_state_of(b, e);
        budgets_warn(&before, &now, warning);
    }
}

/* ---- reading ---- */

struct budget_walk {
    const struct budgets *budgets;
    void (*each)(void *ctx, const struct budget_state *s);
    void *ctx;
    enum conf_budget_scope scope; /* used tokens and cost */
    double used;
};

static void budgets_on_node(const void *node, VISIT order, void *closure)
{
    const struct budget_walk *const w = closure;
    if (order != postorder && order != leaf)
        return;
    const struct budget_state s =
        budget_state_of(w->budgets, *(const struct budget_entry *const *)node);
    if (s.scope <= CONF_BUDGET_AGENT || budget_is_near(&s))
        w->each(w->ctx, &s);
}

void budgets_each(struct budgets *b, void (*each)(void *ctx, const struct budget_state *s),
                  void *ctx)
{
    struct budget_walk w = {.budgets = b, .each = each, .ctx = ctx};
    budgets_begin_day(b);
    twalk_r(b->tree, budgets_on_node, &w);
}

static double budget_part(int64_t used, int64_t limit)
{
    return limit ? (double)used / (double)limit : 0;
}

static void budgets_measure(const void *node, VISIT order, void *closure)
{
    struct budget_walk *const w = closure;
    const struct budget_entry *const e = *(const struct budget_entry *const *)node;
    if ((order != postorder && order != leaf) || e->scope != w->scope)
        return;
    const struct conf_budget *const limit = &w->budgets->conf->scopes[e->scope];
    const double parts[] = {budget_part(e->spent.micros, limit->micros),
                            budget_part(budget_tokens(&e->spent), limit->tokens)};
    for (size_t i = 0; i < 2; i++)
        if (parts[i] > w->used)
            w->used = parts[i];
}

double budgets_used(struct budgets *b, enum conf_budget_scope scope)
{
    const struct conf_budget *const limit = &b->conf->scopes[scope];
    struct budget_walk w = {.budgets = b, .scope = scope};
    if (!limit->micros && !limit->tokens)
        return -1;
    budgets_begin_day(b);
    twalk_r(b->tree, budgets_measure, &w);
    return w.used;
}

/* ---- create and free ---- */

/* Loads the sums that are near their limit at the start; others are reported when they come
 * near. */
static void budgets_warn_near_limit(void *ctx, const struct budget_state *s)
{
    (void)ctx;
    if (budget_reaches(s->spent.micros, s->limit.micros, WARN_TENTHS))
        budgets_describe(s, false, NULL);
    if (budget_reaches(budget_tokens(&s->spent), s->limit.tokens, WARN_TENTHS))
        budgets_describe(s, true, NULL);
}

struct budgets *budgets_new(struct journal_async *journal, const struct conf_budgets *conf)
{
    struct budgets *const b = xcalloc(1, sizeof *b);
    b->journal = journal;
    b->conf = conf;
    budgets_load(b, budget_day_today(conf->utc));
    budgets_each(b, budgets_warn_near_limit, NULL);
    return b;
}

void budgets_set_conf(struct budgets *b, const struct conf_budgets *conf)
{
    b->conf = conf;
}

void budgets_free(struct budgets *b)
{
    if (b)
        tdestroy(b->tree, free);
    free(b);
}
