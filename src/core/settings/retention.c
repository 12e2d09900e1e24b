/* SPDX-License-Identifier: MIT
 * Converts days, hours and MiB to the journal's units: milliseconds and bytes. */
#include "core/settings/retention.h"

#define HOUR_MS ((int64_t)3600 * 1000)
#define DAY_MS (24 * HOUR_MS)

struct journal_limits retention_limits(const struct conf_retention *r)
{
    return (struct journal_limits){
        .age = r->undelivered_hours * HOUR_MS,
        .keep_age = r->turns_days * DAY_MS,
        .rows = r->undelivered,
        .bytes = r->undelivered_mb << 20,
        .result_bytes = r->results_mb << 20,
        .dead_age = r->dead_days * DAY_MS,
        .dead_rows = r->dead_letters,
        .dead_bytes = r->dead_mb << 20,
        .spent_age = r->usage_days * DAY_MS,
        .conversation_age = r->conversations_days * DAY_MS,
    };
}
