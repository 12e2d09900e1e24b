/* SPDX-License-Identifier: MIT
 * Overflow policy of the backlog: a table of measures, mildest first (coalesce, replace,
 * truncate, drop), applied until the backlog is below three quarters of its limits. Pure. */
#ifndef PLUGIN_QUEUE_OVERFLOW_POLICY_H
#define PLUGIN_QUEUE_OVERFLOW_POLICY_H

#include "plugin/queue/backlog.h"

/* Applies one measure after the other, until the backlog is below three quarters of its limits. */
void overflow_policy_apply(struct backlog *b);

#endif
