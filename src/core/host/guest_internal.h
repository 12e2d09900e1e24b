/* SPDX-License-Identifier: MIT
 * Internal interface between guest_turns.c (which turns are shown), guest_turn.c (one of them at
 * one instance) and guest_memory.c (what instances remember). Loop thread only. */
#ifndef CORE_HOST_GUEST_INTERNAL_H
#define CORE_HOST_GUEST_INTERNAL_H

#include <sys/queue.h>

#include "base/attr.h"
#include "core/bus/bus_reader.h"
#include "core/dispatch/dispatch.h"
#include "core/host/guest_turns.h"
#include "core/turnlog/turnlog.h"

#define GUEST_ABOUT "about"       /* verb: what the host of a turn knows for the instance */
#define GUEST_REMEMBER "remember" /* verb: what the instance remembers */

/* A turn of another host at one instance. */
struct guest_turn {
    LIST_ENTRY(guest_turn) next;
    struct guest_turns *all;
    struct arena arena; /* owns these texts */
    const char *id, *host, *instance;
    bool is_part;               /* the instance receives only requests that are sent to it */
    char *memory, *route;       /* or NULL */
    bool awaits_reply;          /* an answer of the other host, or of the journal, is awaited */
    struct dispatch_turn *turn; /* NULL: not open yet, or no more */
    struct bus_reader *reader;
    bool has_started, starts_again;
    bool has_reached; /* the outcome, or the end of what can be read */
    bool is_over;     /* to be freed: at once, or when it is not asked any more */
    struct buf outcome;
    struct loop_timer *timer;
};

/* Text that is to be stored by the host of the turn. */
struct guest_memory {
    LIST_ENTRY(guest_memory) next;
    struct guest_turns *all;
    char *instance, *turn;
    char *text;        /* or NULL: nothing is remembered */
    bool awaits_reply; /* the answer of the host is awaited */
    bool is_changed;   /* meanwhile */
};

struct guest_turns {
    struct guest_turns_spec spec;
    struct bus_link *link;
    struct bus_watcher *active;
    struct turnlog_watcher *watcher;
    LIST_HEAD(, guest_turn) turns;
    LIST_HEAD(, guest_memory) memories;
    struct loop_timer *timer;
    bool is_retired, is_stopped;
};

/* guest_turn.c */
void guest_turn_new(struct guest_turns *g, const struct turnlog_turn *t, const char *instance,
                    bool is_part);
/* Ends the guest turn, and frees it now or later. is_suspended: tells the instance that the turn
 * continues on another host. */
void guest_turn_end(struct guest_turn *t, bool is_suspended);
/* The outcome is in the journal. False: the instance does not show the turn. */
bool guest_turn_set_outcome(struct guest_turn *t, struct str line);

/* guest_memory.c: serves other hosts that show turns of this one. */
void guest_memory_serve(struct guest_turns *g);
void guest_memory_put(struct guest_turns *g, const char *instance, const char *turn,
                      const char *text);
/* Sends what could not be sent. */
void guest_memory_retry(struct guest_turns *g);
void guest_memory_fini(struct guest_turns *g);

#endif
