/* SPDX-License-Identifier: MIT
 * Acquires, renews and releases a lease, and detects when it has expired for its holder. */
#include "core/bus/bus_lease.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "core/bus/bus_kv.h"
#include "event/json/json_writer.h"

#define RETRY_MS 1000
#define LOOK_MS 2000 /* interval at which a patient lease checks whether the entry is gone */
#define MARGIN_MS 5000

struct bus_lease {
    struct bus_lease_spec spec;
    struct loop_timer *timer;  /* next read or write */
    struct loop_timer *expiry; /* expiry while it is held */
    uint64_t revision;         /* revision of the last written entry */
    uint64_t foreign;          /* revision of another host's entry that is observed; 0: none */
    char holder[BUS_HOST_MAX + 1];
    int64_t since_ms;   /* Unix */
    int64_t sent_ms;    /* send time of the pending write */
    int64_t renewed_ms; /* send time of the last stored write */
    int64_t answers_ms; /* since then the servers have answered every request; negative: not
                         * connected */
    bool is_held, has_held, awaits_reply;
    bool is_aside;    /* not applied for */
    bool is_resuming; /* the owner waits for `held` */
};

static void bus_lease_read(struct bus_lease *l);

static int64_t bus_lease_ttl(const struct bus_lease *l)
{
    return l->spec.link->lease_ms[l->spec.bucket];
}

static int64_t bus_lease_at_most(int64_t ms, int64_t part_of_ttl)
{
    return ms < part_of_ttl ? ms : part_of_ttl;
}

/* ---- expiry ---- */

static int64_t bus_lease_remaining_ms(const struct bus_lease *l)
{
    const int64_t ttl = bus_lease_ttl(l);
    return l->renewed_ms + ttl - bus_lease_at_most(MARGIN_MS, ttl / 3) - clock_boot_ms();
}

bool bus_lease_is_held(const struct bus_lease *l)
{
    return l->is_held && bus_lease_remaining_ms(l) > 0;
}

/* The timer uses another clock and may fire early. */
static void bus_lease_on_expiry(void *arg)
{
    struct bus_lease *const l = arg;
    const int64_t left = bus_lease_remaining_ms(l);
    if (!l->is_held)
        return;
    if (left > 0) {
        loop_timer_set(l->expiry, left);
        return;
    }
    l->is_held = false;
    *l->holder = '\0';
    l->spec.lost(l->spec.ctx, "", "");
}

/* ---- writing ---- */

static void bus_lease_enter(struct bus_lease *l, uint64_t revision)
{
    bus_lease_on_expiry(l); /* expired, although its timer has not fired yet */
    const bool is_awaited = !l->is_held || l->is_resuming;
    l->revision = revision;
    l->renewed_ms = l->sent_ms;
    l->foreign = 0;
    loop_timer_set(l->timer, bus_lease_ttl(l) / 3);
    if (bus_lease_remaining_ms(l) <= 0)
        return; /* the reply came too late; the next one may be in time */
    l->is_resuming = false;
    l->is_held = l->has_held = true;
    snprintf(l->holder, sizeof l->holder, "%s", l->spec.link->names.host);
    loop_timer_set(l->expiry, bus_lease_remaining_ms(l));
    if (is_awaited)
        l->spec.held(l->spec.ctx);
}

static void bus_lease_retry(struct bus_lease *l)
{
    l->answers_ms = l->answers_ms < 0 ? -1 : clock_boot_ms();
    loop_timer_set(l->timer, bus_lease_at_most(RETRY_MS, bus_lease_ttl(l) / 10));
}

static void bus_lease_delete(const struct bus_lease *l)
{
    CLEANUP_BUF struct buf subject = {0};
    bus_stream_subject(&subject, &l->spec.link->names, l->spec.bucket, l->spec.key, NULL);
    nats_client_publish(l->spec.link->client,
                        &(struct nats_client_publication){.subject = subject.p,
                                                          .data = STR(""),
                                                          .operation = "DEL",
                                                          .is_conditional = true,
                                                          .expected = l->revision});
}

/* Deletes an entry whose write was pending when the lease was released. */
static void bus_lease_undo(struct bus_lease *l, const struct bus_kv_entry *entry)
{
    if (entry->result == BUS_KV_DONE) {
        l->revision = entry->revision;
        bus_lease_delete(l);
    }
    loop_timer_set(l->timer, LOOK_MS);
}

static void bus_lease_on_written(void *ctx, enum nats_client_result result,
                                 const struct nats_client_message *m)
{
    struct bus_lease *const l = ctx;
    struct bus_kv_entry entry;
    l->awaits_reply = false;
    bus_kv_read_written(result, m, &entry);
    if (l->is_aside)
        bus_lease_undo(l, &entry);
    else if (entry.result == BUS_KV_DONE)
        bus_lease_enter(l, entry.revision);
    else if (entry.result == BUS_KV_CONFLICT)
        bus_lease_read(l);
    else
        bus_lease_retry(l);
}

static void bus_lease_format(struct bus_lease *l, struct buf *out)
{
    const struct bus_origin from = bus_link_next_origin(l->spec.link);
    buf_add_char(out, '{');
    bus_origin_write(out, &from);
    jsonw_member_str(out, "identity", l->spec.link->identity);
    jsonw_member_int(out, "since_ms", l->since_ms);
    if (l->spec.describe)
        l->spec.describe(l->spec.ctx, out);
    buf_add_char(out, '}');
}

static void bus_lease_write(struct bus_lease *l, uint64_t expected)
{
    CLEANUP_BUF struct buf body = {0};
    if (l->awaits_reply)
        return;
    bus_lease_format(l, &body);
    l->awaits_reply = true;
    l->sent_ms = clock_boot_ms();
    bus_kv_put(l->spec.link, l->spec.bucket, l->spec.key, (struct str){body.p, body.len}, expected,
               bus_lease_on_written, l);
}

/* ---- reading ---- */

/* Whether the entry is from this process, or from this host before a restart. Once this process has
 * held the lease, no earlier process can write; the same identity then means a copy of the
 * machine. */
static bool bus_lease_is_this_host(const struct bus_lease *l, struct str entry)
{
    const struct bus_link *const link = l->spec.link;
    struct bus_origin from;
    if (bus_origin_read(entry, &from) == 0 && strcmp(from.boot, link->boot) == 0)
        return true;
    if (l->has_held)
        return false;
    return str_is(bus_message_text(entry, "/identity"), link->identity);
}

/* An observed entry whose revision changes belongs to a living host. */
static void bus_lease_handle_foreign(struct bus_lease *l, const struct bus_kv_entry *entry)
{
    struct bus_origin from = {0};
    const int64_t ttl = bus_lease_ttl(l);
    const bool lives = l->foreign && l->foreign != entry->revision;
    if (bus_origin_read(entry->value, &from) < 0)
        from.host[0] = '\0';
    snprintf(l->holder, sizeof l->holder, "%s", from.host);
    l->foreign = entry->revision;
    loop_timer_set(l->timer, l->spec.is_patient ? bus_lease_at_most(LOOK_MS, ttl / 8)
                                                : ttl + bus_lease_at_most(RETRY_MS, ttl / 10));
    if (l->is_held) {
        l->is_held = false;
        l->spec.lost(l->spec.ctx, from.host, from.boot);
    } else if (lives && l->spec.refused) {
        l->spec.refused(l->spec.ctx, from.host, from.boot);
    }
}

/* Neither an entry nor a mark of a released one exists. */
static void bus_lease_handle_absent(struct bus_lease *l)
{
    const int64_t wait = l->answers_ms + bus_lease_ttl(l) - clock_boot_ms();
    *l->holder = '\0';
    if (l->answers_ms < 0)
        return;
    if (l->spec.is_patient && !l->is_held && wait > 0)
        loop_timer_set(l->timer, bus_lease_at_most(LOOK_MS, wait));
    else
        bus_lease_write(l, 0);
}

/* The lease is free, but not applied for. */
static void bus_lease_look_again(struct bus_lease *l)
{
    *l->holder = '\0';
    loop_timer_set(l->timer, LOOK_MS);
}

static void bus_lease_on_read(void *ctx, enum nats_client_result result,
                              const struct nats_client_message *m)
{
    struct bus_lease *const l = ctx;
    struct bus_kv_entry entry;
    l->awaits_reply = false;
    bus_kv_read_entry(l->spec.link, l->spec.bucket, result, m, &entry);
    const bool is_own = entry.result == BUS_KV_DONE && bus_lease_is_this_host(l, entry.value);
    if (l->is_aside && (is_own || entry.result == BUS_KV_NONE))
        bus_lease_look_again(l);
    else if (entry.result == BUS_KV_NONE && entry.revision)
        bus_lease_write(l, entry.revision);
    else if (entry.result == BUS_KV_NONE)
        bus_lease_handle_absent(l);
    else if (entry.result != BUS_KV_DONE)
        bus_lease_retry(l);
    else if (is_own)
        bus_lease_write(l, entry.revision);
    else
        bus_lease_handle_foreign(l, &entry);
}

static void bus_lease_read(struct bus_lease *l)
{
    if (l->awaits_reply)
        return;
    l->awaits_reply = true;
    bus_kv_get(l->spec.link, l->spec.bucket, l->spec.key, bus_lease_on_read, l);
}

static void bus_lease_on_timer(void *arg)
{
    struct bus_lease *const l = arg;
    if (l->answers_ms < 0)
        return; /* bus_lease_resume follows */
    if (l->is_held)
        bus_lease_write(l, l->revision);
    else
        bus_lease_read(l);
}

/* ---- create and free ---- */

struct bus_lease *bus_lease_new(const struct bus_lease_spec *spec)
{
    struct bus_lease *const l = xcalloc(1, sizeof *l);
    l->spec = *spec;
    l->since_ms = (int64_t)(clock_wall_s() * 1000);
    l->answers_ms = -1;
    l->timer = loop_timer_new(spec->link->loop, bus_lease_on_timer, l);
    l->expiry = loop_timer_new(spec->link->loop, bus_lease_on_expiry, l);
    return l;
}

void bus_lease_resume(struct bus_lease *l)
{
    l->is_resuming = true;
    l->answers_ms = clock_boot_ms();
    loop_timer_set(l->timer, -1);
    bus_lease_read(l);
}

void bus_lease_pause(struct bus_lease *l)
{
    l->answers_ms = -1;
}

void bus_lease_renew(struct bus_lease *l)
{
    if (l->is_held && l->answers_ms >= 0)
        loop_timer_set(l->timer, 0);
}

const char *bus_lease_holder(const struct bus_lease *l)
{
    return l->holder;
}

void bus_lease_release(struct bus_lease *l)
{
    if (!l->is_held)
        return;
    l->is_held = false;
    bus_lease_delete(l);
}

void bus_lease_set_aside(struct bus_lease *l, bool is_aside)
{
    l->is_aside = is_aside;
    if (is_aside && l->is_held) {
        bus_lease_release(l);
        *l->holder = '\0';
    }
    if (l->answers_ms >= 0)
        loop_timer_set(l->timer, is_aside ? LOOK_MS : 0);
}

void bus_lease_free(struct bus_lease *l)
{
    if (!l)
        return;
    loop_timer_free(l->timer);
    loop_timer_free(l->expiry);
    nats_client_forget(l->spec.link->client, l);
    free(l);
}
