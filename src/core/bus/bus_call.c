/* SPDX-License-Identifier: MIT
 * Requests between hosts: incoming ones, outgoing ones, and the list of hosts. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "core/bus/bus_internal.h"
#include "event/json/json_reader.h"

#define FEED_MAX ((int64_t)512 << 10)
#define HOSTS_MAX 1000

struct bus_service {
    LIST_ENTRY(bus_service) next;
    const char *verb;
    bus_handler *handler;
    void *ctx;
};

struct bus_call {
    LIST_ENTRY(bus_call) next;
    struct bus *bus; /* NULL: the bus was freed, and the reply is dropped */
    char reply[];
};

/* ---- incoming requests ---- */

void bus_serve(struct bus *b, const char *verb, bus_handler *handler, void *ctx)
{
    struct bus_service *const s = xcalloc(1, sizeof *s);
    *s = (struct bus_service){.verb = verb, .handler = handler, .ctx = ctx};
    LIST_INSERT_HEAD(&b->services, s, next);
}

void bus_call_answer(struct bus_call *call, struct str body)
{
    if (call->bus) {
        LIST_REMOVE(call, next);
        nats_client_publish(call->bus->link.client, &(struct nats_client_publication){
                                                        .subject = call->reply, .data = body});
    }
    free(call);
}

static const struct bus_service *bus_call_find(const struct bus *b, const char *verb)
{
    const struct bus_service *s;
    LIST_FOREACH (s, &b->services, next)
        if (strcmp(s->verb, verb) == 0)
            return s;
    return NULL;
}

static void bus_call_on_request(void *ctx, const struct nats_client_message *m)
{
    struct bus *const b = ctx;
    const struct bus_service *const s = bus_call_find(b, strrchr(m->subject, '.') + 1);
    if (!m->reply || !s)
        return;
    struct bus_call *const call = xmalloc(sizeof *call + strlen(m->reply) + 1);
    call->bus = b;
    strcpy(call->reply, m->reply);
    LIST_INSERT_HEAD(&b->calls, call, next);
    s->handler(s->ctx, call, m->data);
}

/* ---- request "feed": events for hosts that missed some ---- */

static void bus_call_on_feed(void *ctx, struct bus_call *call, struct str body)
{
    const struct bus *const b = ctx;
    CLEANUP_BUF struct buf out = {0};
    struct arena arena = {0};
    const struct str turn = bus_message_text(body, "/turn");
    const int64_t max = bus_message_number(body, "/max"),
                  after = bus_message_number(body, "/after");
    const char *const id = arena_strndup(&arena, turn.p, turn.len);
    const uint64_t behind = after > 0 ? (uint64_t)after : 0;
    const size_t limit = (size_t)(max > 0 && max < FEED_MAX ? max : FEED_MAX);
    if (!bus_publisher_feed(b->publisher, id, behind, limit, &out) &&
        (!b->runs || !bus_publisher_feed(b->runs, id, behind, limit, &out)))
        buf_add_str(&out, "{}");
    bus_call_answer(call, (struct str){out.p, out.len});
    arena_fini(&arena);
}

void bus_calls_begin(struct bus *b)
{
    CLEANUP_BUF struct buf subject = {0};
    LIST_INIT(&b->services);
    LIST_INIT(&b->calls);
    bus_stream_request_subject(&subject, &b->link.names, b->link.names.host, "*");
    b->requests = nats_client_subscribe(b->link.client, subject.p, bus_call_on_request, b);
    bus_serve(b, "feed", bus_call_on_feed, b);
}

void bus_calls_end(struct bus *b)
{
    struct bus_service *s;
    struct bus_call *call;
    nats_client_unsubscribe(b->requests);
    while ((s = LIST_FIRST(&b->services))) {
        LIST_REMOVE(s, next);
        free(s);
    }
    while ((call = LIST_FIRST(&b->calls))) {
        LIST_REMOVE(call, next);
        call->bus = NULL; /* its handler may still reply */
    }
}

/* ---- outgoing requests ---- */

struct bus_outgoing_call {
    bus_on_answer *on_answer;
    void *ctx;
};

static void bus_call_on_answer(void *ctx, enum nats_client_result result,
                               const struct nats_client_message *m)
{
    struct bus_outgoing_call *const q = ctx;
    q->on_answer(q->ctx, result, m ? m->data : STR(""));
    free(q);
}

void bus_ask(struct bus *b, const char *host, const char *verb, struct str body,
             bus_on_answer *on_answer, void *ctx)
{
    CLEANUP_BUF struct buf subject = {0};
    struct bus_outgoing_call *const q = xmalloc(sizeof *q);
    *q = (struct bus_outgoing_call){on_answer, ctx};
    bus_stream_request_subject(&subject, &b->link.names, host, verb);
    nats_client_request(b->link.client,
                        &(struct nats_client_publication){.subject = subject.p, .data = body},
                        BUS_REQUEST_MS, bus_call_on_answer, q);
}

void bus_describe_failure(struct buf *out, enum nats_client_result result, const char *host)
{
    switch (result) {
    case NATS_CLIENT_NOBODY:
        buf_printf(out, "The turn runs on host \"%s\", which is not there.", host);
        return;
    case NATS_CLIENT_UNSENT:
        buf_printf(out, "The turn runs on host \"%s\", and this host is not connected to the bus.",
                   host);
        return;
    case NATS_CLIENT_UNKNOWN:
    case NATS_CLIENT_REPLIED:
        break;
    }
    buf_printf(out, "The turn runs on host \"%s\", which does not answer.", host);
}

/* ---- the list of hosts ---- */

struct bus_listing {
    struct bus *bus;
    unsigned n;
    void (*each)(void *ctx, const struct bus_host *host);
    void (*done)(void *ctx, bool failed);
    void *ctx;
};

static void bus_call_next_host(struct bus_listing *l, uint64_t sequence);

/* A JSON array or object of the entry, verbatim; an empty one if absent. */
static const char *bus_call_get_member(struct arena *a, struct str entry, const char *pointer,
                                       const char *none)
{
    const struct str value = json_reader_pointer(entry, pointer);
    return value.len && *value.p == *none ? arena_strndup(a, value.p, value.len) : none;
}

static void bus_call_report_host(struct bus_listing *l, const struct nats_client_message *m)
{
    struct arena arena = {0};
    struct bus_origin from;
    const struct str version = bus_message_text(m->data, "/version");
    if (bus_origin_read(m->data, &from) == 0)
        l->each(l->ctx, &(struct bus_host){
                            .name = from.host,
                            .version = arena_strndup(&arena, version.p, version.len),
                            .leads = bus_call_get_member(&arena, m->data, "/leads", "[]"),
                            .roles = bus_call_get_member(&arena, m->data, "/roles", "[]"),
                            .agents = bus_call_get_member(&arena, m->data, "/agents", "{}"),
                            .is_own = strcmp(from.boot, l->bus->link.boot) == 0,
                            .is_draining = str_is(bus_message_value(m->data, "/draining"), "true"),
                            .since_ms = bus_message_number(m->data, "/since_ms"),
                        });
    arena_fini(&arena);
}

static void bus_call_on_host(void *ctx, enum nats_client_result result,
                             const struct nats_client_message *m)
{
    struct bus_listing *const l = ctx;
    const bool is_entry = result == NATS_CLIENT_REPLIED && m->sequence;
    if (is_entry && l->n++ < HOSTS_MAX && l->bus->link.is_active) {
        bus_call_report_host(l, m);
        bus_call_next_host(l, m->sequence + 1);
        return;
    }
    l->done(l->ctx, result != NATS_CLIENT_REPLIED);
    free(l);
}

static void bus_call_next_host(struct bus_listing *l, uint64_t sequence)
{
    CLEANUP_BUF struct buf subject = {0};
    bus_stream_subject(&subject, &l->bus->link.names, BUS_HOSTS, "*", NULL);
    bus_link_read_next(&l->bus->link, BUS_HOSTS, subject.p, sequence, bus_call_on_host, l);
}

void bus_list_hosts(struct bus *b, void (*each)(void *ctx, const struct bus_host *host),
                    void (*done)(void *ctx, bool failed), void *ctx)
{
    struct bus_listing *const l = xmalloc(sizeof *l);
    *l = (struct bus_listing){.bus = b, .each = each, .done = done, .ctx = ctx};
    bus_call_next_host(l, 1);
}
