/* SPDX-License-Identifier: MIT
 * GET /hosts: the hosts on the bus, and the state of this host's connection. */
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "api/control/control_internal.h"
#include "api/shared/api_http.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "core/bus/bus.h"
#include "core/fleet/fleet_member.h"
#include "event/json/json_reader.h"
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

/* ---- the hosts and their replies ---- */

/* A host and its reply. */
struct control_hosts_item {
    STAILQ_ENTRY(control_hosts_item) next;
    struct control_hosts *all;
    char *name;
    const char *state;
    bool is_own;
    struct buf members; /* members of its JSON object */
    struct buf answer;  /* a JSON object; empty: no reply */
};

/* A response that waits for the NATS servers, then for the hosts. */
struct control_hosts {
    struct control *control;
    struct httpd_request *request;
    const char *verb; /* verb of the request to each host */
    const char *key;  /* name of the member for the reply */
    STAILQ_HEAD(control_hosts_list, control_hosts_item) list;
    unsigned open; /* outstanding replies */
    bool is_complete;
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

static struct control_hosts_item *control_hosts_append(struct control_hosts *h, const char *name,
                                                       const char *state)
{
    struct control_hosts_item *const item = xcalloc(1, sizeof *item);
    item->all = h;
    item->name = xstrdup(name);
    item->state = state;
    STAILQ_INSERT_TAIL(&h->list, item, next);
    return item;
}

static void control_hosts_add(void *ctx, const struct bus_host *host)
{
    struct control_hosts *const h = ctx;
    struct control_hosts_item *const item =
        control_hosts_append(h, host->name, host->is_draining ? "draining" : "ready");
    struct buf *const out = &item->members;
    struct control_hosts_count count = {.host = host->is_own ? NULL : host->name};
    turnlog_each_turn(host_get_parts(h->control->server).turnlog, control_hosts_count_turn, &count);
    item->is_own = host->is_own;
    jsonw_member_str(out, "version", host->version);
    jsonw_member_int(out, "since_ms", host->since_ms);
    jsonw_member_json(out, "roles", host->roles);
    jsonw_member_json(out, "agents", host->agents);
    jsonw_member_int(out, "turns", count.running);
    jsonw_member_json(out, "leads", host->leads);
}

static bool control_hosts_has(const struct control_hosts *h, const char *name)
{
    const struct control_hosts_item *item;
    STAILQ_FOREACH (item, &h->list, next)
        if (strcmp(item->name, name) == 0)
            return true;
    return false;
}

/* Hosts that may run an agent according to the configuration of this host, and that are absent. */
static void control_hosts_add_absent(struct control_hosts *h)
{
    const struct conf *const conf = host_conf(h->control->server);
    for (size_t i = 0; i < conf->n_agents; i++)
        for (char *const *name = conf->agents[i].runners.hosts; *name; name++)
            if (!control_hosts_has(h, *name))
                control_hosts_append(h, *name, "absent");
}

/* ---- the response ---- */

static void control_hosts_add_item(struct buf *out, const struct control_hosts_item *item)
{
    const struct control_hosts *const h = item->all;
    buf_add_str(out, out->p[out->len - 1] == '[' ? "{" : ",{");
    jsonw_member_str(out, "name", item->name);
    jsonw_member_str(out, "state", item->state);
    jsonw_member_bool(out, "own", item->is_own);
    if (item->members.len) {
        buf_add_char(out, ',');
        buf_add(out, item->members.p, item->members.len);
    }
    if (item->answer.len)
        jsonw_member_json(out, h->key, item->answer.p);
    buf_add_char(out, '}');
}

static void control_hosts_answer(const struct control_hosts *h)
{
    const struct host_parts host = host_get_parts(h->control->server);
    const struct control_hosts_item *item;
    CLEANUP_BUF struct buf out = {0};
    buf_add_char(&out, '{');
    control_append_bus(&out, host.bus);
    jsonw_member_bool(&out, "complete", h->is_complete);
    jsonw_key(&out, "hosts");
    buf_add_char(&out, '[');
    STAILQ_FOREACH (item, &h->list, next)
        control_hosts_add_item(&out, item);
    buf_add_str(&out, "]}\n");
    api_http_send_json(h->request, 200, &out);
}

static void control_hosts_free(struct control_hosts *h)
{
    struct control_hosts_item *item;
    while ((item = STAILQ_FIRST(&h->list))) {
        STAILQ_REMOVE_HEAD(&h->list, next);
        buf_fini(&item->members);
        buf_fini(&item->answer);
        free(item->name);
        free(item);
    }
    free(h);
}

/* Counts one reply; sends the response after the last one. */
static void control_hosts_close(struct control_hosts *h)
{
    if (--h->open)
        return;
    if (h->control->gone)
        api_http_error(h->request, 503, "ending", "turncast is shutting down.");
    else
        control_hosts_answer(h);
    control_on_reply_sent(h->control);
    control_hosts_free(h);
}

/* ---- requests to the hosts ---- */

static void control_hosts_on_answer(void *ctx, enum nats_client_result result, struct str body)
{
    struct control_hosts_item *const item = ctx;
    if (result == NATS_CLIENT_REPLIED && json_reader_is_valid(body) && *body.p == '{')
        buf_add(&item->answer, body.p, body.len);
    else
        item->state = "silent";
    control_hosts_close(item->all);
}

static void control_hosts_on_own(void *ctx, struct buf *answer)
{
    struct control_hosts_item *const item = ctx;
    if (answer)
        buf_add(&item->answer, answer->p, answer->len);
    control_hosts_close(item->all);
}

/* This host is asked directly, because the bus may be unavailable. */
static void control_hosts_ask_own(struct control_hosts_item *item)
{
    const struct host_parts host = host_get_parts(item->all->control->server);
    CLEANUP_BUF struct buf answer = {0};
    if (strcmp(item->all->verb, CONTROL_STATUS_VERB) == 0) {
        control_status_make(item->all->control, control_hosts_on_own, item);
        return;
    }
    fleet_member_write_reply(host.member, &answer);
    control_hosts_on_own(item, &answer);
}

static void control_hosts_ask(struct control_hosts *h)
{
    struct control_hosts_item *item;
    STAILQ_FOREACH (item, &h->list, next) {
        if (strcmp(item->state, "absent") == 0)
            continue;
        h->open++;
        if (item->is_own)
            control_hosts_ask_own(item);
        else
            bus_ask(host_get_parts(h->control->server).bus, item->name, h->verb, STR("{}"),
                    control_hosts_on_answer, item);
    }
}

static void control_hosts_on_listed(void *ctx, bool failed)
{
    struct control_hosts *const h = ctx;
    h->is_complete = !failed;
    if (!h->control->gone) {
        const char *const own = bus_get_status(host_get_parts(h->control->server).bus).host;
        if (!control_hosts_has(h, own))
            control_hosts_append(h, own, "ready")->is_own = true;
        if (h->is_complete)
            control_hosts_add_absent(h);
        control_hosts_ask(h);
    }
    control_hosts_close(h);
}

static void control_hosts_begin(struct control *c, struct httpd_request *r, const char *verb,
                                const char *key)
{
    struct bus *const bus = host_get_parts(c->server).bus;
    if (!bus) {
        api_http_error(r, 404, "no_bus", "This host is alone: the configuration has no bus.");
        return;
    }
    struct control_hosts *const h = xcalloc(1, sizeof *h);
    h->control = c;
    h->request = r;
    h->verb = verb;
    h->key = key;
    h->open = 1;
    STAILQ_INIT(&h->list);
    c->asking++;
    bus_list_hosts(bus, control_hosts_add, control_hosts_on_listed, h);
}

void control_handle_hosts(void *control, struct httpd_request *r)
{
    control_hosts_begin(control, r, FLEET_MEMBER_VERB, "work");
}

void control_handle_status_of_all(void *control, struct httpd_request *r)
{
    control_hosts_begin(control, r, CONTROL_STATUS_VERB, "status");
}
