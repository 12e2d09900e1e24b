/* SPDX-License-Identifier: MIT
 * Owns the control socket for operators, and the changes that operators request. */
#include "api/control/control.h"

#include <stdlib.h>
#include <string.h>

#include "api/control/control_internal.h"
#include "api/shared/api_http.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "core/dispatch/dispatch.h"
#include "event/json/json_writer.h"
#include "io/journal/journal_async.h"

#define DEAD "/dead/"
#define RETRY "/retry"
#define INSTANCES "/instances/"
#define RESTART "/restart"

char *control_socket_path(const char *state_dir)
{
    return xasprintf("%s/control", state_dir);
}

/* ---- another configuration ---- */

/* A request that is answered when the requested change is complete. */
struct changing {
    struct control *control;
    struct httpd_request *request;
    char *instance; /* NULL: a reload */
};

static void control_write_restarted(struct buf *out, const char *instance)
{
    buf_add_str(out, "{");
    jsonw_member_str(out, "restarted", instance);
    buf_add_str(out, "}");
}

static void answer_change(const struct changing *ch, const char *report, const struct tc_err *err)
{
    CLEANUP_BUF struct buf body = {0};
    if (err) {
        api_http_error(ch->request, 422, "refused", err_format(err));
        return;
    }
    if (ch->instance)
        control_write_restarted(&body, ch->instance);
    else
        buf_add_str(&body, report);
    buf_add_str(&body, "\n");
    api_http_send_json(ch->request, 200, &body);
}

static void on_changed(void *ctx, const char *report, const struct tc_err *err)
{
    struct changing *const ch = ctx;
    if (!ch->control->gone)
        answer_change(ch, report, err);
    else
        httpd_answer(ch->request, 503, NULL, STR("")); /* frees the request: its client has
                                                        * disconnected */
    control_on_reply_sent(ch->control);
    free(ch->instance);
    free(ch);
}

/* Takes ownership of the name. */
static struct changing *control_new_change(struct control *c, struct httpd_request *r,
                                           char *instance)
{
    struct changing *const ch = xmalloc(sizeof *ch);
    *ch = (struct changing){.control = c, .request = r, .instance = instance};
    c->asking++;
    return ch;
}

static void on_reload(void *arg, struct httpd_request *r)
{
    struct control *const c = arg;
    host_reload(c->server, on_changed, control_new_change(c, r, NULL));
}

/* ---- restart of an instance ---- */

/* The name in "/instances/NAME/restart", percent-decoded; NULL: another path. */
static char *instance_of(const char *path)
{
    const struct str name = {path + strlen(INSTANCES), strlen(path) - strlen(INSTANCES)};
    if (name.len <= strlen(RESTART) || strcmp(name.p + name.len - strlen(RESTART), RESTART) != 0)
        return NULL;
    return api_http_decode_segment(name.p, name.len - strlen(RESTART));
}

static void on_instance(void *arg, struct httpd_request *r)
{
    struct control *const c = arg;
    struct tc_err err = {0};
    char *const name = instance_of(r->path);
    if (!name) {
        api_http_error(r, 404, "no_such_page", "There is nothing at this path.");
    } else if (!dispatch_find_configured(host_get_parts(c->server).dispatch, name, &err)) {
        api_http_error(r, 404, "no_such_instance", err_format(&err));
        free(name);
    } else {
        host_restart_instance(c->server, name, on_changed, control_new_change(c, r, name));
    }
}

/* ---- dead letters ---- */

struct retrying {
    struct control *control;
    struct httpd_request *request;
    int64_t seq;
};

static void control_send_retried(const struct retrying *t, const char *instance)
{
    struct host *const server = t->control->server;
    CLEANUP_BUF struct buf body = {0};
    const bool now = dispatch_deliver_row(host_get_parts(server).dispatch, instance, t->seq);
    buf_printf(&body, "{\"sent\":\"%s\"}\n", now ? "now" : "with its instance");
    api_http_send_json(t->request, 202, &body);
}

static void on_retried(void *ctx, enum journal_status status, const char *instance)
{
    struct retrying *const t = ctx;
    if (status == JOURNAL_DONE && !t->control->gone)
        control_send_retried(t, instance);
    else if (status == JOURNAL_NO_CHANGE)
        api_http_error(t->request, 404, "no_such_letter", "Unknown dead letter.");
    else if (status == JOURNAL_REFUSED)
        api_http_error(
            t->request, 409, "an_event",
            "This dead letter is an event of a turn that has ended and cannot be retried.");
    else
        api_http_error(t->request, 503, "not_kept",
                       "Cannot read or change the dead letters; see the log of turncast.");
    control_on_reply_sent(t->control);
    free(t);
}

/* The number in "/dead/ID/retry"; 0: another path. */
static int64_t control_parse_dead_id(const char *path)
{
    const char *const id = path + strlen(DEAD);
    const size_t digits = strspn(id, "0123456789");
    return digits > 0 && digits < 19 && strcmp(id + digits, RETRY) == 0 ? strtoll(id, NULL, 10) : 0;
}

static void on_dead(void *arg, struct httpd_request *r)
{
    struct control *const c = arg;
    const int64_t id = control_parse_dead_id(r->path);
    if (!id) {
        api_http_error(r, 404, "no_such_page", "There is nothing at this path.");
        return;
    }
    struct retrying *const t = xmalloc(sizeof *t);
    *t = (struct retrying){.control = c, .request = r};
    c->asking++;
    t->seq = journal_async_retry_dead(host_get_parts(c->server).journal, id, on_retried, t);
}

/* ---- create and free ---- */

struct control *control_new(struct host *server, struct tc_err *err)
{
    CLEANUP_FREE char *path = control_socket_path(host_conf(server)->state_dir);
    const struct httpd_options options = {.unix_path = path, .max_connections = 64};
    struct httpd *const httpd = httpd_new(host_loop(server), &options, err);
    if (!httpd)
        return NULL;
    struct control *const c = xcalloc(1, sizeof *c);
    *c = (struct control){.server = server, .httpd = httpd, .began_ms = clock_mono_ms()};
    httpd_route(httpd, "/status", HTTPD_GET, control_handle_status, c);
    httpd_route(httpd, "/status/all", HTTPD_GET, control_handle_status_of_all, c);
    httpd_route(httpd, "/hosts", HTTPD_GET, control_handle_hosts, c);
    httpd_route(httpd, "/drain", HTTPD_POST, control_handle_drain, c);
    httpd_route(httpd, "/move", HTTPD_POST, control_handle_move, c);
    httpd_route(httpd, "/requests", HTTPD_GET | HTTPD_POST, control_handle_requests, c);
    httpd_route(httpd, "/pairing", HTTPD_GET | HTTPD_POST, control_handle_pairing, c);
    httpd_route(httpd, "/reload", HTTPD_POST | HTTPD_NO_DEADLINE, on_reload, c);
    httpd_route(httpd, INSTANCES, HTTPD_POST | HTTPD_NO_DEADLINE, on_instance, c);
    httpd_route(httpd, CONTROL_APPROVALS, HTTPD_POST, control_handle_approvals, c);
    httpd_route(httpd, DEAD, HTTPD_POST, on_dead, c);
    if (host_get_parts(server).bus)
        bus_serve(host_get_parts(server).bus, CONTROL_STATUS_VERB, control_status_serve, c);
    return c;
}

struct httpd *control_httpd(const struct control *c)
{
    return c->httpd;
}

void control_on_reply_sent(struct control *c)
{
    c->asking--;
    if (c->gone && !c->asking)
        free(c);
}

void control_free(struct control *c)
{
    if (!c)
        return;
    httpd_free(c->httpd);
    c->gone = true;
    if (!c->asking)
        free(c);
}
