/* SPDX-License-Identifier: MIT
 * The health check. GET /healthz fails while the host drains or cannot write to the journal; the
 * journal is tested by a write, at most once in CHECK_MS for any number of requests. The journal
 * may call back after health_free, so a pending check keeps the struct alive. */
#include "api/health.h"

#include <stdlib.h>

#include "api/readiness.h"
#include "api/shared/api_internal.h"
#include "base/alloc.h"
#include "base/sys/clock.h"
#include "core/fleet/fleet_member.h"
#include "io/journal/journal_async.h"

#define CHECK_MS 5000
#define KEY "health"

struct health {
    const struct api_context *api;
    int64_t checked_ms; /* monotonic; 0: never tested */
    enum journal_status last;
    unsigned asking; /* of the journal */
    bool gone;       /* struct is kept until all pending checks are freed */
};

struct health_check {
    struct health *health;
    struct httpd_request *request;
    bool ready; /* the request is for /readyz */
};

static void answer_ready(const struct health *h, struct httpd_request *r,
                         enum journal_status status)
{
    CLEANUP_BUF struct buf out = {0};
    const char *const state =
        host_is_stopping(h->api->server) || fleet_member_is_draining(h->api->host.member)
            ? "draining"
        : status == JOURNAL_DISK_FULL                           ? "disk_full"
        : status == JOURNAL_DONE || status == JOURNAL_NO_CHANGE ? NULL
                                                                : "state_not_writable";
    const bool ready = readiness_write(h->api, state, &out);
    httpd_answer(r, ready ? 200 : 503, REPLY_JSON, (struct str){out.p, out.len});
}

static void answer_health(struct httpd_request *r, enum journal_status status)
{
    if (status == JOURNAL_DONE || status == JOURNAL_NO_CHANGE)
        httpd_answer(r, 200, REPLY_JSON, STR("{\"status\":\"ok\"}\n"));
    else if (status == JOURNAL_DISK_FULL)
        api_http_error_with(r, 503, "disk_full",
                            "The disk of the state directory is full; messages are not accepted.",
                            "\"status\":\"disk_full\"");
    else
        api_http_error_with(r, 503, "state_not_writable",
                            "The state directory is not writable; messages are not accepted.",
                            "\"status\":\"state_not_writable\"");
}

static void answer_draining(struct httpd_request *r)
{
    api_http_error_with(r, 503, "draining",
                        "turncast is shutting down; running turns are being finished.",
                        "\"status\":\"draining\"");
}

static void on_checked(void *ctx, enum journal_status status, const char *text)
{
    struct health_check *const check = ctx;
    struct health *const h = check->health;
    (void)text;
    h->last = status;
    h->checked_ms = clock_mono_ms();
    if (h->gone)
        answer_draining(check->request); /* the instances have been freed, too */
    else if (check->ready)
        answer_ready(h, check->request, status);
    else
        answer_health(check->request, status);
    free(check);
    h->asking--;
    if (h->gone && !h->asking)
        free(h);
}

static bool health_is_fresh(const struct health *h)
{
    return h->asking || (h->checked_ms && clock_mono_ms() - h->checked_ms < CHECK_MS);
}

static void health_check(struct health *h, struct httpd_request *r, bool ready)
{
    struct health_check *const check = xmalloc(sizeof *check);
    *check = (struct health_check){h, r, ready};
    h->asking++;
    journal_async_kv_put(h->api->host.journal, KEY, "1", on_checked, check);
}

static void on_health(void *arg, struct httpd_request *r)
{
    struct health *const h = arg;
    if (host_is_stopping(h->api->server))
        answer_draining(r);
    else if (health_is_fresh(h))
        answer_health(r, h->last);
    else
        health_check(h, r, false);
}

static void on_ready(void *arg, struct httpd_request *r)
{
    struct health *const h = arg;
    if (host_is_stopping(h->api->server) || health_is_fresh(h))
        answer_ready(h, r, h->last);
    else
        health_check(h, r, true);
}

static void on_live(void *arg, struct httpd_request *r)
{
    (void)arg;
    httpd_answer(r, 200, REPLY_JSON, STR("{\"status\":\"ok\"}\n"));
}

struct health *health_new(struct api_context *a)
{
    struct health *const h = xcalloc(1, sizeof *h);
    h->api = a;
    h->last = JOURNAL_DONE;
    httpd_route(a->host.httpd, "/healthz", HTTPD_GET, on_health, h);
    httpd_route(a->host.httpd, "/readyz", HTTPD_GET, on_ready, h);
    httpd_route(a->host.httpd, "/livez", HTTPD_GET, on_live, h);
    return h;
}

void health_free(struct health *h)
{
    if (!h)
        return;
    h->gone = true;
    if (!h->asking)
        free(h);
}
