/* SPDX-License-Identifier: MIT
 * The websocket that the host keeps open for a plugin (tc_link_keep): its connections one after the
 * other, the time limit of the greeting, heartbeats, back-off, and the permanent end. Owns the
 * state of the link; the plugin supplies the address and the meaning of frames. Runs on the thread
 * of the instance. An attempt that fails is logged once and repeated. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "base/versioned.h"
#include "io/websocket/websocket.h"
#include "plugin/instance/services_internal.h"

#define LINK_HELLO_MS 20000
#define LINK_BACKOFF_MS 1000
#define LINK_BACKOFF_MAX_MS 64000
/* Number of heartbeats after which a connection that is not ready is closed. */
#define LINK_JOINING_BEATS 3u

enum link_phase {
    LINK_WAITING, /* the timer starts the next connection */
    LINK_ASKING,  /* the plugin has sent a request for the URL */
    LINK_OPENING, /* a websocket is being opened, no greeting yet */
    LINK_JOINING, /* the service has greeted */
    LINK_READY,
    LINK_LEAVING, /* the host has closed the websocket, and waits for its end */
    LINK_STOPPED, /* for good */
};

struct instance_link {
    struct tc_link table; /* the plugin's, completed */
    enum link_phase phase;
    int64_t due_ms;   /* time of the timer, monotonic; INT64_MAX: none */
    int64_t socket;   /* the newest; 0: none */
    int64_t old;      /* replaced, and in use until the newest is ready; 0: none */
    int64_t taken;    /* connection whose frame is being passed to the plugin; 0: none */
    int64_t delay_ms; /* delay that the plugin requested before the next connection; negative: the
                         back-off */
    int64_t beat_ms;
    int status;        /* with which the service closed the last connection; 0: none */
    unsigned failures; /* connections in a row that did not last */
    unsigned unopened; /* connections in a row without a greeting */
    unsigned beats;    /* heartbeats sent before the connection was ready */
    bool is_answered;  /* the last heartbeat was */
};

static void link_set_timer(struct instance_link *l, int64_t ms)
{
    l->due_ms = ms < 0 ? INT64_MAX : clock_mono_ms() + (ms < 1 ? 1 : ms);
}

static void link_wait(struct instance_link *l, int64_t ms)
{
    l->phase = LINK_WAITING;
    link_set_timer(l, ms);
}

/* The delay doubles with each failure. It is random, because instances that fail at the same time
 * should not retry at the same time. */
static int64_t link_backoff_ms(const struct instance_link *l)
{
    int64_t ms = l->table.backoff_ms;
    for (unsigned i = 0; i < l->failures && ms < l->table.backoff_max_ms; i++)
        ms *= 2;
    if (ms > l->table.backoff_max_ms)
        ms = l->table.backoff_max_ms;
    return service_random(NULL, ms - ms / 3, ms);
}

static void link_open_later(struct instance_link *l)
{
    const bool asked_for = l->delay_ms > 0 || (l->delay_ms == 0 && l->failures == 0);
    link_wait(l, asked_for ? l->delay_ms : link_backoff_ms(l));
    l->failures++;
    l->delay_ms = -1;
}

/* delay_ms: as in tc_link_renew. The wait begins when the websocket has ended. */
static void link_close_connection(struct instance *in, int64_t delay_ms)
{
    struct instance_link *const l = in->sockets.link;
    l->delay_ms = delay_ms;
    l->phase = LINK_LEAVING;
    link_set_timer(l, -1);
    service_socket_close(&in->handle, l->socket);
}

static void link_close_old(struct instance *in)
{
    if (in->sockets.link->old)
        service_socket_close(&in->handle, in->sockets.link->old);
    in->sockets.link->old = 0;
}

static void link_stop(struct instance *in, const char *why)
{
    struct instance_link *const l = in->sockets.link;
    if (l->phase == LINK_STOPPED)
        return;
    log_write(LOG_ERR, in->label,
              "disconnected from %s for good: %s; then restart the instance; nothing is received",
              l->table.service, why);
    l->phase = LINK_STOPPED;
    link_set_timer(l, -1);
    link_close_old(in);
    if (l->socket)
        service_socket_close(&in->handle, l->socket);
}

/* ---- the timer ---- */

static void link_connect(struct instance *in)
{
    struct instance_link *const l = in->sockets.link;
    const size_t requests = in->context.requests;
    l->phase = LINK_ASKING;
    link_set_timer(l, -1);
    const int rc = l->table.connect(&in->context.handle, l->status, l->unopened);
    if (l->phase != LINK_ASKING || (rc == 0 && in->context.requests > requests))
        return;
    if (l->failures == 0)
        log_write(LOG_WARN, in->label, "cannot connect to %s; retrying", l->table.service);
    link_open_later(l);
}

static void link_send_heartbeat(struct instance *in)
{
    struct instance_link *const l = in->sockets.link;
    const bool joined = l->phase == LINK_READY || l->beats++ < LINK_JOINING_BEATS;
    if (!l->is_answered || !joined) {
        log_write(LOG_WARN, in->label, "%s does not %s; reconnecting", l->table.service,
                  joined ? "answer heartbeats" : "begin a session");
        link_close_connection(in, 0);
        return;
    }
    const char *const text = l->table.heartbeat(&in->context.handle);
    l->is_answered = false;
    service_link_send(&in->context.handle, text);
    link_set_timer(l, l->beat_ms);
}

void instance_link_wake(struct instance *in)
{
    struct instance_link *const l = in->sockets.link;
    if (l->phase == LINK_WAITING)
        link_connect(in);
    else if (l->phase == LINK_READY || (l->phase == LINK_JOINING && l->beat_ms > 0))
        link_send_heartbeat(in);
    else
        link_close_connection(in, -1); /* no greeting in time */
}

int64_t instance_link_next_ms(const struct instance *in)
{
    return in->sockets.link ? in->sockets.link->due_ms : INT64_MAX;
}

/* ---- frames and replies ---- */

static const char *link_find_remedy(const struct instance_link *l)
{
    for (const struct tc_link_fault *f = l->table.faults; f && f->status; f++)
        if (f->status == l->status)
            return f->remedy;
    return NULL;
}

/* The status in the service's close frame; 0: the connection ended in another way. */
static int link_status_of(const char *reason)
{
    static const char before[] = WEBSOCKET_CLOSED_BY_SERVICE;
    const size_t n = sizeof before - 1;
    return strncmp(reason, before, n) == 0 ? (int)strtol(reason + n, NULL, 10) : 0;
}

static void link_handle_end(struct instance *in, const struct tc_frame *frame)
{
    struct instance_link *const l = in->sockets.link;
    if (frame->socket == l->old)
        l->old = 0;
    if (frame->socket != l->socket)
        return;
    l->socket = 0;
    l->status = link_status_of(frame->text);
    if (l->phase == LINK_STOPPED)
        return;
    const char *const remedy = link_find_remedy(l);
    if (remedy) {
        link_stop(in, remedy);
        return;
    }
    if (l->delay_ms < 0 && l->failures == 0)
        log_write(LOG_WARN, in->label, "connection to %s lost: %s; reconnecting", l->table.service,
                  frame->text);
    link_open_later(l);
}

/* A frame of a connection that is being closed is dropped: the service repeats events that were not
 * confirmed, and a plugin that stores its position must not continue after a gap. */
bool instance_link_begin_frame(struct instance *in, const struct tc_frame *frame)
{
    struct instance_link *const l = in->sockets.link;
    const bool is_current = frame->socket == l->socket && l->phase != LINK_LEAVING;
    if (frame->event == TC_SOCKET_CLOSED) {
        link_handle_end(in, frame);
        return false;
    }
    if (l->phase == LINK_STOPPED || (!is_current && frame->socket != l->old))
        return false;
    l->taken = frame->socket;
    if (frame->event != TC_SOCKET_OPEN)
        return true;
    if (l->table.hello_ms < 0)
        service_link_step(&in->context.handle, TC_LINK_READY, 0, NULL);
    l->taken = 0;
    return false;
}

void instance_link_end_frame(struct instance *in)
{
    in->sockets.link->taken = 0;
}

void instance_link_handle_reply(struct instance *in, const struct tc_reply *reply,
                                const struct tc_verdict *verdict)
{
    struct instance_link *const l = in->sockets.link;
    if (l->phase != LINK_ASKING || verdict->next == TC_NEXT_AGAIN || !l->table.tag ||
        strcmp(reply->tag, l->table.tag) != 0)
        return;
    if (l->failures == 0)
        log_write(LOG_WARN, in->label, "cannot ask %s where to connect: %s; retrying",
                  l->table.service,
                  verdict->reason ? verdict->reason
                  : *reply->error ? reply->error
                                  : "unexpected response");
    link_open_later(l);
}

/* ---- for the plugin ---- */

int service_link_keep(struct tc_instance *inst, const struct tc_link *given)
{
    struct instance *const in = instance_check_thread(inst, "tc_link_keep");
    struct tc_link table;
    versioned_copy(&table, sizeof table, given);
    if (!in)
        return -1;
    if (!table.service || !table.connect)
        return services_refuse(in, "tc_link_keep",
                               "the service or its function connect is missing");
    if (in->sockets.link)
        return 0;
    table.hello_ms = table.hello_ms ? table.hello_ms : LINK_HELLO_MS;
    table.backoff_ms = table.backoff_ms > 0 ? table.backoff_ms : LINK_BACKOFF_MS;
    table.backoff_max_ms = table.backoff_max_ms > 0 ? table.backoff_max_ms : LINK_BACKOFF_MAX_MS;
    in->sockets.link = xcalloc(1, sizeof *in->sockets.link);
    *in->sockets.link = (struct instance_link){.table = table, .delay_ms = -1};
    link_wait(in->sockets.link, 0);
    return 0;
}

/* The instance of this lobby, if it has a link; else NULL, and the failure is logged. */
static struct instance *services_check_link(struct tc_turn *lobby, const char *service)
{
    struct instance_turn *const t = instance_check_turn(lobby, service);
    if (t && !t->in->sockets.link)
        services_refuse(t->in, service, "tc_link_keep has not been called");
    return t && t->in->sockets.link ? t->in : NULL;
}

int service_link_open(struct tc_turn *lobby, const struct tc_socket *socket)
{
    struct instance *const in = services_check_link(lobby, "tc_link_open");
    struct instance_link *const l = in ? in->sockets.link : NULL;
    if (!l || l->phase != LINK_ASKING)
        return -1;
    const int64_t number = service_socket_open(&in->handle, socket);
    if (number < 0) {
        link_open_later(l);
        return -1;
    }
    instance_socket_find(in, number)->is_link = true;
    l->socket = number;
    l->phase = LINK_OPENING;
    l->unopened++;
    link_set_timer(l, l->table.hello_ms);
    return 0;
}

int service_link_send(struct tc_turn *lobby, const char *text)
{
    struct instance *const in = services_check_link(lobby, "tc_link_send");
    if (!in || !text)
        return -1;
    const struct instance_link *const l = in->sockets.link;
    return service_socket_send(&in->handle, l->taken ? l->taken : l->socket, text, strlen(text));
}

static int link_handle_hello(struct instance_link *l, int64_t beat_ms)
{
    if (l->phase != LINK_OPENING || l->taken != l->socket)
        return -1;
    l->phase = LINK_JOINING;
    l->beat_ms = l->table.heartbeat ? beat_ms : 0;
    l->is_answered = true;
    l->unopened = l->beats = 0;
    /* The first heartbeat is sent at a random time, so that the clients of a service that has
     * restarted do not all send it at the same time. */
    link_set_timer(l, l->beat_ms > 0 ? service_random(NULL, 0, l->beat_ms) : l->table.hello_ms);
    return 0;
}

static int link_handle_ready(struct instance *in, const char *how)
{
    struct instance_link *const l = in->sockets.link;
    if (l->phase == LINK_OPENING)
        link_handle_hello(l, 0);
    if (l->phase != LINK_JOINING || l->taken != l->socket)
        return -1;
    if (l->failures > 0 || !l->old)
        log_write(LOG_INFO, in->label, "connected to %s%s%s%s", l->table.service, how ? " (" : "",
                  how ? how : "", how ? ")" : "");
    l->phase = LINK_READY;
    link_close_old(in);
    if (l->beat_ms > 0)
        return 0; /* an answered heartbeat shows that it lasts */
    l->failures = 0;
    link_set_timer(l, -1);
    return 0;
}

static int link_handle_alive(struct instance_link *l)
{
    l->is_answered = true;
    if (l->phase == LINK_READY)
        l->failures = 0;
    return 0;
}

/* A connection that has been replaced is not renewed, because its replacement is already being
 * opened. */
static int link_renew(struct instance *in, int64_t delay_ms)
{
    struct instance_link *const l = in->sockets.link;
    if (l->taken && l->taken != l->socket)
        return -1;
    if (l->socket) {
        link_close_connection(in, delay_ms);
        return 0;
    }
    if (l->phase != LINK_ASKING)
        return -1;
    l->delay_ms = delay_ms;
    link_open_later(l);
    return 0;
}

static int link_replace(struct instance *in, int64_t delay_ms)
{
    struct instance_link *const l = in->sockets.link;
    if (l->phase != LINK_READY || (l->taken && l->taken != l->socket))
        return -1;
    link_close_old(in);
    l->old = l->socket;
    l->socket = 0;
    if (delay_ms < 0)
        link_open_later(l);
    else
        link_wait(l, delay_ms); /* not after a failure */
    return 0;
}

int service_link_step(struct tc_turn *lobby, enum tc_link_step step, int64_t ms, const char *text)
{
    struct instance *const in = services_check_link(lobby, "tc_link_step");
    if (!in || in->sockets.link->phase == LINK_STOPPED)
        return -1;
    switch (step) {
    case TC_LINK_HELLO:
        return link_handle_hello(in->sockets.link, ms);
    case TC_LINK_READY:
        return link_handle_ready(in, text);
    case TC_LINK_ALIVE:
        return link_handle_alive(in->sockets.link);
    case TC_LINK_RENEW:
        return link_renew(in, ms);
    case TC_LINK_REPLACE:
        return link_replace(in, ms);
    case TC_LINK_STOP:
        link_stop(in, text ? text : "");
        return 0;
    }
    return -1;
}

void instance_link_free(struct instance *in)
{
    free(in->sockets.link);
    in->sockets.link = NULL;
}
