/* SPDX-License-Identifier: MIT
 * Reads such a turn from the journal, and publishes its state. */
#include "core/host/unfinished_turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/sys/log.h"

struct unfinished_turns {
    struct bus *bus;
    struct journal_async *journal;
    bool is_stopped;
};

/* A turn that is read from the journal. */
struct unfinished_turn {
    struct unfinished_turns *all;
    struct buf state; /* the message with its published state */
    uint64_t sequence;
};

static void unfinished_turn_free(struct unfinished_turn *u)
{
    buf_fini(&u->state);
    free(u);
}

/* False: the journal has no end of the turn. */
static bool unfinished_turn_set_end(struct turnlog_turn *t, const struct journal_turn *found)
{
    const struct str state = {found->state, strlen(found->state)};
    if (!turnlog_find_state(state, &t->state) || !turnlog_turn_is_finished(t))
        return false;
    t->code = t->state == TURNLOG_ERROR ? found->code : NULL;
    t->into = t->state == TURNLOG_MERGED ? found->code : NULL;
    t->started_ms = found->began_ms;
    t->ended_ms = found->ended_ms;
    t->works = false;
    return true;
}

static void unfinished_turn_publish(const struct unfinished_turn *u, const struct turnlog_turn *t)
{
    struct bus_link *const link = bus_get_link(u->all->bus);
    const struct bus_origin from = bus_link_next_origin(link);
    CLEANUP_BUF struct buf subject = {0}, body = {0};
    bus_stream_subject(&subject, &link->names, BUS_STATES, link->names.host, t->spec.id);
    bus_state_write(&body, &from, t, NULL);
    nats_client_publish(link->client, &(struct nats_client_publication){.subject = subject.p,
                                                                        .data = {body.p, body.len},
                                                                        .is_conditional = true,
                                                                        .expected = u->sequence});
    log_write(
        LOG_INFO, "bus",
        "turn %s: published its end, which this host had not published before it was restarted",
        t->spec.id);
}

static void unfinished_turn_on_found(void *ctx, enum journal_status status,
                                     const struct journal_turn *found)
{
    struct unfinished_turn *const u = ctx;
    struct arena arena = {0};
    struct turnlog_turn t;
    if (!u->all->is_stopped && status == JOURNAL_DONE &&
        bus_state_read((struct str){u->state.p, u->state.len}, &arena, &t) == 0 &&
        unfinished_turn_set_end(&t, found))
        unfinished_turn_publish(u, &t);
    arena_fini(&arena);
    unfinished_turn_free(u);
}

static void unfinished_turns_on_state(void *ctx, const char *turn, struct str state,
                                      uint64_t sequence)
{
    struct unfinished_turns *const all = ctx;
    struct unfinished_turn *const u = xcalloc(1, sizeof *u);
    u->all = all;
    u->sequence = sequence;
    buf_add(&u->state, state.p, state.len);
    journal_async_look_up(all->journal, turn, unfinished_turn_on_found, u);
}

struct unfinished_turns *unfinished_turns_new(struct bus *bus, struct journal_async *journal)
{
    struct unfinished_turns *const u = xcalloc(1, sizeof *u);
    u->bus = bus;
    u->journal = journal;
    bus_set_unfinished(bus, unfinished_turns_on_state, u);
    return u;
}

void unfinished_turns_stop(struct unfinished_turns *u)
{
    if (!u->is_stopped)
        bus_set_unfinished(u->bus, NULL, NULL);
    u->is_stopped = true;
}

void unfinished_turns_free(struct unfinished_turns *u)
{
    free(u);
}
