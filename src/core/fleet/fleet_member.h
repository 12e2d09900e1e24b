/* SPDX-License-Identifier: MIT
 * This host as a member of a fleet: gives turns to other hosts and takes theirs, according to its
 * roles, and publishes its state: in its lease entry, which is renewed on changes, and in replies
 * to a request. Loop thread only. */
#ifndef CORE_FLEET_FLEET_MEMBER_H
#define CORE_FLEET_FLEET_MEMBER_H

#include "core/bus/bus.h"
#include "core/conversation/turn_scheduler.h"
#include "core/runner/runner.h"

struct fleet_member;

struct fleet_member_spec {
    struct bus *bus;
    struct work_hosts *hosts;
    /* The host's parts, except dispatch, turn log and requests. */
    struct turn_scheduler_spec parts;
    struct turn_scheduler *own;
    /* Releases or applies again for instances that only one of several hosts runs. */
    void (*set_aside)(void *ctx, bool is_aside);
    void *ctx;
};

/* Verb of the request between hosts: {"do"}, see fleet_member_order, -> {"running","draining"}. */
#define FLEET_MEMBER_VERB "host"

/* For a configuration with a bus. */
struct fleet_member *fleet_member_new(const struct fleet_member_spec *spec);
void fleet_member_set_conf(struct fleet_member *m, const struct conf *conf);
/* NULL: gives no turns to other hosts, or takes none; or m is NULL. */
struct work *fleet_member_get_work(const struct fleet_member *m);
struct runner *fleet_member_get_runner(const struct fleet_member *m);
/* Appends roles, agents and slots as members of an object. */
void fleet_member_describe(const struct fleet_member *m, struct buf *out);
/* Appends the members of the reply. */
void fleet_member_write_reply(const struct fleet_member *m, struct buf *out);
/* {"do": "drain"}: starts no turns, releases its instances and conversations to other hosts, and
 * lets running turns end; {"do": "undo"}: works again. */
void fleet_member_order(struct fleet_member *m, struct str order);
bool fleet_member_is_draining(const struct fleet_member *m); /* false for NULL */
/* Call it before the bus is freed; sends no further requests. NULL is allowed. */
void fleet_member_stop(struct fleet_member *m);
/* Call it after the bus, the journal and the host's own turns were freed. NULL is allowed. */
void fleet_member_free(struct fleet_member *m);

#endif
