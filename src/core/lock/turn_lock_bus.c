/* SPDX-License-Identifier: MIT
 * Owns the form of the entries, and requests that are under way. */
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
#define SETTLE_MS 3000 /* behind a break of the connection: holders of locks are back */
#define HERE "here:"   /* and a conversation, in the journal: this host had it last */

/* What is stored of a conversation. */
struct turn_lock_entry {
    struct bus_origin from;
    int64_t number;
    bool is_held;
    struct turn_lock_session session;
};

/* A TAKE or RENEW. */
struct turn_lock_ask {
    LIST_ENTRY(turn_lock_ask) next;
    struct turn_lock_bus *bus; /* NULL: it is over, but for the answer of the journal */
    struct turn_lock_request *q;
    turn_lock_bus_done *done;
    void *ctx;
    struct buf key;
    struct turn_lock_entry entry; /* that is being replaced */
    bool waits_for_journal;
};

/* A drop or a note. */
struct turn_lock_leave {
    LIST_ENTRY(turn_lock_leave) next;
    struct turn_lock_bus *bus;
    char *conversation;
    struct buf key;
    struct turn_lock_session session;
    bool is_note, is_asked;
};

struct turn_lock_bus {
    struct turn_lock_bus_spec spec;
    struct bus_link *link;
    struct bus_watcher *watcher;
    struct work_hosts_listener *listener;
    struct loop_timer *retry;
    bool has_been_active;
    int64_t settled_ms; /* before, servers that have lost their data may not have all entries */
    LIST_HEAD(, turn_lock_ask) asks;
    LIST_HEAD(, turn_lock_leave) leaves;
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

/* The session is the caller's. An entry that cannot be read is one that nobody has. */
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

static bool turn_lock_bus_is_own_host(const struct turn_lock_bus *b,
                                      const struct turn_lock_entry *e)
{
    return strcmp(e->from.host, b->link->names.host) == 0;
}

static bool turn_lock_bus_is_own(const struct turn_lock_bus *b, const struct turn_lock_entry *e)
{
    return turn_lock_bus_is_own_host(b, e) && strcmp(e->from.boot, b->link->boot) == 0;
}

/* ---- taking ---- */

static void turn_lock_ask_free(struct turn_lock_ask *a)
{
    turn_lock_session_fini(&a->entry.session);
    buf_fini(&a->key);
    free(a);
}

static void turn_lock_ask_end(struct turn_lock_ask *a, int rc)
{
    turn_lock_bus_done *const done = a->done;
    void *const ctx = a->ctx;
    LIST_REMOVE(a, next);
    turn_lock_ask_free(a);
    done(ctx, rc);
}

static void turn_lock_bus_note_here(const struct turn_lock_bus *b, const char *conversation,
                                    bool is_here)
{
    CLEANUP_FREE char *row = xasprintf(HERE "%s", conversation);
    journal_async_kv_put(b->spec.journal, row, is_here ? "1" : NULL, NULL, NULL);
}

static void turn_lock_ask_grant(struct turn_lock_ask *a)
{
    a->q->done = true;
    a->q->fence = a->entry.number;
    a->q->session = a->entry.session;
    a->entry.session = (struct turn_lock_session){NULL, NULL};
    turn_lock_bus_note_here(a->bus, a->q->conversation, true);
    turn_lock_ask_end(a, 0);
}

static void turn_lock_ask_read(struct turn_lock_ask *a);

static void turn_lock_ask_on_written(void *ctx, enum nats_client_result result,
                                     const struct nats_client_message *m)
{
    struct turn_lock_ask *const a = ctx;
    struct bus_kv_entry written;
    bus_kv_read_written(result, m, &written);
    if (written.result == BUS_KV_DONE)
        turn_lock_ask_grant(a);
    else if (written.result == BUS_KV_CONFLICT)
        turn_lock_ask_read(a);
    else
        turn_lock_ask_end(a, -1);
}

/* Also what is its own already: a drop may be on its way. */
static void turn_lock_ask_write(struct turn_lock_ask *a, uint64_t revision)
{
    a->q->moved = a->entry.number && !turn_lock_bus_is_own_host(a->bus, &a->entry);
    a->entry.number = (a->entry.number > a->q->fence ? a->entry.number : a->q->fence) + 1;
    a->entry.is_held = true;
    turn_lock_entry_put(a->bus->link, a->key.p, revision, &a->entry, turn_lock_ask_on_written, a);
}

/* The entry has been there for as long as `q` remembers, and its host has been looked for since. */
static bool turn_lock_ask_is_left(const struct turn_lock_ask *a)
{
    const struct bus_origin *const from = &a->entry.from;
    return work_hosts_has_restarted(a->bus->spec.hosts, from->host, from->boot,
                                    a->q->rival_since_ms) ||
           work_hosts_absent_ms(a->bus->spec.hosts, from->host) >= a->bus->spec.lost_after_ms;
}

/* Another host has it, or had it since this one. */
static void turn_lock_ask_meet_other(struct turn_lock_ask *a, uint64_t revision)
{
    struct turn_lock_request *const q = a->q;
    if (q->rival != revision) {
        q->rival = revision;
        q->rival_since_ms = clock_mono_ms();
        turn_lock_bus_note_here(a->bus, q->conversation, false);
    }
    if (q->verb == TURN_LOCK_TAKE && (!a->entry.is_held || turn_lock_ask_is_left(a)))
        turn_lock_ask_write(a, revision);
    else
        turn_lock_ask_end(a, 0);
}

static void turn_lock_ask_on_read(void *ctx, enum nats_client_result result,
                                  const struct nats_client_message *m)
{
    struct turn_lock_ask *const a = ctx;
    struct bus_kv_entry found;
    bus_kv_read_entry(a->bus->link, BUS_LOCKS, result, m, &found);
    if (found.result != BUS_KV_DONE && found.result != BUS_KV_NONE) {
        turn_lock_ask_end(a, -1);
        return;
    }
    turn_lock_session_fini(&a->entry.session);
    turn_lock_entry_read(found.value, &a->entry);
    if (!a->entry.number && !a->q->is_begun && clock_mono_ms() < a->bus->settled_ms)
        turn_lock_ask_end(a, 0);
    else if (!a->entry.number || turn_lock_bus_is_own_host(a->bus, &a->entry))
        turn_lock_ask_write(a, found.revision);
    else
        turn_lock_ask_meet_other(a, found.revision);
}

static void turn_lock_ask_read(struct turn_lock_ask *a)
{
    bus_kv_get(a->bus->link, BUS_LOCKS, a->key.p, turn_lock_ask_on_read, a);
}

/* There is no connection. */
static void turn_lock_ask_on_here(void *ctx, enum journal_status status, const char *text)
{
    struct turn_lock_ask *const a = ctx;
    (void)text;
    a->waits_for_journal = false;
    if (!a->bus) {
        turn_lock_ask_free(a);
        return;
    }
    a->q->done = status == JOURNAL_DONE;
    turn_lock_ask_end(a, a->q->done ? 0 : -1);
}

static void turn_lock_bus_forget_drop(struct turn_lock_bus *b, const char *conversation);

void turn_lock_bus_ask(struct turn_lock_bus *b, struct turn_lock_request *q,
                       turn_lock_bus_done *done, void *ctx)
{
    struct turn_lock_ask *const a = xcalloc(1, sizeof *a);
    CLEANUP_FREE char *row = xasprintf(HERE "%s", q->conversation);
    *a = (struct turn_lock_ask){.bus = b, .q = q, .done = done, .ctx = ctx};
    bus_stream_add_token(&a->key, q->conversation);
    LIST_INSERT_HEAD(&b->asks, a, next);
    turn_lock_bus_forget_drop(b, q->conversation);
    if (b->link->is_active)
        turn_lock_ask_read(a);
    else {
        a->waits_for_journal = true;
        journal_async_kv_get(b->spec.journal, row, turn_lock_ask_on_here, a);
    }
}

/* ---- leaving ---- */

static void turn_lock_leave_free(struct turn_lock_leave *l)
{
    LIST_REMOVE(l, next);
    nats_client_forget(l->bus->link->client, l);
    turn_lock_session_fini(&l->session);
    buf_fini(&l->key);
    free(l->conversation);
    free(l);
}

static void turn_lock_leave_read(struct turn_lock_leave *l);

static void turn_lock_leave_on_written(void *ctx, enum nats_client_result result,
                                       const struct nats_client_message *m)
{
    struct turn_lock_leave *const l = ctx;
    struct bus_kv_entry written;
    l->is_asked = false;
    bus_kv_read_written(result, m, &written);
    if (written.result == BUS_KV_DONE)
        turn_lock_leave_free(l);
    else if (written.result == BUS_KV_CONFLICT)
        turn_lock_leave_read(l);
    else
        loop_timer_set(l->bus->retry, RETRY_MS);
}

static void turn_lock_leave_on_read(void *ctx, enum nats_client_result result,
                                    const struct nats_client_message *m)
{
    struct turn_lock_leave *const l = ctx;
    struct bus_kv_entry found;
    struct turn_lock_entry e;
    l->is_asked = false;
    bus_kv_read_entry(l->bus->link, BUS_LOCKS, result, m, &found);
    if (found.result != BUS_KV_DONE && found.result != BUS_KV_NONE) {
        loop_timer_set(l->bus->retry, RETRY_MS);
        return;
    }
    turn_lock_entry_read(found.value, &e);
    turn_lock_session_fini(&e.session);
    if (l->is_note ? e.is_held : !e.is_held || !turn_lock_bus_is_own(l->bus, &e)) {
        turn_lock_leave_free(l);
        return;
    }
    e.number += !e.number;
    e.is_held = false;
    e.session = l->session;
    l->is_asked = true;
    turn_lock_entry_put(l->bus->link, l->key.p, found.revision, &e, turn_lock_leave_on_written, l);
}

static void turn_lock_leave_read(struct turn_lock_leave *l)
{
    if (l->is_asked || !l->bus->link->is_active)
        return;
    l->is_asked = true;
    bus_kv_get(l->bus->link, BUS_LOCKS, l->key.p, turn_lock_leave_on_read, l);
}

static void turn_lock_bus_leave(struct turn_lock_bus *b, const char *conversation,
                                const struct turn_lock_session *session, bool is_note)
{
    struct turn_lock_leave *const l = xcalloc(1, sizeof *l);
    l->bus = b;
    l->conversation = xstrdup(conversation);
    bus_stream_add_token(&l->key, conversation);
    l->session = (struct turn_lock_session){xstrdup(session->agent), xstrdup(session->id)};
    l->is_note = is_note;
    LIST_INSERT_HEAD(&b->leaves, l, next);
    turn_lock_leave_read(l);
}

void turn_lock_bus_drop(struct turn_lock_bus *b, const char *conversation,
                        const struct turn_lock_session *session)
{
    turn_lock_bus_leave(b, conversation, session, false);
}

void turn_lock_bus_note(struct turn_lock_bus *b, const char *conversation,
                        const struct turn_lock_session *session)
{
    turn_lock_bus_leave(b, conversation, session, true);
}

/* It is taken again before it was dropped. */
static void turn_lock_bus_forget_drop(struct turn_lock_bus *b, const char *conversation)
{
    struct turn_lock_leave *l = LIST_FIRST(&b->leaves), *next;
    for (; l; l = next) {
        next = LIST_NEXT(l, next);
        if (!l->is_note && strcmp(l->conversation, conversation) == 0)
            turn_lock_leave_free(l);
    }
}

static void turn_lock_bus_on_retry(void *arg)
{
    struct turn_lock_bus *const b = arg;
    struct turn_lock_leave *l;
    LIST_FOREACH (l, &b->leaves, next)
        turn_lock_leave_read(l);
}

/* ---- its life ---- */

static void turn_lock_bus_on_active(void *ctx)
{
    struct turn_lock_bus *const b = ctx;
    b->settled_ms = b->has_been_active ? clock_mono_ms() + SETTLE_MS : 0;
    b->has_been_active = true;
    turn_lock_bus_on_retry(b);
    b->spec.active(b->spec.ctx);
}

static void turn_lock_bus_on_looked(void *ctx)
{
    const struct turn_lock_bus *const b = ctx;
    b->spec.looked(b->spec.ctx, work_hosts_count_others(b->spec.hosts));
}

struct turn_lock_bus *turn_lock_bus_new(const struct turn_lock_bus_spec *spec)
{
    struct turn_lock_bus *const b = xcalloc(1, sizeof *b);
    b->spec = *spec;
    b->link = bus_get_link(spec->bus);
    LIST_INIT(&b->asks);
    LIST_INIT(&b->leaves);
    b->retry = loop_timer_new(b->link->loop, turn_lock_bus_on_retry, b);
    b->listener = work_hosts_listen(spec->hosts, turn_lock_bus_on_looked, b);
    b->watcher = bus_watch(spec->bus, turn_lock_bus_on_active, b);
    return b;
}

void turn_lock_bus_free(struct turn_lock_bus *b)
{
    struct turn_lock_ask *a;
    struct turn_lock_leave *l;
    if (!b)
        return;
    bus_watcher_free(b->watcher);
    work_hosts_listener_free(b->listener);
    while ((l = LIST_FIRST(&b->leaves)))
        turn_lock_leave_free(l);
    while ((a = LIST_FIRST(&b->asks))) {
        LIST_REMOVE(a, next);
        nats_client_forget(b->link->client, a);
        a->done(a->ctx, -1);
        if (a->waits_for_journal)
            a->bus = NULL;
        else
            turn_lock_ask_free(a);
    }
    loop_timer_free(b->retry);
    free(b);
}
