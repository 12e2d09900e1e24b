/* SPDX-License-Identifier: MIT
 * Overflow policy of the backlog: a table of measures, mildest first (coalesce, replace,
 * truncate, drop), applied until the backlog is below three quarters of its limits. Pure. */
#ifndef PLUGIN_QUEUE_OVERFLOW_POLICY_H
#define PLUGIN_QUEUE_OVERFLOW_POLICY_H

#include "plugin/queue/backlog.h"

/* One measure after the other, mildest first, until three quarters of the limits are reached. */
void overflow_policy_apply(struct backlog *b);

#endif
