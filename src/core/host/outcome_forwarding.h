/* SPDX-License-Identifier: MIT
 * Outcomes for instances that another host leads: gives them to that host, which tells them, and
 * takes those of other hosts. An outcome stays in the journal of this host until the other one has
 * it in its journal; a turn that the other one knows is not told again. What cannot be given stays,
 * and is tried again, or is told by this host when it leads the instance. Loop thread only. */
#ifndef CORE_HOST_OUTCOME_FORWARDING_H
#define CORE_HOST_OUTCOME_FORWARDING_H

#include "core/host/guest_turns.h"
#include "core/host/instance_leaders.h"
#include "core/host/request_forwarding.h"
#include "core/work/work.h"
#include "io/journal/journal_async.h"

struct outcome_forwarding;

struct outcome_forwarding *outcome_forwarding_new(const struct leading_parts *parts,
                                                  const struct instance_leaders *leaders,
                                                  struct guest_turns *guests,
                                                  const struct request_forwarding *requests);
/* An outcome (its canonical line) is about to be laid for an instance that stands by. */
void outcome_forwarding_add(struct outcome_forwarding *f, const char *instance, const char *turn,
                            struct str line);
/* Other instances may stand by: what the journal has for them is given, too. */
void outcome_forwarding_update(struct outcome_forwarding *f);
/* Before the leaders and the bus are freed: gives and takes nothing more. NULL is fine. */
void outcome_forwarding_stop(struct outcome_forwarding *f);
/* After the bus was freed and the journal closed. NULL is fine. */
void outcome_forwarding_free(struct outcome_forwarding *f);

#endif
