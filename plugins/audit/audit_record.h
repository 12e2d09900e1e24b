/* SPDX-License-Identifier: MIT
 * Fields of a record before it is sealed (AuditReporter format). */
#ifndef AUDIT_RECORD_H
#define AUDIT_RECORD_H

#include <turncast/plugin.h>

#include "audit_buf.h"

/* Appends the keys of the AuditReporter: timestamp … policy_rule, and "hidden". */
void record_head(struct out *o, const struct tc_turn *turn, const struct tc_event *ev);
/* The same for a record of the log about itself, at unix time `now`; detail is a JSON object. */
void record_own_head(struct out *o, double now, const char *event_type, const char *detail);
/* Appends the canonical event; above `max` bytes, only its begin and end, as text. */
void record_event(struct out *o, const char *line, size_t len, size_t max);

#endif
