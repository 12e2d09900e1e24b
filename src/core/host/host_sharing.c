/* SPDX-License-Identifier: MIT
 * Owns the shared settings, and for how long the host waits for them at its start. */
#include "core/host/host_sharing.h"

#include <stdlib.h>

#include "base/alloc.h"

#define WAIT_MS 3000 /* for servers that are not there, when the host starts */

struct host_sharing {
    struct shared_settings *settings;
    struct visibility_share *visibility; /* NULL: it is not shared over the bus */
    struct loop_timer *wait;
    bool is_ready;
    void (*ready)(void *ctx);
    void *ctx;
};

bool host_sharing_describe(const struct conf *conf, struct buf *out)
{
    const bool has_redis = conf->store.kind == CONF_REDIS, has_bus = conf->bus.urls;
    const bool has_locks = has_redis ? conf->store.lock_s > 0 : has_bus;
    if (!has_redis && !has_bus)
        return false;
    buf_printf(out, "visibility%s sessions of conversations by %s",
               has_locks ? ", locks and" : " and", has_redis ? "Redis" : "the bus");
    if (has_bus)
        buf_printf(out,
                   "%s turns, standing approvals, paired people, choices of conversations and "
                   "stored texts of led instances%s",
                   has_redis ? ";" : ", which also shares", has_redis ? " by the bus" : "");
    return true;
}

static void host_sharing_on_ready(void *arg)
{
    struct host_sharing *const s = arg;
    if (s->is_ready)
        return;
    s->is_ready = true;
    loop_timer_set(s->wait, -1);
    s->ready(s->ctx);
}

struct host_sharing *host_sharing_new(const struct host_sharing_spec *spec)
{
    struct host_sharing *const s = xcalloc(1, sizeof *s);
    s->ready = spec->ready;
    s->ctx = spec->ctx;
    s->wait = loop_timer_new(spec->loop, host_sharing_on_ready, s);
    loop_timer_set(s->wait, WAIT_MS);
    s->settings = shared_settings_new(spec->bus, spec->journal, host_sharing_on_ready, s);
    s->visibility = visibility_share_new(s->settings, spec->switches, spec->settings, spec->conf);
    approvals_join(spec->approvals, s->settings);
    pairing_join(spec->pairing, s->settings);
    bindings_join(spec->bindings, s->settings);
    return s;
}

bool host_sharing_is_ready(const struct host_sharing *s)
{
    return !s || s->is_ready;
}

void host_sharing_set_conf(struct host_sharing *s, const struct conf *conf)
{
    if (s)
        visibility_share_set_conf(s->visibility, conf);
}

void host_sharing_free(struct host_sharing *s)
{
    if (!s)
        return;
    shared_settings_free(s->settings);
    visibility_share_free(s->visibility);
    loop_timer_free(s->wait);
    free(s);
}
