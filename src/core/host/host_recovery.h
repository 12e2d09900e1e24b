/* SPDX-License-Identifier: MIT
 * Recovery after a crash or stop of the previous host: kills leftover agents, ends interrupted
 * turns with error host_restart, requeues waiting messages. Loop thread only. */
#ifndef CORE_HOST_HOST_RECOVERY_H
#define CORE_HOST_HOST_RECOVERY_H

#include "base/attr.h"
#include "base/sys/err.h"
#include "core/conversation/turn_scheduler.h"

/* Before dispatch_resume_deliveries, which then tells what this lays. Without conversations (NULL)
 * messages go on waiting for a host that has them. In the turn log (or NULL) turns that are ended
 * are found by clients that come back. -1 with err: the journal cannot be read. */
int host_recovery_run(struct journal_async *journal, struct dispatch *dispatch,
                      struct turn_scheduler *conversations, struct turnlog *turnlog,
                      struct tc_err *err) MUST_CHECK;

#endif
