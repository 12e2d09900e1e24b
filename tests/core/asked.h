/* SPDX-License-Identifier: MIT
 * For tests of requests: clock, turn, agent and memory are played (by the linker), so that every
 * moment is the test's to choose. */
#ifndef TESTS_CORE_ASKED_H
#define TESTS_CORE_ASKED_H

#include "base/bytes/buf.h"
#include "core/request/approvals.h"
#include "core/request/request_registry.h"

struct asked {
    struct buf told;  /* what everybody is told: "ID:DECISION by BY" and, of some, " ANSWERS"; */
    struct buf agent; /* what the agent is told: "ID:allow|deny|answered", then " reason=…" …; */
    struct buf kept;  /* what is remembered: "SCOPE TOOL ARGUMENT"; */
    struct buf noted;       /* what is on record: "TURN ID TOOL ABOUT[ DECISION]"; */
    bool deaf;              /* the agent waits for nothing */
    const char *remembered; /* an argument that approvals knows, or NULL */
};
extern struct asked asked;

/* Forgets all of it. */
void asked_reset(void);
/* Lets time pass; what is due is called, in its order. */
void asked_pass(int64_t ms);
/* Timers that are armed. */
size_t asked_timers(void);
/* For requests_turn_spec.answer. */
int request_api_handle_answer(void *ctx, const struct dialect_answer *answer);
/* A dialect whose requests can be answered. */
extern const struct dialect asked_dialect;

#endif
