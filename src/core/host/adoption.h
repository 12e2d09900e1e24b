/* SPDX-License-Identifier: MIT
 * Adopts turns of instances that this host leads and whose host is gone: looks through the messages
 * that are stored on the servers (core/work/work_share.h), makes those turns its own, and goes on
 * with them. One that no host has begun begins; of any other one this host waits for the outcome,
 * which is stored or comes from the host that runs it, or is that this host was lost. Behind the
 * start of this host, turns that an earlier life of it has told to their end are marked as told,
 * too. Loop thread only. */
#ifndef CORE_HOST_ADOPTION_H
#define CORE_HOST_ADOPTION_H

#include "core/conversation/turn_scheduler.h"
#include "core/host/guest_turns.h"
#include "core/host/instance_leaders.h"

struct adoption;

/* Turns are shared with other hosts from now on: before the first one begins. NULL without work. */
struct adoption *adoption_new(const struct leading_parts *parts,
                              const struct instance_leaders *leaders, struct guest_turns *guests);
/* This host leads the instance again. `done` is called, at once or later, when what other hosts
 * have told or adopted meanwhile is removed from the journal: then the instance may start. */
void adoption_prepare(struct adoption *a, const char *instance,
                      void (*done)(void *ctx, const char *instance), void *ctx);
/* Before the bus is freed, or when the host is about to end: adopts nothing more. NULL is fine. */
void adoption_stop(struct adoption *a);
/* After the journal was closed. NULL is fine. */
void adoption_free(struct adoption *a);

#endif
