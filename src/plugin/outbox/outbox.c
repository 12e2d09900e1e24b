/* SPDX-License-Identifier: MIT
 * Creates and frees an outbox, and owns its turns. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/dir.h"
#include "base/sys/log.h"
#include "io/http/client/download.h"
#include "plugin/outbox/outbox_internal.h"

#define FILES_KEPT_S ((int64_t)24 * 3600)

static size_t copy_rates(const struct tc_rate *from, struct send_rate to[SEND_MAX_RATES])
{
    size_t n = 0;
    for (; from && from[n].count && n < SEND_MAX_RATES; n++)
        to[n] = (struct send_rate){.rate = {.count = from[n].count,
                                            .burst = from[n].burst,
                                            .interval_ms = from[n].interval_ms},
                                   .per_lane = from[n].per_lane};
    return n;
}

/* The directory for files; deletes old files in it; NULL: none. */
static char *outbox_open_files(const struct outbox_spec *spec)
{
    struct tc_err err;
    if (!spec->files)
        return NULL;
    if (dir_create_all(spec->files, &err) < 0) {
        log_write(LOG_ERR, spec->instance, "cannot create the directory for files: %s",
                  err_format(&err));
        return NULL;
    }
    download_remove_old(spec->files, FILES_KEPT_S);
    return xstrdup(spec->files);
}

struct outbox *outbox_new(const struct outbox_spec *spec)
{
    struct outbox *const p = xcalloc(1, sizeof *p);
    const struct sender_callbacks owner = {outbox_entry_on_start, outbox_entry_on_reply,
                                           outbox_entry_on_end, p};
    struct send_rate rates[SEND_MAX_RATES];
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed = (uint64_t)clock_mono_ms();
    const size_t rate_count = copy_rates(spec->rates, rates);
    *p = (struct outbox){.spec = *spec, .instance = xstrdup(spec->instance)};
    p->spec.instance = p->instance;
    p->files = outbox_open_files(spec);
    p->context.id = xstrdup("");
    STAILQ_INIT(&p->commits);
    LIST_INIT(&p->memories);
    p->sender = sender_new(spec->loop, spec->http, rates, rate_count, seed, &owner);
    return p;
}

void outbox_start(struct outbox *p, struct channel *c)
{
    p->channel = c;
    if (p->spec.journal)
        outbox_recover(p);
}

void outbox_open_turn(struct outbox *p, const char *id, void *handle)
{
    struct outbox_turn *const t = xcalloc(1, sizeof *t);
    *t = (struct outbox_turn){.next = p->turns, .id = xstrdup(id), .handle = handle};
    p->turns = t;
}

/* Prefers a running turn to one known only from before a restart: both may have the same id. */
struct outbox_turn *outbox_find_turn(struct outbox *p, const char *id)
{
    struct outbox_turn *found = NULL;
    if (!*id)
        return &p->context;
    for (struct outbox_turn *t = p->turns; t; t = t->next)
        if (strcmp(t->id, id) == 0 && !t->is_over && (!found || found->is_resumed))
            found = t;
    return found;
}

static void outbox_free_turn(struct outbox_turn *t)
{
    free(t->id);
    free(t);
}

void outbox_release_turn(struct outbox *p, struct outbox_turn *t)
{
    if (!t->is_over || t->items)
        return;
    struct outbox_turn **at = &p->turns;
    while (*at && *at != t)
        at = &(*at)->next;
    ASSERT(*at && t != &p->context);
    *at = t->next;
    outbox_free_turn(t);
}

size_t outbox_count_pending(const struct outbox *p)
{
    size_t busy = p->item_count - p->poll_count;
    const struct outbox_commit *c;
    STAILQ_FOREACH (c, &p->commits, next)
        busy++;
    return busy;
}

struct outbox_stats outbox_read_stats(const struct outbox *p)
{
    struct outbox_stats stats = {.dead = p->dead};
    const int64_t now = clock_mono_ms();
    memcpy(stats.attempts, p->attempts, sizeof stats.attempts);
    const struct outbox_entry *item;
    LIST_FOREACH (item, &p->items, next) {
        stats.waiting += !item->send_item;
        stats.in_flight += item->send_item != NULL;
        if (!(item->request->http.flags & TC_LONG_POLL) && now - item->since_ms > stats.oldest_ms)
            stats.oldest_ms = now - item->since_ms;
    }
    outbox_add_trouble(p, &stats);
    return stats;
}

/* Late results of the journal find that the outbox is gone. */
static void outbox_detach_commits(struct outbox *p)
{
    for (struct outbox_commit *c; (c = STAILQ_FIRST(&p->commits));) {
        STAILQ_REMOVE_HEAD(&p->commits, next);
        callback_batch_free(c->batch);
        c->batch = NULL;
        c->outbox = NULL;
        if (!c->is_pending)
            free(c);
    }
    for (struct outbox_memory *m; (m = LIST_FIRST(&p->memories));) {
        LIST_REMOVE(m, next);
        m->outbox = NULL;
    }
}

void outbox_free(struct outbox *p)
{
    if (!p)
        return;
    outbox_detach_commits(p);
    sender_free(p->sender);
    while (!LIST_EMPTY(&p->items))
        outbox_entry_free(LIST_FIRST(&p->items));
    ASSERT(!p->item_count && !p->poll_count && !p->loose_count && !p->loose_bytes);
    struct outbox_turn *next;
    for (struct outbox_turn *t = p->turns; t; t = next) {
        next = t->next;
        outbox_free_turn(t);
    }
    outbox_parking_fini(p);
    outbox_free_trouble(p);
    free(p->context.id);
    free(p->instance);
    free(p->files);
    free(p);
}
