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

struct connector_socket {
    struct connector_socket *next;
    struct connector_instance *instance; /* NULL: it has ended */
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

static void forget_socket(struct connector_socket *s)
{
    for (struct connector_socket **at = s->instance ? &s->instance->sockets : NULL; at && *at;
         at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    free(s);
}

static void connector_socket_tell(struct connector_instance *r, int64_t number,
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
        [WEBSOCKET_CLOSED] = TC_SOCKET_CLOSED,
    };
    struct connector_socket *const s = arg;
    if (s->instance)
        connector_socket_tell(s->instance, s->number, events[event], text);
    if (event == WEBSOCKET_CLOSED)
        forget_socket(s);
}

/* Puts the options in. */
static char *fill_url(struct connector_instance *r, const char *url)
{
    static const char lead[] = "{option:";
    struct buf out = {0};
    for (const char *at; (at = strstr(url, lead));) {
        const char *const name = at + strlen(lead), *const end = strchr(name, '}');
        if (!end)
            break;
        CLEANUP_FREE char *key = xstrndup(name, (size_t)(end - name));
        const char *const value = connector_find_option(r, key);
        buf_add(&out, url, (size_t)(at - url));
        buf_add_str(&out, value ? value : "");
        url = end + 1;
    }
    buf_add_str(&out, url);
    return buf_steal(&out);
}

void connector_socket_open(void *instance, int64_t number, const struct tc_socket *spec)
{
    struct connector_instance *const r = instance;
    struct tc_err err = {0};
    CLEANUP_FREE char *url = fill_url(r, spec->url);
    struct connector_socket *const s = xmalloc(sizeof *s);
    *s = (struct connector_socket){r->sockets, r, number, NULL};
    r->sockets = s;
    const struct websocket_spec wanted = {url, spec->ping_ms, spec->silent_ms};
    if (r->services.websocket)
        s->conn = websocket_open(r->services.websocket, &wanted, on_event, s, &err);
    else
        err_set(&err, NULL, "websockets are not available");
    if (s->conn)
        return;
    log_write(LOG_ERR, "host", "instance %s: cannot open a websocket: %s", r->name, err.text);
    forget_socket(s);
    connector_socket_tell(r, number, TC_SOCKET_CLOSED, (struct str){err.text, strlen(err.text)});
}

void connector_socket_send(void *instance, int64_t number, struct str text)
{
    const struct connector_instance *const r = instance;
    const struct connector_socket *const s = find_socket(r, number);
    if (s && websocket_send(s->conn, text) < 0)
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
        s->instance = NULL; /* it is freed with its last event */
        websocket_close(s->conn);
    }
    r->sockets = NULL;
}
