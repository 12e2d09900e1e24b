/* SPDX-License-Identifier: MIT
 * Turns of other hosts ("guests") at the instances that this host leads: follows their events and
 * shows them there, with the requests of their agents. The outcome is not taken from these events:
 * the host of the turn sends it as a message (core/host/outcome_forwarding.h), so that an instance
 * shows it once.
 * What an instance remembers of a guest is stored by the host of the turn, so that the next leader
 * goes on in the same messages. Loop thread only. Every function takes NULL. */
#ifndef CORE_HOST_GUEST_TURNS_H
#define CORE_HOST_GUEST_TURNS_H

#include "core/host/instance_leaders.h"
#include "core/turnlog/turnlog.h"
#include "core/work/work_hosts.h"
#include "io/journal/journal_async.h"

struct guest_turns;

/* Borrowed. */
struct guest_turns_spec {
    struct loop *loop;
    struct bus *bus;
    const struct work_hosts *hosts;
    struct work *work; /* or NULL: no turns are shared */
    struct turnlog *turnlog;
    struct journal_async *journal;
    struct dispatch *dispatch;
    const struct instance_leaders *leaders;
};

struct guest_turns *guest_turns_new(const struct guest_turns_spec *spec);
/* An instance that this host leads remembers this of a turn; NULL: nothing. No effect for a turn of
 * this host. */
void guest_turns_remember(struct guest_turns *g, const char *instance, const char *turn,
                          const char *text);
/* The newest text of that kind of a turn that is shown here; NULL: there is none, or no such turn.
 */
const char *guest_turns_memory(const struct guest_turns *g, const char *instance, const char *turn);
/* The outcome is in the journal for the instance. True: the instance shows the turn, and gets the
 * outcome soon. */
bool guest_turns_end(struct guest_turns *g, const char *instance, const char *turn,
                     struct str line);
/* Ends the guest turn without an outcome; the messages of the instance stay as they are. instance
 * NULL: all guest turns. */
void guest_turns_end_without_outcome(struct guest_turns *g, const char *instance, const char *turn);
/* The same for all turns, from now on: the host is about to end. */
void guest_turns_retire(struct guest_turns *g);
/* Before the bus is freed. */
void guest_turns_stop(struct guest_turns *g);
/* After the bus was freed and the journal closed. */
void guest_turns_free(struct guest_turns *g);

#endif
