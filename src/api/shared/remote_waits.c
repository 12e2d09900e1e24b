/* SPDX-License-Identifier: MIT
 * Sends and repeats the request "wait" to other hosts. */
#include "api/shared/remote_waits.h"

#include <stdlib.h>

#include "api/shared/abandoned_turns.h"
#include "api/shared/api_internal.h"
#include "base/alloc.h"
#include "core/bus/bus.h"
#include "event/json/json_writer.h"

#define TELL_MS 3000
#define HOLD_MS 10000 /* how long a host remembers the request */

struct remote_waits {
    struct api_context *api;
    struct loop_timer *timer;
};

/* An absent host cannot cancel the turn, so a failure is ignored. */
static void remote_waits_ignore(void *ctx, enum nats_client_result result, struct str body)
{
    (void)ctx;
    (void)result;
    (void)body;
}

static void remote_waits_notify_host(void *ctx, const char *turn)
{
    struct remote_waits *const w = ctx;
    const struct turnlog_turn *const t = turnlog_find_turn(w->api->host.turnlog, turn);
    CLEANUP_BUF struct buf body = {0};
    if (!t || !t->spec.host || turnlog_turn_is_finished(t))
        return;
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "turn", turn);
    buf_add_char(&body, '}');
    bus_ask(w->api->host.bus, t->spec.host, "wait", (struct str){body.p, body.len},
            remote_waits_ignore, NULL);
    loop_timer_set(w->timer, TELL_MS);
}

void remote_waits_send_update(struct remote_waits *w, const char *turn)
{
    remote_waits_notify_host(w, turn);
}

static void remote_waits_on_timer(void *arg)
{
    const struct remote_waits *const w = arg;
    event_stream_visit_awaited(w->api, remote_waits_notify_host, arg);
}

static void remote_waits_handle_call(void *ctx, struct bus_call *call, struct str body)
{
    const struct remote_waits *const w = ctx;
    json_t *const asked = json_loadb(body.p, body.len, 0, NULL);
    const char *const id = json_string_value(json_object_get(asked, "turn"));
    const struct turnlog_turn *const t = id ? turnlog_find_turn(w->api->host.turnlog, id) : NULL;
    if (t && !t->spec.host && !turnlog_turn_is_finished(t) && w->api->abandoned)
        abandoned_turns_extend(w->api->abandoned, id, HOLD_MS);
    json_decref(asked);
    bus_call_answer(call, STR("{}"));
}

struct remote_waits *remote_waits_new(struct api_context *a)
{
    if (!a->host.bus)
        return NULL;
    struct remote_waits *const w = xcalloc(1, sizeof *w);
    w->api = a;
    w->timer = loop_timer_new(a->host.loop, remote_waits_on_timer, w);
    bus_serve(a->host.bus, "wait", remote_waits_handle_call, w);
    return w;
}

void remote_waits_free(struct remote_waits *w)
{
    if (!w)
        return;
    loop_timer_free(w->timer);
    free(w);
}
