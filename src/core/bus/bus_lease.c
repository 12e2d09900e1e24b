/* SPDX-License-Identifier: MIT
 * Owns when the lease is asked for, renewed and given up. An entry of another identity may be left
 * by a host that has died: it is waited until it would have expired. */
#include "core/bus/bus_lease.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "event/json/json_writer.h"

#define RETRY_MS 1000

struct bus_lease {
    struct bus_lease_spec spec;
    struct loop_timer *timer;
    uint64_t revision; /* of the entry that was written or read last */
    uint64_t foreign;  /* revision of another host's entry that is waited for; 0: none */
    int64_t since_ms;  /* Unix */
    bool is_held, has_held, is_asked;
    bool is_resuming; /* the owner waits to be told that it is held */
};

static void bus_lease_read(struct bus_lease *l);

static void bus_lease_subject(const struct bus_lease *l, struct buf *out)
{
    const struct bus_names *const names = &l->spec.link->names;
    bus_stream_subject(out, names, BUS_HOSTS, names->host, NULL);
}

/* ---- writing ---- */

static void bus_lease_enter(struct bus_lease *l, uint64_t revision)
{
    const bool is_awaited = !l->is_held || l->is_resuming;
    l->is_resuming = false;
    l->revision = revision;
    l->foreign = 0;
    l->is_held = l->has_held = true;
    loop_timer_set(l->timer, l->spec.ttl_ms / 3);
    if (is_awaited)
        l->spec.held(l->spec.ctx);
}

static void bus_lease_on_written(void *ctx, enum nats_client_result result,
                                 const struct nats_client_message *m)
{
    struct bus_lease *const l = ctx;
    struct bus_ack ack;
    l->is_asked = false;
    const enum bus_link_stored stored = bus_link_read_stored(result, m, &ack);
    if (stored == BUS_LINK_STORED)
        bus_lease_enter(l, ack.sequence);
    else if (stored == BUS_LINK_WRONG)
        bus_lease_read(l);
    else
        loop_timer_set(l->timer, RETRY_MS);
}

static void bus_lease_format(struct bus_lease *l, struct buf *out)
{
    const struct bus_origin from = bus_link_next_origin(l->spec.link);
    buf_add_char(out, '{');
    bus_origin_write(out, &from);
    jsonw_member_str(out, "identity", l->spec.identity);
    jsonw_member_str(out, "version", PACKAGE_VERSION);
    jsonw_member_int(out, "since_ms", l->since_ms);
    buf_add_char(out, '}');
}

static void bus_lease_write(struct bus_lease *l, uint64_t expected)
{
    CLEANUP_BUF struct buf subject = {0}, body = {0};
    if (l->is_asked)
        return;
    bus_lease_subject(l, &subject);
    bus_lease_format(l, &body);
    l->is_asked = true;
    bus_link_store(l->spec.link, subject.p, (struct str){body.p, body.len}, expected,
                   bus_lease_on_written, l);
}

/* ---- reading ---- */

/* Of this life, or of an earlier one that has died. A host that has held its lease has no earlier
 * life that could write: the same identity is then that of a copy of the machine. */
static bool bus_lease_is_own(const struct bus_lease *l, struct str entry)
{
    struct bus_origin from;
    if (bus_origin_read(entry, &from) == 0 && strcmp(from.boot, l->spec.link->boot) == 0)
        return true;
    if (l->has_held)
        return false;
    return str_is(bus_message_text(entry, "/identity"), l->spec.identity);
}

/* An entry that is renewed while it is waited for is that of a host that lives. */
static void bus_lease_meet_other(struct bus_lease *l, const struct nats_client_message *m)
{
    struct bus_origin from = {0};
    const bool lives = l->foreign && l->foreign != m->sequence;
    if (bus_origin_read(m->data, &from) < 0)
        from.host[0] = '\0';
    if (l->is_held) {
        l->is_held = false;
        l->spec.lost(l->spec.ctx, from.boot);
    }
    l->foreign = m->sequence;
    if (lives) {
        l->spec.refused(l->spec.ctx, from.boot);
        l->foreign = 0;
    }
    loop_timer_set(l->timer, l->spec.ttl_ms + RETRY_MS);
}

static void bus_lease_on_entry(struct bus_lease *l, const struct nats_client_message *m)
{
    if (m->status == 404)
        bus_lease_write(l, 0);
    else if (!m->data.len || bus_lease_is_own(l, m->data)) /* given up, or of this host */
        bus_lease_write(l, m->sequence);
    else
        bus_lease_meet_other(l, m);
}

static void bus_lease_on_read(void *ctx, enum nats_client_result result,
                              const struct nats_client_message *m)
{
    struct bus_lease *const l = ctx;
    l->is_asked = false;
    if (result == NATS_CLIENT_REPLIED && (m->status == 404 || m->sequence))
        bus_lease_on_entry(l, m);
    else
        loop_timer_set(l->timer, RETRY_MS);
}

static void bus_lease_read(struct bus_lease *l)
{
    CLEANUP_BUF struct buf subject = {0};
    if (l->is_asked)
        return;
    bus_lease_subject(l, &subject);
    l->is_asked = true;
    bus_link_read_last(l->spec.link, BUS_HOSTS, subject.p, bus_lease_on_read, l);
}

static void bus_lease_on_timer(void *arg)
{
    struct bus_lease *const l = arg;
    if (!nats_client_is_connected(l->spec.link->client))
        return; /* bus_lease_resume comes */
    if (l->is_held)
        bus_lease_write(l, l->revision);
    else
        bus_lease_read(l);
}

/* ---- its life ---- */

struct bus_lease *bus_lease_new(const struct bus_lease_spec *spec)
{
    struct bus_lease *const l = xcalloc(1, sizeof *l);
    l->spec = *spec;
    l->since_ms = (int64_t)(clock_wall_s() * 1000);
    l->timer = loop_timer_new(spec->link->loop, bus_lease_on_timer, l);
    return l;
}

void bus_lease_resume(struct bus_lease *l)
{
    l->is_resuming = true;
    loop_timer_set(l->timer, -1);
    bus_lease_read(l);
}

void bus_lease_release(struct bus_lease *l)
{
    CLEANUP_BUF struct buf subject = {0};
    if (!l->is_held)
        return;
    l->is_held = false;
    loop_timer_set(l->timer, -1);
    bus_lease_subject(l, &subject);
    nats_client_publish(l->spec.link->client,
                        &(struct nats_client_publication){.subject = subject.p,
                                                          .data = STR(""),
                                                          .operation = "DEL",
                                                          .is_conditional = true,
                                                          .expected = l->revision});
}

void bus_lease_free(struct bus_lease *l)
{
    if (!l)
        return;
    loop_timer_free(l->timer);
    nats_client_forget(l->spec.link->client, l);
    free(l);
}
