/* SPDX-License-Identifier: MIT
 * Connects libcurl's multi handle to the loop: its descriptors and its timer. */
#include "io/http/client/httpc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/log.h"
#include "io/http/client/httpc_mail.h"
#include "io/http/client/httpc_mailer.h"
#include "io/http/client/libcurl_dl.h"

#define CONNECTIONS_MAX 256L /* limit of concurrent requests; further ones wait */
#define IDLE_MAX 32L         /* limit of idle connections */

struct httpc {
    struct loop *loop;
    struct httpc_options options; /* its strings point to the members below */
    char *ca_file, *cert_file, *key_file, *proxy_url, *proxy_credentials, *no_proxy;
    struct libcurl curl;
    CURLM *multi; /* NULL before the first request */
    struct loop_timer *timer, *late_timer;
    LIST_HEAD(, httpc_transfer) calls; /* active in libcurl */
    LIST_HEAD(, httpc_transfer) late;  /* refused: completed from the loop */
    struct httpc_mailers mailers;      /* worker threads for e-mails */
};

/* The call has ended: calls `done` and frees it. */
static void httpc_complete_transfer(struct httpc_transfer *c, CURLcode code)
{
    struct httpc *const h = c->owner;
    CLEANUP_BUF struct buf error = {0};
    const struct httpc_reply reply = httpc_transfer_build_reply(c, &h->curl, code, &error);
    LIST_REMOVE(c, next);
    if (c->easy && !c->is_mail)
        h->curl.multi_remove_handle(h->multi, c->easy);
    c->done(c->arg, &reply);
    httpc_transfer_fini(c, &h->curl);
    free(c);
}

/* ---- e-mails ---- */

static void httpc_on_mailed(void *arg)
{
    struct httpc_transfer *const c = arg;
    if (c->done) {
        httpc_complete_transfer(c, c->mail_code);
        return;
    }
    httpc_transfer_fini(c, &c->owner->curl); /* cancelled earlier, and `done` was called then */
    free(c);
}

/* The worker ends the transfer later; the reply does not wait for that. */
static void httpc_cancel_mail(struct httpc_transfer *c)
{
    const bool stopped = httpc_mail_stop(c);
    const struct httpc_reply reply = {
        .outcome = stopped ? HTTPC_NOT_SENT : HTTPC_AMBIGUOUS,
        .body = {"", 0},
        .retry_after_ms = -1,
        .error = "cancelled",
    };
    LIST_REMOVE(c, next);
    c->done(c->arg, &reply);
    c->done = NULL;
}

/* ---- events of libcurl ---- */

static void httpc_finish_transfers(struct httpc *h)
{
    int left;
    const CURLMsg *msg;
    while ((msg = h->curl.multi_info_read(h->multi, &left))) {
        if (msg->msg != CURLMSG_DONE)
            continue;
        struct httpc_transfer *c;
        const CURLcode code = msg->data.result;
        h->curl.easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &c);
        httpc_complete_transfer(c, code);
    }
}

static void httpc_process_socket(struct httpc *h, curl_socket_t fd, int events)
{
    int running;
    h->curl.multi_socket_action(h->multi, fd, events, &running);
    httpc_finish_transfers(h);
}

static void httpc_on_timeout(void *arg)
{
    httpc_process_socket(arg, CURL_SOCKET_TIMEOUT, 0);
}

static int httpc_on_curl_timer(CURLM *multi, long ms, void *arg)
{
    (void)multi;
    const struct httpc *const h = arg;
    loop_timer_set(h->timer, ms);
    return 0;
}

/* A descriptor of libcurl. */
struct httpc_socket_watch {
    struct httpc *owner;
    curl_socket_t fd;
    struct loop_fd *on_loop;
};

static void httpc_on_ready(void *arg, unsigned ready)
{
    const struct httpc_socket_watch *const w = arg;
    const int in = ready & LOOP_READ ? CURL_CSELECT_IN : 0;
    const int out = ready & LOOP_WRITE ? CURL_CSELECT_OUT : 0;
    httpc_process_socket(w->owner, w->fd, in | out);
}

static int httpc_on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *watched)
{
    (void)easy;
    struct httpc *const h = arg;
    struct httpc_socket_watch *w = watched;
    if (what == CURL_POLL_REMOVE) {
        if (w)
            loop_fd_free(w->on_loop);
        free(w);
        h->curl.multi_assign(h->multi, fd, NULL);
        return 0;
    }
    const unsigned events =
        (what & CURL_POLL_IN ? LOOP_READ : 0u) | (what & CURL_POLL_OUT ? LOOP_WRITE : 0u);
    if (w) {
        loop_fd_set(w->on_loop, events);
        return 0;
    }
    w = xmalloc(sizeof *w);
    *w = (struct httpc_socket_watch){.owner = h, .fd = fd};
    w->on_loop = loop_fd_new(h->loop, fd, events, httpc_on_ready, w);
    h->curl.multi_assign(h->multi, fd, w);
    return 0;
}

static void httpc_on_refused_transfers(void *arg)
{
    struct httpc *const h = arg;
    while (!LIST_EMPTY(&h->late))
        httpc_complete_transfer(LIST_FIRST(&h->late), CURLE_OK);
}

struct httpc *httpc_new(struct loop *l, const struct httpc_options *options)
{
    struct httpc *const h = xcalloc(1, sizeof *h);
    h->loop = l;
    if (options)
        h->options = *options;
    h->ca_file = xstrdup(h->options.ca_file);
    h->options.ca_file = h->ca_file;
    h->cert_file = xstrdup(h->options.cert_file);
    h->options.cert_file = h->cert_file;
    h->key_file = xstrdup(h->options.key_file);
    h->options.key_file = h->key_file;
    h->proxy_url = xstrdup(h->options.proxy.url);
    h->proxy_credentials = xstrdup(h->options.proxy.credentials);
    h->no_proxy = xstrdup(h->options.proxy.no_proxy);
    h->options.proxy = (struct proxy){h->proxy_url, h->proxy_credentials, h->no_proxy};
    return h;
}

int httpc_check_available(struct tc_err *err)
{
    struct libcurl curl;
    return libcurl_load(&curl, err);
}

static bool httpc_is_open(struct httpc *h)
{
    if (h->multi)
        return true;
    struct tc_err err;
    if (libcurl_load(&h->curl, &err) < 0) {
        log_write(LOG_ERR, "host", "cannot send HTTP requests: %s", err_format(&err));
        return false;
    }
    h->multi = h->curl.multi_init();
    if (!h->multi)
        return false;
    h->timer = loop_timer_new(h->loop, httpc_on_timeout, h);
    h->curl.multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, httpc_on_curl_socket);
    h->curl.multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
    h->curl.multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, httpc_on_curl_timer);
    h->curl.multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
    h->curl.multi_setopt(h->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, CONNECTIONS_MAX);
    h->curl.multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, IDLE_MAX);
    return true;
}

static const char *httpc_check(struct httpc *h, const struct httpc_request *request)
{
    return httpc_is_open(h) ? httpc_transfer_validate(&h->curl, request)
                            : "cannot use libcurl; see the log";
}

static void httpc_fail_refused(struct httpc *h, struct httpc_transfer *c)
{
    if (!h->late_timer)
        h->late_timer = loop_timer_new(h->loop, httpc_on_refused_transfers, h);
    LIST_INSERT_HEAD(&h->late, c, next);
    loop_timer_set(h->late_timer, 0);
}

struct httpc_transfer *httpc_start(struct httpc *h, const struct httpc_request *request,
                                   void (*done)(void *arg, const struct httpc_reply *reply),
                                   void *arg)
{
    ASSERT(done);
    struct httpc_transfer *const c = xcalloc(1, sizeof *c);
    *c = (struct httpc_transfer){.owner = h, .done = done, .arg = arg, .flags = request->flags};
    c->refused = httpc_check(h, request);
    if (c->refused) {
        httpc_fail_refused(h, c);
        return c;
    }
    httpc_transfer_setup(c, &h->curl, request, &h->options);
    LIST_INSERT_HEAD(&h->calls, c, next);
    if (!c->is_mail)
        h->curl.multi_add_handle(h->multi, c->easy);
    else
        httpc_mailers_submit(&h->mailers, h->loop, request->url, httpc_on_mailed, c);
    return c;
}

void httpc_cancel(struct httpc_transfer *c)
{
    if (c->is_mail)
        httpc_cancel_mail(c);
    else
        httpc_complete_transfer(c, CURLE_ABORTED_BY_CALLBACK);
}

void httpc_free(struct httpc *h)
{
    if (!h)
        return;
    while (!LIST_EMPTY(&h->calls))
        httpc_cancel(LIST_FIRST(&h->calls));
    while (!LIST_EMPTY(&h->late))
        httpc_cancel(LIST_FIRST(&h->late));
    httpc_mailers_fini(&h->mailers);
    if (h->multi)
        h->curl.multi_cleanup(h->multi);
    loop_timer_free(h->timer);
    loop_timer_free(h->late_timer);
    free(h->ca_file);
    free(h->cert_file);
    free(h->key_file);
    free(h->proxy_url);
    if (h->proxy_credentials)
        explicit_bzero(h->proxy_credentials, strlen(h->proxy_credentials));
    free(h->proxy_credentials);
    free(h->no_proxy);
    free(h);
}
