/* SPDX-License-Identifier: MIT
 * Gives up the homes of this host's conversations: their next turns run wherever there is a slot,
 * in a new session. Goes through the bucket entry by entry, once; what becomes at home here later
 * stays. Loop thread only. */
#ifndef CORE_WORK_WORK_HOMES_H
#define CORE_WORK_WORK_HOMES_H

#include "core/bus/bus_link.h"

struct work_homes;

/* Begins, or waits for the link to be active. */
struct work_homes *work_homes_release(struct bus_link *link);
/* The link has become active: goes on. */
void work_homes_resume(struct work_homes *h);
/* Before the client; breaks it off. NULL is fine. */
void work_homes_free(struct work_homes *h);

#endif
