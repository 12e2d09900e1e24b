/* SPDX-License-Identifier: MIT
 * Day boundaries of budgets, in the time zone of the process (TZ) or in UTC. */
#ifndef CORE_BUDGET_BUDGET_DAY_H
#define CORE_BUDGET_BUDGET_DAY_H

#include <stdbool.h>
#include <stdint.h>

/* Today as a number: 20261127. */
int64_t budget_day_today(bool utc);
/* Seconds until the next day; at least 1. A day with a change to summer time is shorter. */
int64_t budget_day_remaining_s(bool utc);

#endif
