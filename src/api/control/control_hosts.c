/* SPDX-License-Identifier: MIT
 * Tells the hosts on the bus, and the state of this one's connection to it. */
#include <stdlib.h>

#include "api/control/control_internal.h"
#include "api/shared/api_http.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "core/bus/bus.h"
#include "event/json/json_writer.h"

void control_append_bus(struct buf *out, const struct bus *bus)
{
    const struct bus_status s = bus_get_status(bus);
    jsonw_key(out, "bus");
    buf_add_char(out, '{');
    jsonw_member_str(out, "state", bus_state_name(s.state));
    jsonw_member_str(out, "host", s.host);
    if (*s.server)
        jsonw_member_str(out, "server", s.server);
    if (*s.why)
        jsonw_member_str(out, "reason", s.why);
    jsonw_member_int(out, "for_ms", clock_mono_ms() - s.since_ms);
    jsonw_member_int(out, "waiting", (int64_t)s.waiting);
    jsonw_member_int(out, "followed", (int64_t)s.followed);
    buf_add_char(out, '}');
}

/* An answer that waits for the servers. */
struct control_hosts {
    struct control *control;
    struct httpd_request *request;
    struct buf list;
};

struct control_hosts_count {
    const char *host;
    int64_t running;
};

static bool control_hosts_count_turn(void *ctx, const struct turnlog_turn *t)
{
    struct control_hosts_count *const c = ctx;
    const bool is_of = c->host ? t->spec.host && strcmp(t->spec.host, c->host) == 0 : !t->spec.host;
    c->running += is_of && !turnlog_turn_is_finished(t);
    return true;
}

static void control_hosts_add(void *ctx, const struct bus_host *host)
{
    struct control_hosts *const h = ctx;
    struct control_hosts_count count = {.host = host->is_own ? NULL : host->name};
    turnlog_each_turn(host_get_parts(h->control->server).turnlog, control_hosts_count_turn, &count);
    buf_add_str(&h->list, h->list.len ? ",{" : "{");
    jsonw_member_str(&h->list, "name", host->name);
    jsonw_member_str(&h->list, "version", host->version);
    jsonw_member_int(&h->list, "since_ms", host->since_ms);
    jsonw_member_int(&h->list, "turns", count.running);
    jsonw_key(&h->list, "leads");
    buf_add_str(&h->list, host->leads);
    jsonw_member_bool(&h->list, "own", host->is_own);
    buf_add_char(&h->list, '}');
}

static void control_hosts_answer(const struct control_hosts *h, bool failed)
{
    const struct host_parts host = host_get_parts(h->control->server);
    CLEANUP_BUF struct buf out = {0};
    buf_add_char(&out, '{');
    control_append_bus(&out, host.bus);
    jsonw_member_bool(&out, "complete", !failed);
    buf_printf(&out, ",\"hosts\":[%s]}\n", h->list.len ? h->list.p : "");
    api_http_send_json(h->request, 200, &out);
}

static void control_hosts_on_done(void *ctx, bool failed)
{
    struct control_hosts *const h = ctx;
    if (h->control->gone)
        api_http_error(h->request, 503, "ending", "turncast is shutting down.");
    else
        control_hosts_answer(h, failed);
    control_on_reply_sent(h->control);
    buf_fini(&h->list);
    free(h);
}

void control_handle_hosts(void *control, struct httpd_request *r)
{
    struct control *const c = control;
    struct bus *const bus = host_get_parts(c->server).bus;
    if (!bus) {
        api_http_error(r, 404, "no_bus", "This host is alone: the configuration has no bus.");
        return;
    }
    struct control_hosts *const h = xcalloc(1, sizeof *h);
    h->control = c;
    h->request = r;
    c->asking++;
    bus_list_hosts(bus, control_hosts_add, control_hosts_on_done, h);
}
