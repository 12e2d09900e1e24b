/* SPDX-License-Identifier: MIT
 * Owns the encoding of the lock entries and the requests in flight. */
#include "core/lock/turn_lock_bus.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "core/bus/bus_kv.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

#define RETRY_MS 2000
#define SETTLE_MS 3000 /* after a reconnection: by then the holders of locks are connected, too */
#define HERE "here:"   /* key in the journal, before a conversation: this host had its lock last */

/* The entry of a conversation on the servers. */
struct turn_lock_entry {
    struct bus_origin from;
    int64_t number;
    bool is_held;
    struct turn_lock_session session;
};

/* An ACQUIRE or RENEW in flight. */
struct turn_lock_acquisition {
    LIST_ENTRY(turn_lock_acquisition) next;
    struct turn_lock_bus *bus; /* NULL: ended, only the reply of the journal is awaited */
    struct turn_lock_request *q;
    turn_lock_bus_done *done;
    void *ctx;
    struct buf key;
    struct turn_lock_entry entry; /* the one being replaced */
    bool waits_for_journal;
};

/* A release of a lock, or a change of the session alone; retried until it is stored. */
struct turn_lock_update {
    LIST_ENTRY(turn_lock_update) next;
    struct turn_lock_bus *bus;
    char *conversation;
    struct buf key;
    struct turn_lock_session session;
    bool is_session_only, is_in_flight;
};

struct turn_lock_bus {
    struct turn_lock_bus_spec spec;
    struct bus_link *link;
    struct bus_watcher *watcher;
    struct work_hosts_listener *listener;
    struct loop_timer *retry;
    bool has_been_active;
    int64_t settled_ms; /* before: the servers, after a loss of data, may lack entries */
    LIST_HEAD(, turn_lock_acquisition) acquisitions;
    LIST_HEAD(, turn_lock_update) updates;
};

/* ---- entries ---- */

static void turn_lock_session_fini(struct turn_lock_session *s)
{
    free(s->agent);
    free(s->id);
    *s = (struct turn_lock_session){NULL, NULL};
}

static char *turn_lock_entry_text(struct str message, const char *pointer)
{
    const struct str raw = bus_message_text(message, pointer);
    struct arena a = {0};
    char *const text = raw.len ? xstrdup(json_reader_unescape(&a, raw, NULL)) : NULL;
    arena_fini(&a);
    return text;
}

/* The caller owns the session. An unreadable entry counts as a free lock. */
static void turn_lock_entry_read(struct str message, struct turn_lock_entry *e)
{
    *e = (struct turn_lock_entry){.number = 0};
    if (!json_reader_is_valid(message) || bus_origin_read(message, &e->from) < 0)
        return;
    e->number = bus_message_number(message, "/number");
    e->is_held = str_is(json_reader_pointer(message, "/held"), "true");
    e->session.agent = turn_lock_entry_text(message, "/agent");
    e->session.id = turn_lock_entry_text(message, "/session");
}

static void turn_lock_entry_put(struct bus_link *link, const char *key, uint64_t revision,
                                const struct turn_lock_entry *e, nats_client_on_reply *on_reply,
                                void *ctx)
{
    CLEANUP_BUF struct buf value = {0};
    const struct bus_origin from = bus_link_next_origin(link);
    buf_add_char(&value, '{');
    bus_origin_write(&value, &from);
    jsonw_member_int(&value, "number", e->number);
    jsonw_member_bool(&value, "held", e->is_held);
    jsonw_member_str(&value, "agent", e->session.agent);
    jsonw_member_str(&value, "session", e->session.id);
    buf_add_char(&value, '}');
    bus_kv_put(link, BUS_LOCKS, key, (struct str){value.p, value.len}, revision, on_reply, ctx);
}

static bool turn_lock_bus_is_this_host(const struct turn_lock_bus *b,
                                       const struct turn_lock_entry *e)
{
    return strcmp(e->from.host, b->link->names.host) == 0;
}

static bool turn_lock_bus_is_this_boot(const struct turn_lock_bus *b,
                                       const struct turn_lock_entry *e)
{
    return turn_lock_bus_is_this_host(b, e) && strcmp(e->from.boot, b->link->boot) == 0;
}

/* ---- acquiring ---- */

static void turn_lock_acquisition_free(struct turn_lock_acquisition *a)
{
    turn_lock_session_fini(&a->entry.session);
    buf_fini(&a->key);
    free(a);
}

static void turn_lock_acquisition_end(struct turn_lock_acquisition *a, int rc)
{
    turn_lock_bus_done *const done = a->done;
    void *const ctx = a->ctx;
    LIST_REMOVE(a, next);
    turn_lock_acquisition_free(a);
    done(ctx, rc);
}

static void turn_lock_bus_store_last_holder(const struct turn_lock_bus *b, const char *conversation,
                                            bool is_here)
{
    CLEANUP_FREE char *row = xasprintf(HERE "%s", conversation);
    journal_async_kv_put(b->spec.journal, row, is_here ? "1" : NULL, NULL, NULL);
}

static void turn_lock_acquisition_grant(struct turn_lock_acquisition *a)
{
    a->q->done = true;
    a->q->fence = a->entry.number;
    a->q->session = a->entry.session;
    a->entry.session = (struct turn_lock_session){NULL, NULL};
    turn_lock_bus_store_last_holder(a->bus, a->q->conversation, true);
    turn_lock_acquisition_end(a, 0);
}

static void turn_lock_acquisition_read(struct turn_lock_acquisition *a);

static void turn_lock_acquisition_on_written(void *ctx, enum nats_client_result result,
                                             const struct nats_client_message *m)
{
    struct turn_lock_acquisition *const a = ctx;
    struct bus_kv_entry written;
    bus_kv_read_written(result, m, &written);
    if (written.result == BUS_KV_DONE)
        turn_lock_acquisition_grant(a);
    else if (written.result == BUS_KV_CONFLICT)
        turn_lock_acquisition_read(a);
    else
        turn_lock_acquisition_end(a, -1);
}

/* Writes the entry even if it is this host's already: a release of it may be in flight. */
static void turn_lock_acquisition_write(struct turn_lock_acquisition *a, uint64_t revision)
{
    a->q->moved = a->entry.number && !turn_lock_bus_is_this_host(a->bus, &a->entry);
    a->entry.number = (a->entry.number > a->q->fence ? a->entry.number : a->q->fence) + 1;
    a->entry.is_held = true;
    turn_lock_entry_put(a->bus->link, a->key.p, revision, &a->entry,
                        turn_lock_acquisition_on_written, a);
}

/* The holder has restarted or has been absent for lost_after_ms, so it will not renew the entry. */
static bool turn_lock_acquisition_is_abandoned(const struct turn_lock_acquisition *a)
{
    const struct bus_origin *const from = &a->entry.from;
    return work_hosts_has_restarted(a->bus->spec.hosts, from->host, from->boot,
                                    a->q->rival_since_ms) ||
           work_hosts_absent_ms(a->bus->spec.hosts, from->host) >= a->bus->spec.lost_after_ms;
}

/* The entry is of another host: acquires it if that host has released or abandoned it. */
static void turn_lock_acquisition_contend(struct turn_lock_acquisition *a, uint64_t revision)
{
    struct turn_lock_request *const q = a->q;
    if (q->rival != revision) {
        q->rival = revision;
        q->rival_since_ms = clock_mono_ms();
        turn_lock_bus_store_last_holder(a->bus, q->conversation, false);
    }
    if (q->verb == TURN_LOCK_ACQUIRE &&
        (!a->entry.is_held || turn_lock_acquisition_is_abandoned(a)))
        turn_lock_acquisition_write(a, revision);
    else
        turn_lock_acquisition_end(a, 0);
}

static void turn_lock_acquisition_on_read(void *ctx, enum nats_client_result result,
                                          const struct nats_client_message *m)
{
    struct turn_lock_acquisition *const a = ctx;
    struct bus_kv_entry found;
    bus_kv_read_entry(a->bus->link, BUS_LOCKS, result, m, &found);
    if (found.result != BUS_KV_DONE && found.result != BUS_KV_NONE) {
        turn_lock_acquisition_end(a, -1);
        return;
    }
    turn_lock_session_fini(&a->entry.session);
    turn_lock_entry_read(found.value, &a->entry);
    if (!a->entry.number && !a->q->is_begun && clock_mono_ms() < a->bus->settled_ms)
        turn_lock_acquisition_end(a, 0);
    else if (!a->entry.number || turn_lock_bus_is_this_host(a->bus, &a->entry))
        turn_lock_acquisition_write(a, found.revision);
    else
        turn_lock_acquisition_contend(a, found.revision);
}

static void turn_lock_acquisition_read(struct turn_lock_acquisition *a)
{
    bus_kv_get(a->bus->link, BUS_LOCKS, a->key.p, turn_lock_acquisition_on_read, a);
}

/* Without a connection, the journal decides whether this host had the lock last. */
static void turn_lock_acquisition_on_last_holder(void *ctx, enum journal_status status,
                                                 const char *text)
{
    struct turn_lock_acquisition *const a = ctx;
    (void)text;
    a->waits_for_journal = false;
    if (!a->bus) {
        turn_lock_acquisition_free(a);
        return;
    }
    a->q->done = status == JOURNAL_DONE;
    turn_lock_acquisition_end(a, a->q->done ? 0 : -1);
}

static void turn_lock_bus_cancel_release(struct turn_lock_bus *b, const char *conversation);

void turn_lock_bus_acquire(struct turn_lock_bus *b, struct turn_lock_request *q,
                           turn_lock_bus_done *done, void *ctx)
{
    struct turn_lock_acquisition *const a = xcalloc(1, sizeof *a);
    CLEANUP_FREE char *row = xasprintf(HERE "%s", q->conversation);
    *a = (struct turn_lock_acquisition){.bus = b, .q = q, .done = done, .ctx = ctx};
    bus_stream_add_token(&a->key, q->conversation);
    LIST_INSERT_HEAD(&b->acquisitions, a, next);
    turn_lock_bus_cancel_release(b, q->conversation);
    if (b->link->is_active)
        turn_lock_acquisition_read(a);
    else {
        a->waits_for_journal = true;
        journal_async_kv_get(b->spec.journal, row, turn_lock_acquisition_on_last_holder, a);
    }
}

/* ---- releasing ---- */

static void turn_lock_update_free(struct turn_lock_update *u)
{
    LIST_REMOVE(u, next);
    nats_client_forget(u->bus->link->client, u);
    turn_lock_session_fini(&u->session);
    buf_fini(&u->key);
    free(u->conversation);
    free(u);
}

static void turn_lock_update_read(struct turn_lock_update *u);

static void turn_lock_update_on_written(void *ctx, enum nats_client_result result,
                                        const struct nats_client_message *m)
{
    struct turn_lock_update *const u = ctx;
    struct bus_kv_entry written;
    u->is_in_flight = false;
    bus_kv_read_written(result, m, &written);
    if (written.result == BUS_KV_DONE)
        turn_lock_update_free(u);
    else if (written.result == BUS_KV_CONFLICT)
        turn_lock_update_read(u);
    else
        loop_timer_set(u->bus->retry, RETRY_MS);
}

static void turn_lock_update_on_read(void *ctx, enum nats_client_result result,
                                     const struct nats_client_message *m)
{
    struct turn_lock_update *const u = ctx;
    struct bus_kv_entry found;
    struct turn_lock_entry e;
    u->is_in_flight = false;
    bus_kv_read_entry(u->bus->link, BUS_LOCKS, result, m, &found);
    if (found.result != BUS_KV_DONE && found.result != BUS_KV_NONE) {
        loop_timer_set(u->bus->retry, RETRY_MS);
        return;
    }
    turn_lock_entry_read(found.value, &e);
    turn_lock_session_fini(&e.session);
    if (u->is_session_only ? e.is_held : !e.is_held || !turn_lock_bus_is_this_boot(u->bus, &e)) {
        turn_lock_update_free(u);
        return;
    }
    e.number += !e.number;
    e.is_held = false;
    e.session = u->session;
    u->is_in_flight = true;
    turn_lock_entry_put(u->bus->link, u->key.p, found.revision, &e, turn_lock_update_on_written, u);
}

static void turn_lock_update_read(struct turn_lock_update *u)
{
    if (u->is_in_flight || !u->bus->link->is_active)
        return;
    u->is_in_flight = true;
    bus_kv_get(u->bus->link, BUS_LOCKS, u->key.p, turn_lock_update_on_read, u);
}

static void turn_lock_update_start(struct turn_lock_bus *b, const char *conversation,
                                   const struct turn_lock_session *session, bool is_session_only)
{
    struct turn_lock_update *const u = xcalloc(1, sizeof *u);
    u->bus = b;
    u->conversation = xstrdup(conversation);
    bus_stream_add_token(&u->key, conversation);
    u->session = (struct turn_lock_session){xstrdup(session->agent), xstrdup(session->id)};
    u->is_session_only = is_session_only;
    LIST_INSERT_HEAD(&b->updates, u, next);
    turn_lock_update_read(u);
}

void turn_lock_bus_release(struct turn_lock_bus *b, const char *conversation,
                           const struct turn_lock_session *session)
{
    turn_lock_update_start(b, conversation, session, false);
}

void turn_lock_bus_store_session(struct turn_lock_bus *b, const char *conversation,
                                 const struct turn_lock_session *session)
{
    turn_lock_update_start(b, conversation, session, true);
}

/* The lock is wanted again before its release was stored. */
static void turn_lock_bus_cancel_release(struct turn_lock_bus *b, const char *conversation)
{
    struct turn_lock_update *u = LIST_FIRST(&b->updates), *next;
    for (; u; u = next) {
        next = LIST_NEXT(u, next);
        if (!u->is_session_only && strcmp(u->conversation, conversation) == 0)
            turn_lock_update_free(u);
    }
}

static void turn_lock_bus_on_retry(void *arg)
{
    struct turn_lock_bus *const b = arg;
    struct turn_lock_update *u;
    LIST_FOREACH (u, &b->updates, next)
        turn_lock_update_read(u);
}

/* ---- begin and end ---- */

static void turn_lock_bus_on_active(void *ctx)
{
    struct turn_lock_bus *const b = ctx;
    b->settled_ms = b->has_been_active ? clock_mono_ms() + SETTLE_MS : 0;
    b->has_been_active = true;
    turn_lock_bus_on_retry(b);
    b->spec.on_active(b->spec.ctx);
}

static void turn_lock_bus_on_hosts_checked(void *ctx)
{
    const struct turn_lock_bus *const b = ctx;
    b->spec.on_hosts_checked(b->spec.ctx, work_hosts_count_others(b->spec.hosts));
}

struct turn_lock_bus *turn_lock_bus_new(const struct turn_lock_bus_spec *spec)
{
    struct turn_lock_bus *const b = xcalloc(1, sizeof *b);
    b->spec = *spec;
    b->link = bus_get_link(spec->bus);
    LIST_INIT(&b->acquisitions);
    LIST_INIT(&b->updates);
    b->retry = loop_timer_new(b->link->loop, turn_lock_bus_on_retry, b);
    b->listener = work_hosts_listen(spec->hosts, turn_lock_bus_on_hosts_checked, b);
    b->watcher = bus_watch(spec->bus, turn_lock_bus_on_active, b);
    return b;
}

void turn_lock_bus_free(struct turn_lock_bus *b)
{
    struct turn_lock_acquisition *a;
    struct turn_lock_update *u;
    if (!b)
        return;
    bus_watcher_free(b->watcher);
    work_hosts_listener_free(b->listener);
    while ((u = LIST_FIRST(&b->updates)))
        turn_lock_update_free(u);
    while ((a = LIST_FIRST(&b->acquisitions))) {
        LIST_REMOVE(a, next);
        nats_client_forget(b->link->client, a);
        a->done(a->ctx, -1);
        if (a->waits_for_journal)
            a->bus = NULL;
        else
            turn_lock_acquisition_free(a);
    }
    loop_timer_free(b->retry);
    free(b);
}
