/* SPDX-License-Identifier: MIT
 * Events for tests, made and compared row by row of the field tables: a new field is tested
 * without a line of test code. */
#ifndef TESTS_EVENT_SPECIMEN_H
#define TESTS_EVENT_SPECIMEN_H

#include "event/event.h"

/* A draft of the kind with every member set to a value of its own; text is in the arena. */
void specimen_fill(struct event *ev, enum tc_kind kind, struct arena *a);
/* A draft in which nothing is said but what the kind needs and the envelope. */
void specimen_bare(struct event *ev, enum tc_kind kind);
/* NULL, or the name of the first thing in which they differ. */
const char *specimen_differ(const struct event *a, const struct event *b);

#endif
