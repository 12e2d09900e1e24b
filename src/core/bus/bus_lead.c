/* SPDX-License-Identifier: MIT
 * Owns the leases of instances. */
#include "core/bus/bus_lead.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/log.h"
#include "core/bus/bus_internal.h"
#include "event/json/json_writer.h"

struct bus_lead {
    LIST_ENTRY(bus_lead) next;
    struct bus *bus;
    struct bus_lead_spec spec; /* name is owned */
    struct bus_lease *lease;
    bool leads; /* last reported state */
};

static void bus_lead_on_held(void *ctx)
{
    struct bus_lead *const l = ctx;
    if (l->leads)
        return;
    l->leads = true;
    log_write(LOG_INFO, "bus", "instance %s: this host leads it", l->spec.instance);
    bus_lease_renew(l->bus->lease);
    l->spec.gained(l->spec.ctx);
}

static void bus_lead_on_lost(void *ctx, const char *host, const char *boot)
{
    struct bus_lead *const l = ctx;
    (void)boot;
    l->leads = false;
    if (*host)
        log_write(LOG_WARN, "bus", "instance %s: host \"%s\" leads it now", l->spec.instance, host);
    else
        log_write(LOG_WARN, "bus",
                  "instance %s: stopping, because its lease was not renewed in time",
                  l->spec.instance);
    bus_lease_renew(l->bus->lease);
    l->spec.lost(l->spec.ctx);
}

void bus_lead_resume_all(struct bus *b)
{
    struct bus_lead *l;
    LIST_FOREACH (l, &b->leads, next)
        bus_lease_resume(l->lease);
}

void bus_lead_pause_all(struct bus *b)
{
    struct bus_lead *l;
    LIST_FOREACH (l, &b->leads, next)
        bus_lease_pause(l->lease);
}

void bus_lead_append_held(const struct bus *b, struct buf *out)
{
    const struct bus_lead *l;
    bool is_first = true;
    jsonw_key(out, "leads");
    buf_add_char(out, '[');
    LIST_FOREACH (l, &b->leads, next) {
        if (!l->leads)
            continue;
        buf_add_str(out, is_first ? "" : ",");
        jsonw_string(out, l->spec.instance, strlen(l->spec.instance));
        is_first = false;
    }
    buf_add_char(out, ']');
}

struct bus_lead *bus_lead_join(struct bus *b, const struct bus_lead_spec *spec)
{
    struct bus_lead *const l = xcalloc(1, sizeof *l);
    ASSERT(bus_stream_is_token(spec->instance));
    l->bus = b;
    l->spec = *spec;
    l->spec.instance = xstrdup(spec->instance);
    l->lease = bus_lease_new(&(struct bus_lease_spec){
        .link = &b->link,
        .bucket = BUS_LEADERS,
        .key = l->spec.instance,
        .is_patient = true,
        .held = bus_lead_on_held,
        .lost = bus_lead_on_lost,
        .ctx = l,
    });
    LIST_INSERT_HEAD(&b->leads, l, next);
    if (b->link.is_active)
        bus_lease_resume(l->lease);
    return l;
}

bool bus_lead_is_held(const struct bus_lead *l)
{
    return bus_lease_is_held(l->lease);
}

const char *bus_lead_holder(const struct bus_lead *l)
{
    return bus_lease_holder(l->lease);
}

void bus_lead_set_aside(struct bus_lead *l, bool is_aside)
{
    if (is_aside && l->leads) {
        l->leads = false;
        log_write(LOG_INFO, "bus", "instance %s: this host gives it to another one",
                  l->spec.instance);
        bus_lease_renew(l->bus->lease);
        l->spec.lost(l->spec.ctx);
    }
    bus_lease_set_aside(l->lease, is_aside);
}

void bus_lead_release(struct bus_lead *l)
{
    if (!l)
        return;
    LIST_REMOVE(l, next);
    bus_lease_release(l->lease);
    bus_lease_free(l->lease);
    free((char *)(uintptr_t)l->spec.instance);
    free(l);
}
