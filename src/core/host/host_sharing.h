/* SPDX-License-Identifier: MIT
 * What this host shares with the others on the bus besides turns: visibility of agents, standing
 * approvals, paired people, and choices of conversations. Loop thread only. */
#ifndef CORE_HOST_HOST_SHARING_H
#define CORE_HOST_HOST_SHARING_H

#include "core/inbound/pairing.h"
#include "core/request/approvals.h"
#include "core/settings/bindings.h"
#include "core/settings/visibility_share.h"

struct host_sharing;

/* Appends what hosts with this configuration share, and by what: "locks and sessions of
 * conversations by Redis, …". False: nothing. */
bool host_sharing_describe(const struct conf *conf, struct buf *out);

struct host_sharing_spec {
    struct loop *loop;
    struct bus *bus;
    struct journal_async *journal;
    struct visibility_cache *switches;
    struct settings_worker *settings;
    const struct conf *conf;
    struct approvals *approvals;
    struct pairing *pairing;
    struct bindings *bindings;
    /* Once: what the servers have is known here, or does not come in time. Before, a turn could
     * use what was revoked while this host was not there. */
    void (*ready)(void *ctx);
    void *ctx;
};

/* Borrows all. */
struct host_sharing *host_sharing_new(const struct host_sharing_spec *spec);
bool host_sharing_is_ready(const struct host_sharing *s); /* NULL: nothing is waited for */
void host_sharing_set_conf(struct host_sharing *s, const struct conf *conf); /* NULL is fine */
void host_sharing_free(struct host_sharing *s); /* before the bus. NULL is fine */

#endif
