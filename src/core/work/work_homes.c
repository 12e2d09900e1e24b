/* SPDX-License-Identifier: MIT
 * Owns the iteration over the bucket of homes. */
#include "core/work/work_homes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/log.h"
#include "core/bus/bus_kv.h"

struct work_homes {
    struct bus_link *link;
    uint64_t revision; /* of the last entry that was looked at */
    uint64_t n;        /* homes given up */
    bool awaits_reply, is_over;
};

static void work_homes_next(struct work_homes *h);

static void work_homes_on_entry(void *ctx, enum nats_client_result result,
                                const struct nats_client_message *m)
{
    struct work_homes *const h = ctx;
    struct bus_kv_entry entry;
    struct bus_origin from;
    h->awaits_reply = false;
    bus_kv_read_entry(h->link, BUS_HOMES, result, m, &entry);
    if (entry.result == BUS_KV_DONE && bus_origin_read(entry.value, &from) == 0 &&
        strcmp(from.host, h->link->names.host) == 0) {
        bus_kv_delete(h->link, BUS_HOMES, entry.key, entry.revision, NULL, NULL);
        h->n++;
    }
    if (entry.revision) {
        h->revision = entry.revision;
        work_homes_next(h);
    } else if (entry.result == BUS_KV_NONE) {
        h->is_over = true;
        log_write(LOG_INFO, "bus", "conversations that may go on at another host: %" PRIu64, h->n);
    }
}

static void work_homes_next(struct work_homes *h)
{
    if (h->awaits_reply || h->is_over || !h->link->is_active)
        return;
    h->awaits_reply = true;
    bus_kv_next(h->link, BUS_HOMES, ">", h->revision, work_homes_on_entry, h);
}

struct work_homes *work_homes_release(struct bus_link *link)
{
    struct work_homes *const h = xcalloc(1, sizeof *h);
    h->link = link;
    work_homes_next(h);
    return h;
}

void work_homes_resume(struct work_homes *h)
{
    work_homes_next(h);
}

void work_homes_free(struct work_homes *h)
{
    if (!h)
        return;
    nats_client_forget(h->link->client, h);
    free(h);
}
