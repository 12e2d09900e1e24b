/* SPDX-License-Identifier: MIT
 * Outbound websocket connections of an instance, by the number the instance chose; closes them
 * when it stops. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/log.h"
#include "core/connector/connector_internal.h"
#include "io/websocket/websocket.h"
#include "plugin/outbox/outbox_expand.h"

struct connector_socket {
    struct connector_socket *next;
    struct connector_instance *instance; /* NULL: the instance has ended */
    int64_t number;
    struct websocket_conn *conn;
};

static struct connector_socket *find_socket(const struct connector_instance *r, int64_t number)
{
    struct connector_socket *s = r->sockets;
    while (s && s->number != number)
        s = s->next;
    return s;
}

static void connector_socket_unlink(struct connector_socket *s)
{
    for (struct connector_socket **at = s->instance ? &s->instance->sockets : NULL; at && *at;
         at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    free(s);
}

static void connector_socket_deliver_event(struct connector_instance *r, int64_t number,
                                           enum tc_socket_event event, struct str text)
{
    const struct tc_frame frame = {
        .socket = number, .event = event, .text = text.p ? text.p : "", .len = text.len};
    r->channel->ops->frame(r->channel, &frame);
}

static void on_event(void *arg, enum websocket_event event, struct str text)
{
    static const enum tc_socket_event events[] = {
        [WEBSOCKET_OPEN] = TC_SOCKET_OPEN,
        [WEBSOCKET_TEXT] = TC_SOCKET_TEXT,
        [WEBSOCKET_BINARY] = TC_SOCKET_BINARY,
        [WEBSOCKET_CLOSED] = TC_SOCKET_CLOSED,
    };
    struct connector_socket *const s = arg;
    if (s->instance)
        connector_socket_deliver_event(s->instance, s->number, events[event], text);
    if (event == WEBSOCKET_CLOSED)
        connector_socket_unlink(s);
}

/* URL and headers with options and secrets inserted, in the arena. -1 with err. */
static int fill_socket_spec(struct connector_instance *r, struct arena *arena,
                            const struct tc_socket *spec, struct websocket_spec *to,
                            struct tc_err *err)
{
    const struct expand_source source = {connector_find_option, r,
                                         r->outbox ? outbox_secrets(r->outbox) : NULL};
    struct websocket_header *const headers =
        arena_alloc(arena, (spec->header_count + 1) * sizeof *headers);
    const char *wrong;
    *to = (struct websocket_spec){.url = outbox_expand_text(arena, &source, spec->url, &wrong),
                                  .ping_ms = spec->ping_ms,
                                  .silent_ms = spec->silent_ms,
                                  .headers = headers,
                                  .binary = spec->binary,
                                  .close_status = spec->close_status};
    for (size_t i = 0; i < spec->header_count && !wrong; i++) {
        const char *const value =
            outbox_expand_header(arena, &source, spec->headers[i].value, &wrong);
        if (value)
            headers[to->header_count++] = (struct websocket_header){spec->headers[i].name, value};
    }
    return wrong ? err_set(err, NULL, "%s", wrong) : 0;
}

static struct websocket_conn *connect_socket(struct connector_instance *r,
                                             struct connector_socket *s,
                                             const struct tc_socket *spec, struct tc_err *err)
{
    struct arena arena = {0};
    struct websocket_spec wanted;
    struct websocket_conn *conn = NULL;
    if (!r->services.websocket)
        err_set(err, NULL, "websockets are not available");
    else if (fill_socket_spec(r, &arena, spec, &wanted, err) == 0)
        conn = websocket_open(r->services.websocket, &wanted, on_event, s, err);
    arena_fini(&arena);
    return conn;
}

void connector_socket_open(void *instance, int64_t number, const struct tc_socket *spec)
{
    struct connector_instance *const r = instance;
    struct tc_err err = {0};
    if (!connector_may_act(r))
        return;
    struct connector_socket *const s = xmalloc(sizeof *s);
    *s = (struct connector_socket){r->sockets, r, number, NULL};
    r->sockets = s;
    s->conn = connect_socket(r, s, spec, &err);
    if (s->conn)
        return;
    log_write(LOG_ERR, "host", "instance %s: cannot open a websocket: %s", r->name, err.text);
    connector_socket_unlink(s);
    connector_socket_deliver_event(r, number, TC_SOCKET_CLOSED,
                                   (struct str){err.text, strlen(err.text)});
}

void connector_socket_send(void *instance, int64_t number, struct str message, bool is_binary)
{
    const struct connector_instance *const r = instance;
    const struct connector_socket *const s = find_socket(r, number);
    if (s && (is_binary ? websocket_send_binary : websocket_send)(s->conn, message) < 0)
        log_write(LOG_WARN, "host", "instance %s: cannot send a websocket message", r->name);
}

void connector_socket_close(void *instance, int64_t number)
{
    const struct connector_socket *const s = find_socket(instance, number);
    if (s)
        websocket_close(s->conn);
}

void connector_sockets_fini(struct connector_instance *r)
{
    for (struct connector_socket *s = r->sockets, *next; s; s = next) {
        next = s->next;
        s->instance = NULL; /* freed with its last event */
        websocket_close(s->conn);
    }
    r->sockets = NULL;
}
