/* SPDX-License-Identifier: MIT
 * Owns the table of hosts on the bus. */
#include "core/work/work_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "core/bus/bus_kv.h"

#define LOOK_MS 2000
#define HOSTS_MAX 1000

struct work_hosts_entry {
    LIST_ENTRY(work_hosts_entry) next;
    char name[BUS_HOST_MAX + 1], boot[BUS_BOOT_MAX + 1];
    int64_t seen_ms; /* begin of the look that has found it last */
    bool is_draining;
};

struct work_hosts_listener {
    TAILQ_ENTRY(work_hosts_listener) next;
    struct work_hosts *hosts;
    void (*looked)(void *ctx);
    void *ctx;
};

struct work_hosts {
    struct bus_link *link;
    struct bus_watcher *watcher;
    TAILQ_HEAD(, work_hosts_listener) listeners;
    LIST_HEAD(, work_hosts_entry) all;
    size_t n;
    struct loop_timer *timer;
    bool is_looking, is_wanted; /* is_wanted: another look begins behind the one under way */
    int64_t since_ms;           /* looks without a break; 0: none yet */
    int64_t begun_ms;           /* of the look under way */
    int64_t last_ms;            /* begin of the last look that was complete */
};

static struct work_hosts_entry *work_hosts_find(const struct work_hosts *h, const char *name)
{
    struct work_hosts_entry *e;
    LIST_FOREACH (e, &h->all, next)
        if (strcmp(e->name, name) == 0)
            return e;
    return NULL;
}

static void work_hosts_record(struct work_hosts *h, const struct bus_origin *from, bool is_draining)
{
    struct work_hosts_entry *e = work_hosts_find(h, from->host);
    if (!e && h->n >= HOSTS_MAX)
        return;
    if (!e) {
        e = xcalloc(1, sizeof *e);
        snprintf(e->name, sizeof e->name, "%s", from->host);
        LIST_INSERT_HEAD(&h->all, e, next);
        h->n++;
    }
    snprintf(e->boot, sizeof e->boot, "%s", from->boot);
    e->seen_ms = h->begun_ms;
    e->is_draining = is_draining;
}

/* The look is complete. */
static void work_hosts_end_look(struct work_hosts *h)
{
    struct work_hosts_listener *l;
    h->last_ms = h->begun_ms;
    if (!h->since_ms)
        h->since_ms = h->begun_ms;
    TAILQ_FOREACH(l, &h->listeners, next)
    l->looked(l->ctx);
}

static void work_hosts_next(struct work_hosts *h, uint64_t revision);

static void work_hosts_on_entry(void *ctx, enum nats_client_result result,
                                const struct nats_client_message *m)
{
    struct work_hosts *const h = ctx;
    struct bus_kv_entry entry;
    struct bus_origin from;
    bus_kv_read_entry(h->link, BUS_HOSTS, result, m, &entry);
    if (entry.result == BUS_KV_DONE && bus_origin_read(entry.value, &from) == 0)
        work_hosts_record(h, &from, str_is(bus_message_value(entry.value, "/draining"), "true"));
    if (entry.revision && h->link->is_active) {
        work_hosts_next(h, entry.revision);
        return;
    }
    h->is_looking = false;
    loop_timer_set(h->timer, h->is_wanted ? 0 : LOOK_MS);
    if (entry.result == BUS_KV_NONE)
        work_hosts_end_look(h);
    else
        h->since_ms = 0;
}

static void work_hosts_next(struct work_hosts *h, uint64_t revision)
{
    bus_kv_next(h->link, BUS_HOSTS, "*", revision, work_hosts_on_entry, h);
}

static void work_hosts_look(void *arg)
{
    struct work_hosts *const h = arg;
    loop_timer_set(h->timer, LOOK_MS);
    if (!h->link->is_active)
        h->since_ms = 0;
    if (h->is_looking || !h->link->is_active || TAILQ_EMPTY(&h->listeners))
        return;
    h->is_looking = true;
    h->is_wanted = false;
    h->begun_ms = clock_mono_ms();
    work_hosts_next(h, 0);
}

static void work_hosts_on_active(void *ctx)
{
    struct work_hosts *const h = ctx;
    h->since_ms = 0;
    loop_timer_set(h->timer, 0);
}

struct work_hosts *work_hosts_new(struct bus *b)
{
    struct work_hosts *const h = xcalloc(1, sizeof *h);
    h->link = bus_get_link(b);
    TAILQ_INIT(&h->listeners);
    LIST_INIT(&h->all);
    h->timer = loop_timer_new(h->link->loop, work_hosts_look, h);
    h->watcher = bus_watch(b, work_hosts_on_active, h);
    return h;
}

void work_hosts_free(struct work_hosts *h)
{
    struct work_hosts_entry *e;
    if (!h)
        return;
    ASSERT(TAILQ_EMPTY(&h->listeners));
    bus_watcher_free(h->watcher);
    nats_client_forget(h->link->client, h);
    loop_timer_free(h->timer);
    while ((e = LIST_FIRST(&h->all))) {
        LIST_REMOVE(e, next);
        free(e);
    }
    free(h);
}

struct work_hosts_listener *work_hosts_listen(struct work_hosts *h, void (*looked)(void *ctx),
                                              void *ctx)
{
    struct work_hosts_listener *const l = xcalloc(1, sizeof *l);
    *l = (struct work_hosts_listener){.hosts = h, .looked = looked, .ctx = ctx};
    TAILQ_INSERT_TAIL(&h->listeners, l, next);
    return l;
}

void work_hosts_listener_free(struct work_hosts_listener *l)
{
    if (!l)
        return;
    TAILQ_REMOVE(&l->hosts->listeners, l, next);
    free(l);
}

size_t work_hosts_count_others(const struct work_hosts *h)
{
    return h->n - (work_hosts_find(h, h->link->names.host) != NULL);
}

int64_t work_hosts_absent_ms(const struct work_hosts *h, const char *host)
{
    const struct work_hosts_entry *const e = work_hosts_find(h, host);
    if (!h->since_ms || (e && e->seen_ms >= h->last_ms))
        return 0;
    const int64_t last = e && e->seen_ms > h->since_ms ? e->seen_ms : h->since_ms;
    return h->last_ms - last;
}

bool work_hosts_has_restarted(const struct work_hosts *h, const char *host, const char *boot,
                              int64_t since_ms)
{
    const struct work_hosts_entry *const e = work_hosts_find(h, host);
    return e && e->seen_ms > since_ms && strcmp(e->boot, boot) != 0;
}

bool work_hosts_is_draining(const struct work_hosts *h, const char *host)
{
    const struct work_hosts_entry *const e = work_hosts_find(h, host);
    return e && e->is_draining;
}

bool work_hosts_is_older(const struct work_hosts *h, const char *host, int64_t since_ms)
{
    const struct work_hosts_entry *const e = work_hosts_find(h, host);
    return e && e->seen_ms < since_ms;
}

void work_hosts_look_again(struct work_hosts *h)
{
    h->is_wanted = true;
    loop_timer_set(h->timer, 0);
}
