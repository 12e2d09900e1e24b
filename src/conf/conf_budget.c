/* SPDX-License-Identifier: MIT
 * Section `budgets`: limits of usage per day. */
#include "conf/conf_internal.h"

#define BUDGET(member) offsetof(struct conf_budget, member)
#define BUDGETS(member) offsetof(struct conf_budgets, member)
#define USD_MAX 1000000.0

const char *conf_budget_scope_name(enum conf_budget_scope scope)
{
    static const char *const names[CONF_BUDGET_SCOPES] = {
        [CONF_BUDGET_HOST] = "host",
        [CONF_BUDGET_AGENT] = "agent",
        [CONF_BUDGET_CONVERSATION] = "conversation",
        [CONF_BUDGET_PERSON] = "person",
        [CONF_BUDGET_KEY] = "key",
    };
    return names[scope];
}

/* Reads an amount of dollars, which may have fractions of a cent. */
static int conf_budget_read_usd(const struct conf_row_ctx *r, const struct conf_node *n,
                                const struct conf_row *row, void *target)
{
    if (n->type != NODE_INT && n->type != NODE_REAL)
        return conf_row_error(r, n, "expected a number, found %s; for example 5.0",
                              conf_node_type_name(n->type));
    const double usd = n->type == NODE_INT ? (double)n->value.integer : n->value.real;
    if (!(usd >= 0.000001 && usd <= USD_MAX))
        return conf_row_error(r, n,
                              "%g is out of range; use a number above 0, up to %.0f, or remove the "
                              "key for no limit",
                              usd, USD_MAX);
    *(int64_t *)(void *)((char *)target + row->offset) = (int64_t)(usd * 1e6 + 0.5);
    return 0;
}

static const struct conf_row budget_rows[] = {
    {"usd_per_day", conf_budget_read_usd, BUDGET(micros), 0, 0, NULL},
    {"tokens_per_day", conf_row_int, BUDGET(tokens), 1, INT64_C(1000000000000), NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

static int conf_budget_read_scope(const struct conf_row_ctx *r, const struct conf_node *n,
                                  const struct conf_row *row, void *target)
{
    return conf_row_parse_group(r, n, budget_rows, (char *)target + row->offset);
}

static const struct conf_choice zones[] = {{"local", false}, {"utc", true}, {NULL, 0}};

static int conf_budget_read_zone(const struct conf_row_ctx *r, const struct conf_node *n,
                                 const struct conf_row *row, void *target)
{
    int utc;
    if (conf_row_choice(r, n, &(struct conf_row){.extra = row->extra}, &utc) < 0)
        return -1;
    ((struct conf_budgets *)target)->utc = utc;
    return 0;
}

static const struct conf_row budgets_rows[] = {
    {"time_zone", conf_budget_read_zone, 0, 0, 0, zones},
    {"host", conf_budget_read_scope, BUDGETS(scopes[CONF_BUDGET_HOST]), 0, 0, NULL},
    {"agent", conf_budget_read_scope, BUDGETS(scopes[CONF_BUDGET_AGENT]), 0, 0, NULL},
    {"conversation", conf_budget_read_scope, BUDGETS(scopes[CONF_BUDGET_CONVERSATION]), 0, 0, NULL},
    {"person", conf_budget_read_scope, BUDGETS(scopes[CONF_BUDGET_PERSON]), 0, 0, NULL},
    {"key", conf_budget_read_scope, BUDGETS(scopes[CONF_BUDGET_KEY]), 0, 0, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

int conf_budget_parse_all(const struct conf_row_ctx *r, const struct conf_node *n,
                          const struct conf_row *row, void *target)
{
    return conf_row_parse_group(r, n, budgets_rows, (char *)target + row->offset);
}
