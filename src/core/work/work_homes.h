/* SPDX-License-Identifier: MIT
 * Releases the homes of this host's conversations: their next turns run on any host with a free
 * slot, in a new session. Iterates over the bucket once; conversations that get their home here
 * later keep it. Loop thread only. */
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
