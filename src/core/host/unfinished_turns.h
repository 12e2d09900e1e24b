/* SPDX-License-Identifier: MIT
 * Corrects the published states of turns that an earlier life of this host has ended. A host that
 * is killed in the moment of a turn's end has the end in its journal, but may not have published
 * it: other hosts would show the turn as running, and their viewers would wait, for as long as the
 * servers keep the state. Loop thread only. */
#ifndef CORE_HOST_UNFINISHED_TURNS_H
#define CORE_HOST_UNFINISHED_TURNS_H

#include "core/bus/bus.h"
#include "io/journal/journal_async.h"

struct unfinished_turns;

/* Borrows both. */
struct unfinished_turns *unfinished_turns_new(struct bus *bus, struct journal_async *journal);
/* Before the bus is freed: publishes nothing more. */
void unfinished_turns_stop(struct unfinished_turns *u);
/* After the journal was closed, which completes pending reads. */
void unfinished_turns_free(struct unfinished_turns *u);

#endif
