/* SPDX-License-Identifier: MIT
 * Requests that wait for a missing secret. They are not in a queue, so that a secret that is never
 * set delays no other request; a request that makes a queued one obsolete does so here, too. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "plugin/outbox/outbox_expand.h"
#include "plugin/outbox/outbox_internal.h"

#define UNLIMITED_MS ((int64_t)24 * 3600 * 1000) /* default time limit */

const char *outbox_find_missing(const struct outbox_entry *item, size_t *len)
{
    return outbox_expand_find_missing(&item->request->http, &item->outbox->secrets, len);
}

static int64_t outbox_parking_deadline_ms(const struct outbox_entry *item)
{
    return item->since_ms + (item->left_ms ? item->left_ms : UNLIMITED_MS);
}

static void outbox_parking_set_timer(struct outbox *p)
{
    const int64_t now = clock_mono_ms();
    int64_t wait = -1;
    const struct outbox_entry *item;
    LIST_FOREACH (item, &p->items, next)
        if (item->state == OUTBOX_PARKED) {
            const int64_t left = outbox_parking_deadline_ms(item) - now;
            wait = wait < 0 || left < wait ? (left > 0 ? left : 0) : wait;
        }
    if (p->park_timer)
        loop_timer_set(p->park_timer, wait);
}

static void drop_parked(struct outbox_entry *item)
{
    CLEANUP_BUF struct buf why = {0};
    size_t len = 0;
    const char *const name = outbox_find_missing(item, &len);
    buf_printf(&why, "not delivered within its time limit; the secret %.*s was not set", (int)len,
               name ? name : "");
    outbox_entry_drop(item, why.p);
}

/* Finds one at a time, because dropping one request may end others. */
static struct outbox_entry *outbox_parking_find_expired(const struct outbox *p)
{
    const int64_t now = clock_mono_ms();
    struct outbox_entry *item;
    LIST_FOREACH (item, &p->items, next)
        if (item->state == OUTBOX_PARKED && outbox_parking_deadline_ms(item) <= now)
            return item;
    return NULL;
}

static void outbox_parking_on_timer(void *arg)
{
    struct outbox *const p = arg;
    for (struct outbox_entry *item; (item = outbox_parking_find_expired(p));)
        drop_parked(item);
    outbox_parking_set_timer(p);
}

void outbox_parking_add(struct outbox_entry *item)
{
    struct outbox *const p = item->outbox;
    size_t len = 0;
    const char *const name = outbox_find_missing(item, &len);
    log_write(LOG_DEBUG, p->instance, "an outbound request waits for the secret %.*s", (int)len,
              name ? name : "");
    outbox_entry_move(item, OUTBOX_ON_PARK);
    if (!p->park_timer)
        p->park_timer = loop_timer_new(p->spec.loop, outbox_parking_on_timer, p);
    outbox_parking_set_timer(p);
}

/* Same rules as request_queue_push. */
static bool outbox_parking_supersedes(const struct outbox_entry *newer,
                                      const struct outbox_entry *older)
{
    const struct tc_http *const a = &newer->request->http, *const b = &older->request->http;
    if (older->state != OUTBOX_PARKED || b->priority != TC_P_LIVE || !a->lane || !b->lane ||
        strcmp(a->lane, b->lane) != 0)
        return false;
    if (a->priority == TC_P_FINAL)
        return *newer->request->turn;
    return a->priority == TC_P_LIVE && a->key && b->key && strcmp(a->key, b->key) == 0;
}

static struct outbox_entry *outbox_parking_find_superseded(const struct outbox_entry *newer)
{
    struct outbox_entry *item;
    LIST_FOREACH (item, &newer->outbox->items, next)
        if (outbox_parking_supersedes(newer, item))
            return item;
    return NULL;
}

void outbox_parking_drop_superseded(const struct outbox_entry *newer)
{
    for (struct outbox_entry *item; (item = outbox_parking_find_superseded(newer));)
        outbox_entry_drop(item, "superseded by a newer update or by the answer");
}

/* Requests whose secrets are set, in the order of their arrival: the newest is first in the list.
 * Submitting a request does not end parked ones. */
static void outbox_parking_submit_ready(struct outbox *p)
{
    struct outbox_entry **const ready = xcalloc(p->item_count + 1, sizeof *ready);
    struct outbox_entry *item;
    size_t n = 0, len;
    LIST_FOREACH (item, &p->items, next)
        if (item->state == OUTBOX_PARKED && !outbox_find_missing(item, &len))
            ready[n++] = item;
    while (n)
        outbox_entry_submit(ready[--n], false);
    free(ready);
}

void outbox_set_secret(struct outbox *p, const char *name, const char *value)
{
    if (runtime_secrets_set(&p->secrets, name, value) < 0)
        log_write(LOG_ERR, p->instance, "cannot keep the secret %s: too many secrets are set",
                  name);
    outbox_parking_submit_ready(p);
    outbox_parking_set_timer(p);
}

const struct runtime_secrets *outbox_secrets(const struct outbox *p)
{
    return &p->secrets;
}

void outbox_parking_fini(struct outbox *p)
{
    loop_timer_free(p->park_timer);
    runtime_secrets_fini(&p->secrets);
}
