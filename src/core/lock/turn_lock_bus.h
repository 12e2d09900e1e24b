/* SPDX-License-Identifier: MIT
 * Locks of conversations on the bus: an entry of a bucket for each conversation, changed by
 * compare-and-set. It says which host has the conversation, in which of its lives, under a number
 * that only grows; and, when it is free, which host had it last and the session to go on with.
 *
 * An entry does not expire. Another host takes it when its holder has begun another life, or has
 * not been there for bus.lost_after_s of the own uninterrupted connection. Loop thread only. */
#ifndef CORE_LOCK_TURN_LOCK_BUS_H
#define CORE_LOCK_TURN_LOCK_BUS_H

#include "core/bus/bus.h"
#include "core/lock/turn_lock_request.h"
#include "core/work/work_hosts.h"
#include "io/journal/journal_async.h"

struct turn_lock_bus;

struct turn_lock_bus_spec {
    struct bus *bus;
    struct work_hosts *hosts;
    struct journal_async *journal;
    int64_t lost_after_ms;
    void (*active)(void *ctx);                /* locks that are held are to be renewed */
    void (*looked)(void *ctx, size_t others); /* other hosts that have been seen in this life */
    void *ctx;
};

/* Borrows all. */
struct turn_lock_bus *turn_lock_bus_new(const struct turn_lock_bus_spec *spec);
/* Before the bus. Requests that wait are answered with -1. NULL is fine. */
void turn_lock_bus_free(struct turn_lock_bus *b);

typedef void turn_lock_bus_done(void *ctx, int rc);
/* TAKE or RENEW, filled when `done` is called, from the loop; rc -1: the servers do not answer.
 * While there is no connection, a conversation that this host had last is its own: `done` without a
 * number. */
void turn_lock_bus_ask(struct turn_lock_bus *b, struct turn_lock_request *q,
                       turn_lock_bus_done *done, void *ctx);
/* The conversation is free again; tried until it is so. */
void turn_lock_bus_drop(struct turn_lock_bus *b, const char *conversation,
                        const struct turn_lock_session *session);
/* Without the lock: the session that the next host goes on with, unless one has the conversation
 * now. */
void turn_lock_bus_note(struct turn_lock_bus *b, const char *conversation,
                        const struct turn_lock_session *session);

#endif
