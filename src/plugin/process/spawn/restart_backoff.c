/* SPDX-License-Identifier: MIT
 * Computes the back-off between restarts, and the state of the circuit breaker. */
#include "plugin/process/spawn/restart_backoff.h"

/* Whether the oldest of the last deaths is recent. */
static bool has_frequent_deaths(const struct restart_backoff *r, int64_t now)
{
    return r->deaths >= REVIVAL_DEATHS &&
           now - r->died[r->deaths % REVIVAL_DEATHS] < REVIVAL_WINDOW_MS;
}

int64_t restart_backoff_record_death(struct restart_backoff *r, int64_t began, int64_t now)
{
    restart_backoff_check_recovery(r, began, now);
    r->died[r->deaths++ % REVIVAL_DEATHS] = now;
    const int64_t doubled = r->delay_ms ? 2 * r->delay_ms : REVIVAL_FIRST_MS;
    r->open = r->open || has_frequent_deaths(r, now);
    r->delay_ms = r->open || doubled > REVIVAL_MAX_MS ? REVIVAL_MAX_MS : doubled;
    return r->delay_ms;
}

bool restart_backoff_check_recovery(struct restart_backoff *r, int64_t began, int64_t now)
{
    if (!r->deaths || now - began < REVIVAL_WINDOW_MS)
        return false;
    const bool news = r->open;
    *r = (struct restart_backoff){0};
    return news;
}
