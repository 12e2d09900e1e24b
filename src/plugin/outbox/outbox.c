/* SPDX-License-Identifier: MIT
 * Owns the life of a post, and the turns it knows. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "base/sys/dir.h"
#include "base/sys/log.h"
#include "io/http/client/download.h"
#include "plugin/outbox/outbox_internal.h"

#define FILES_KEPT_S ((int64_t)24 * 3600)

static size_t copy_rates(const struct tc_rate *from, struct lanes_rate to[LANE_MAX_RATES])
{
    size_t n = 0;
    for (; from && from[n].count && n < LANE_MAX_RATES; n++)
        to[n] = (struct lanes_rate){.rate = {.count = from[n].count,
                                             .burst = from[n].burst,
                                             .interval_ms = from[n].interval_ms},
                                    .per_lane = from[n].per_lane};
    return n;
}

/* The folder for files, with what is too old in it removed; NULL: there is none. */
static char *open_files(const struct post_spec *spec)
{
    struct tc_err err;
    if (!spec->files)
        return NULL;
    if (dir_make(spec->files, &err) < 0) {
        log_line(LOG_ERR, spec->instance, "no folder for files: %s", err_str(&err));
        return NULL;
    }
    download_sweep(spec->files, FILES_KEPT_S);
    return xstrdup(spec->files);
}

struct post *post_new(const struct post_spec *spec)
{
    struct post *const p = xcalloc(1, sizeof *p);
    const struct courier_owner owner = {post_start_item, post_judge_item, post_end_item, p};
    struct lanes_rate rates[LANE_MAX_RATES];
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed = (uint64_t)clock_mono_ms();
    const size_t rate_count = copy_rates(spec->rates, rates);
    *p = (struct post){.spec = *spec, .instance = xstrdup(spec->instance)};
    p->spec.instance = p->instance;
    p->files = open_files(spec);
    p->lobby.id = xstrdup("");
    p->end = &p->first;
    p->courier = courier_new(spec->loop, spec->http, rates, rate_count, seed, &owner);
    return p;
}

void post_start(struct post *p, struct channel *c)
{
    p->channel = c;
    if (p->spec.ledger)
        post_load(p);
}

void post_open_turn(struct post *p, const char *id, void *handle)
{
    struct post_turn *const t = xcalloc(1, sizeof *t);
    *t = (struct post_turn){.next = p->turns, .id = xstrdup(id), .handle = handle};
    p->turns = t;
}

/* One that runs before one that is only remembered: they may have the same id. */
struct post_turn *post_find_turn(struct post *p, const char *id)
{
    struct post_turn *found = NULL;
    if (!*id)
        return &p->lobby;
    for (struct post_turn *t = p->turns; t; t = t->next)
        if (strcmp(t->id, id) == 0 && !t->is_over && (!found || found->is_resumed))
            found = t;
    return found;
}

static void free_turn(struct post_turn *t)
{
    free(t->id);
    free(t);
}

void post_release_turn(struct post *p, struct post_turn *t)
{
    if (!t->is_over || t->items)
        return;
    struct post_turn **at = &p->turns;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    free_turn(t);
}

size_t post_busy(const struct post *p)
{
    size_t busy = p->item_count - p->poll_count;
    for (const struct post_commit *c = p->first; c; c = c->next)
        busy++;
    return busy;
}

struct post_stats post_stats(const struct post *p)
{
    struct post_stats stats = {.dead = p->dead};
    const int64_t now = clock_mono_ms();
    memcpy(stats.attempts, p->attempts, sizeof stats.attempts);
    for (const struct post_item *item = p->items; item; item = item->next) {
        stats.waiting += !item->parcel;
        stats.in_flight += item->parcel != NULL;
        if (!(item->letter->http.flags & TC_LONG_POLL) && now - item->since_ms > stats.oldest_ms)
            stats.oldest_ms = now - item->since_ms;
    }
    post_add_trouble(p, &stats);
    return stats;
}

/* What the ledger still has comes back later, and finds the post gone. */
static void drop_commits(struct post *p)
{
    struct post_commit *next;
    for (struct post_commit *c = p->first; c; c = next) {
        next = c->next;
        batch_free(c->batch);
        c->batch = NULL;
        c->post = NULL;
        if (!c->is_pending)
            free(c);
    }
}

void post_free(struct post *p)
{
    if (!p)
        return;
    drop_commits(p);
    courier_free(p->courier);
    while (p->items)
        post_free_item(p->items);
    struct post_turn *next;
    for (struct post_turn *t = p->turns; t; t = next) {
        next = t->next;
        free_turn(t);
    }
    post_free_trouble(p);
    free(p->lobby.id);
    free(p->instance);
    free(p->files);
    free(p);
}
