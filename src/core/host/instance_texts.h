/* SPDX-License-Identifier: MIT
 * Stored texts (tc_store) of the instances that this host leads: reads from the servers, before
 * such an instance starts, what its previous leader has stored, and stores there what the instance
 * changes. Loop thread only. Errors are logged; an instance is never kept from starting.
 *
 *   step     | event                                  | next
 *   ---------+----------------------------------------+-----------------------------------------
 *   IDLE     | this host gains the lead               | READING
 *   IDLE     | a text has changed, and the pause since | AWAITING: with a copy of all texts
 *            | the last write is over                 |
 *   READING  | the entry, at the start                | AWAITING, with its texts or those of the
 *            |                                        | journal
 *   READING  | the entry, later                       | IDLE, to write behind it
 *   AWAITING | all messages that were admitted before | STORING
 *            | the copy was made are on the servers   |
 *   STORING  | it was written                         | IDLE; at the start, the instance starts
 *   STORING  | the entry is another one, or no reply  | READING
 *   any      | no progress of the start for wait_ms   | IDLE; the instance starts
 *
 * A write replaces the entry that this host knows (compare-and-set), and the lease is checked
 * before. A new leader writes before its instance starts; so what a former leader has still under
 * way is refused. */
#ifndef CORE_HOST_INSTANCE_TEXTS_H
#define CORE_HOST_INSTANCE_TEXTS_H

#include "core/bus/bus.h"
#include "core/host/instance_leaders.h"
#include "core/work/work.h"
#include "io/journal/journal_async.h"

#define INSTANCE_TEXTS_WAIT_MS 10000

struct instance_texts;

/* Borrowed. */
struct instance_texts_spec {
    struct bus *bus;
    struct work *work; /* or NULL: no turns of people begin on this host */
    struct journal_async *journal;
    const struct instance_leaders *leaders;
    int64_t wait_ms;
};

struct instance_texts *instance_texts_new(const struct instance_texts_spec *spec);
/* This host leads the instance now: `done` is called, once, when its texts are in the journal, or
 * do not come in time; from the loop, or not at all if the lead is lost before. The call before for
 * the same instance is forgotten if it is still waiting. */
void instance_texts_prepare(struct instance_texts *t, const char *instance,
                            void (*done)(void *ctx, const char *instance), void *ctx);
/* An instance has stored a text, which is in the journal or on its way there; NULL: removed it. */
void instance_texts_store(struct instance_texts *t, const char *instance, const char *key,
                          const char *text);
/* Writes the changed texts at once, if possible: this host is about to release the lead. */
void instance_texts_flush(struct instance_texts *t, const char *instance);
/* Runs the loop until all changes are written, or for that time. */
void instance_texts_drain(struct instance_texts *t, int64_t ms);

/* For `turncast status`: since the start of the host. */
struct instance_texts_state {
    uint64_t written;  /* copies that were stored on the servers */
    const char *error; /* the last one, with its instance, borrowed; or NULL */
    int64_t error_ms;  /* monotonic */
};
struct instance_texts_state instance_texts_get_state(const struct instance_texts *t);

/* Before the bus and the leases are freed. */
void instance_texts_stop(struct instance_texts *t);
void instance_texts_free(struct instance_texts *t);

#endif
