/* SPDX-License-Identifier: MIT
 * Turns of a connector instance: a list, and a hash table by id. */
#include "plugin/process/connector_turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/invariant.h"
#include "plugin/process/connector_process.h"

static size_t connector_turns_bucket(const char *id)
{
    return hash_string(HASH_START, id) % CONNECTOR_IDS;
}

struct connector_turn *connector_turns_find(const struct connector_process *g, const char *id)
{
    struct connector_turn *found = NULL;
    for (struct connector_turn *t = g->turns.by_id[connector_turns_bucket(id)]; t; t = t->next_id)
        if (!t->closed && strcmp(t->named.id, id) == 0 && (!found || found->late))
            found = t;
    return found;
}

static void connector_turns_link(struct connector_process *g, struct connector_turn *t)
{
    struct connector_turn **const bucket = &g->turns.by_id[connector_turns_bucket(t->named.id)];
    t->next_id = *bucket;
    *bucket = t;
    t->next = g->turns.first;
    if (g->turns.first)
        g->turns.first->prev = t;
    g->turns.first = t;
}

struct connector_turn *connector_turns_open(struct connector_process *g,
                                            const struct channel_turn *turn)
{
    struct connector_turn *const t = xcalloc(1, sizeof *t);
    t->number = ++g->turns.last_number;
    t->named = (struct channel_turn){
        .id = arena_strdup(&t->arena, turn->id),
        .agent = arena_strdup(&t->arena, turn->agent),
        .conversation = arena_strdup(&t->arena, turn->conversation),
        .route = arena_strdup(&t->arena, turn->route),
        .memory = arena_strdup(&t->arena, turn->memory),
    };
    t->requests = turn->requests;
    t->late = t->done = turn->over;
    t->turn_backlog = turn->over ? NULL : backlog_open_turn(&g->writer.backlog, t);
    connector_turns_link(g, t);
    return t;
}

void connector_turns_free(struct connector_process *g, struct connector_turn *t)
{
    struct connector_turn **at = &g->turns.by_id[connector_turns_bucket(t->named.id)];
    while (*at && *at != t)
        at = &(*at)->next_id;
    ASSERT(*at);
    ASSERT((t->prev ? t->prev->next : g->turns.first) == t);
    *at = t->next_id;
    *(t->prev ? &t->prev->next : &g->turns.first) = t->next;
    if (t->next)
        t->next->prev = t->prev;
    arena_fini(&t->arena);
    free(t->memory);
    free(t);
}

void connector_turns_fini(struct connector_process *g)
{
    while (g->turns.first)
        connector_turns_free(g, g->turns.first);
}
