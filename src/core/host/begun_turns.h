/* SPDX-License-Identifier: MIT
 * Turns that agents on other hosts have begun by themselves, in conversations that this host alone
 * can continue, because their source has no leader. The other host stores each in a list of this
 * host on the servers (core/runner/runner_own.c). This host enters the turn in its journal, removes
 * it from the list, and continues it like any turn that another host runs. Loop thread only. */
#ifndef CORE_HOST_BEGUN_TURNS_H
#define CORE_HOST_BEGUN_TURNS_H

#include "core/conversation/turn_scheduler.h"
#include "core/host/instance_leaders.h"

struct begun_turns;

/* NULL if this host is no gateway. */
struct begun_turns *begun_turns_new(const struct leading_parts *parts);
/* Before the bus is freed, or when the host is about to end: what is in the list stays there. NULL
 * is fine. */
void begun_turns_stop(struct begun_turns *b);
/* After the journal was closed. NULL is fine. */
void begun_turns_free(struct begun_turns *b);

#endif
