/* SPDX-License-Identifier: MIT
 * Writes the metrics of turns and budgets. */
#include "api/metrics/turn_metrics.h"

#include "api/metrics/prometheus.h"

#define LABELS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void add_ended(void *ctx, const struct turn_agent_counts *a)
{
    static const struct prometheus_family f = {"turncast_turns_total", "counter", ""};
    for (unsigned i = TURNLOG_FINAL; i <= TURNLOG_CANCELLED; i++)
        if (a->ended[i])
            prometheus_append_sample(
                ctx, &f, "",
                LABELS("agent", a->name, "outcome", turnlog_state_name((enum turnlog_state)i)),
                (double)a->ended[i]);
}

static void turn_metrics_add_tokens(void *ctx, const struct turn_agent_counts *a)
{
    static const struct prometheus_family f = {"turncast_tokens_total", "counter", ""};
    static const char *const kinds[TURNLOG_TOKENS] = {[TURNLOG_INPUT] = "input",
                                                      [TURNLOG_OUTPUT] = "output",
                                                      [TURNLOG_CACHE_READ] = "cache_read",
                                                      [TURNLOG_CACHE_WRITE] = "cache_write",
                                                      [TURNLOG_REASONING] = "reasoning"};
    for (size_t i = 0; i < TURNLOG_TOKENS; i++)
        prometheus_append_sample(ctx, &f, "", LABELS("agent", a->name, "kind", kinds[i]),
                                 (double)a->tokens[i]);
}

static void add_cost(void *ctx, const struct turn_agent_counts *a)
{
    static const struct prometheus_family f = {"turncast_cost_usd_total", "counter", ""};
    prometheus_append_sample(ctx, &f, "", LABELS("agent", a->name), a->cost_usd);
}

static void add_priced(void *ctx, const struct turn_agent_counts *a)
{
    static const struct prometheus_family f = {"turncast_turns_with_cost_total", "counter", ""};
    prometheus_append_sample(ctx, &f, "", LABELS("agent", a->name), (double)a->priced);
}

static void add_waited(void *ctx, const struct turn_agent_counts *a)
{
    static const struct prometheus_family f = {"turncast_turn_wait_seconds", "histogram", ""};
    prometheus_append_histogram(ctx, &f, LABELS("agent", a->name), &a->times[TURN_TIME_WAITED]);
}

static void add_first(void *ctx, const struct turn_agent_counts *a)
{
    static const struct prometheus_family f = {"turncast_turn_first_text_seconds", "histogram", ""};
    prometheus_append_histogram(ctx, &f, LABELS("agent", a->name), &a->times[TURN_TIME_FIRST]);
}

static void add_total(void *ctx, const struct turn_agent_counts *a)
{
    static const struct prometheus_family f = {"turncast_turn_duration_seconds", "histogram", ""};
    prometheus_append_histogram(ctx, &f, LABELS("agent", a->name), &a->times[TURN_TIME_TOTAL]);
}

static const struct {
    struct prometheus_family family;
    void (*add)(void *ctx, const struct turn_agent_counts *a);
} families[] = {
    {{"turncast_turns_total", "counter", "Turns that have ended, by agent and outcome."},
     add_ended},
    {{"turncast_tokens_total", "counter", "Tokens that agents reported, by kind."},
     turn_metrics_add_tokens},
    {{"turncast_cost_usd_total", "counter", "Cost in US dollars that agents reported."}, add_cost},
    {{"turncast_turns_with_cost_total", "counter", "Ended turns whose agent reported a cost."},
     add_priced},
    {{"turncast_turn_wait_seconds", "histogram", "Time from a message to the start of its turn."},
     add_waited},
    {{"turncast_turn_first_text_seconds", "histogram",
      "Time from the start of a turn to its first text or thought."},
     add_first},
    {{"turncast_turn_duration_seconds", "histogram", "Duration of turns."}, add_total},
};

void turn_metrics_append_turns(struct buf *out, const struct turn_counters *c)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        prometheus_append_header(out, &families[i].family);
        turn_counters_each(c, families[i].add, out);
    }
}

void turn_metrics_append_budgets(struct buf *out, struct budgets *b)
{
    static const struct prometheus_family used = {
        "turncast_budget_used_ratio", "gauge",
        "Used part of the budget of today; of a scope with several, the greatest."};
    static const struct prometheus_family refused = {
        "turncast_budget_refusals_total", "counter",
        "Messages and turns refused because a budget was used up."};
    prometheus_append_header(out, &used);
    for (size_t i = 0; i < CONF_BUDGET_SCOPES; i++)
        prometheus_append_sample(out, &used, "",
                                 LABELS("scope", conf_budget_scope_name((enum conf_budget_scope)i)),
                                 budgets_used(b, (enum conf_budget_scope)i));
    prometheus_append_single(out, &refused, (double)budgets_count_refusals(b));
}
