/* SPDX-License-Identifier: MIT
 * Adds usage of calls. */
#include "dialect/reader/usage_totals.h"

#include <string.h>

#include "base/bytes/utf8.h"
static void usage_totals_add_count(int64_t *sum, int64_t n)
{
    if (n < 0)
        return;
    if (*sum < 0)
        *sum = n;
    else if (__builtin_add_overflow(*sum, n, sum))
        *sum = INT64_MAX;
}

static void add_real(double *sum, double v)
{
    if (v >= 0)
        *sum = *sum < 0 ? v : *sum + v;
}

static void usage_totals_add_cost(struct usage_totals *t, const struct tc_usage *call)
{
    const char *const currency = call->currency ? call->currency : "";
    add_real(&t->sum.cost_usd, call->cost_usd);
    if (!(call->cost >= 0))
        return;
    if (t->sum.cost < 0)
        utf8_copy_truncated(t->currency, sizeof(t->currency), currency);
    t->mixed |= strcmp(t->currency, currency) != 0;
    add_real(&t->sum.cost, call->cost);
}

static void usage_totals_begin(struct usage_totals *t)
{
    struct event ev;
    event_init(&ev, TC_USAGE);
    t->sum = ev.u.usage;
    t->counted = true;
}

void usage_totals_add(struct usage_totals *t, const struct tc_usage *call)
{
    if (!t->counted)
        usage_totals_begin(t);
    struct tc_usage *const sum = &t->sum;
    usage_totals_add_count(&sum->input_tokens, call->input_tokens);
    usage_totals_add_count(&sum->output_tokens, call->output_tokens);
    usage_totals_add_count(&sum->total_tokens, call->total_tokens);
    usage_totals_add_count(&sum->cache_read_tokens, call->cache_read_tokens);
    usage_totals_add_count(&sum->cache_write_tokens, call->cache_write_tokens);
    usage_totals_add_count(&sum->cache_miss_tokens, call->cache_miss_tokens);
    usage_totals_add_count(&sum->reasoning_tokens, call->reasoning_tokens);
    usage_totals_add_cost(t, call);
    if (call->cache_counted >= 0)
        t->sum.cache_counted = call->cache_counted;
}

void usage_totals_emit(struct usage_totals *t, const struct dialect_sink *out, bool is_error)
{
    struct event ev;
    if (!t->counted)
        return;
    event_init(&ev, TC_USAGE);
    ev.u.usage = t->sum;
    ev.u.usage.scope = "turn";
    ev.u.usage.is_error = is_error;
    ev.u.usage.currency = *t->currency ? t->currency : NULL;
    if (t->mixed) {
        ev.u.usage.cost = -1;
        ev.u.usage.currency = NULL;
    }
    dialect_emit_draft(out, &ev);
    *t = (struct usage_totals){0};
}
