/* SPDX-License-Identifier: MIT
 * This host among the others: gives turns to them and takes theirs, as its roles say, and tells
 * them of itself: in its entry among the hosts, which is renewed when that changes, and when it is
 * asked whether it is there. Loop thread only. */
#ifndef CORE_FLEET_FLEET_MEMBER_H
#define CORE_FLEET_FLEET_MEMBER_H

#include "core/bus/bus.h"
#include "core/conversation/turn_scheduler.h"
#include "core/runner/runner.h"

struct fleet_member;

struct fleet_member_spec {
    struct bus *bus;
    /* The host's own: its parts, but for dispatch, turn log and requests. */
    struct turn_scheduler_spec parts;
    struct turn_scheduler *own;
    /* Instances that one of several hosts runs are given to others; or asked for again. */
    void (*set_aside)(void *ctx, bool is_aside);
    void *ctx;
};

/* The verb of the request between hosts that asks it: {"do"}, see fleet_member_order, ->
 * {"running","draining"}. */
#define FLEET_MEMBER_VERB "host"

/* Of a configuration with a bus. */
struct fleet_member *fleet_member_new(const struct fleet_member_spec *spec);
void fleet_member_set_conf(struct fleet_member *m, const struct conf *conf);
/* NULL: it gives no turns to other hosts, or takes none of theirs; or m is NULL. */
struct work *fleet_member_get_work(const struct fleet_member *m);
struct runner *fleet_member_get_runner(const struct fleet_member *m);
/* Appends roles, agents and slots as members of an object. */
void fleet_member_describe(const struct fleet_member *m, struct buf *out);
/* Appends what it answers. */
void fleet_member_tell(const struct fleet_member *m, struct buf *out);
/* {"do": "drain"}: takes and begins no turns, gives its instances and conversations to others, and
 * lets turns that run end; {"do": "undo"}: works again. */
void fleet_member_order(struct fleet_member *m, struct str order);
bool fleet_member_is_draining(const struct fleet_member *m); /* NULL: no */
/* Before the bus is freed; nothing is asked any more. NULL is fine. */
void fleet_member_stop(struct fleet_member *m);
/* Behind the bus, the journal and the host's own turns. NULL is fine. */
void fleet_member_free(struct fleet_member *m);

#endif
