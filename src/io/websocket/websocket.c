/* SPDX-License-Identifier: MIT
 * Loop side of the websockets: callbacks and timeouts. */
#include "io/websocket/websocket.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/log.h"
#include "io/websocket/websocket_internal.h"

enum {
    CONNECT_MS = 10 * 1000,
    PING_MS = 10 * 1000,
    SILENT_MS = 30 * 1000,
    CLOSE_MS = 1000, /* for the close frame of the peer */
    CLOSE_STATUS = 1000,
    UNREAD_RESUME = 2 << 20,
};

struct websocket_client {
    struct loop *loop;
    char *ca_file, *proxy_url, *proxy_credentials, *no_proxy;
    int64_t connect_timeout_ms;
    LIST_HEAD(, websocket_conn) conns;
    /* from the first socket on */
    struct websocket_thread *thread;
    struct websocket_msg_queue reports;
    int wake_fd;
    struct loop_fd *wake; /* active as long as there are sockets */
};

/* ---- notes between the threads ---- */

void websocket_queue_init(struct websocket_msg_queue *q)
{
    pthread_mutex_init(&q->mu, NULL);
    STAILQ_INIT(&q->list);
}

void websocket_msg_free_all(struct websocket_msg_list *list)
{
    for (struct websocket_msg *n; (n = STAILQ_FIRST(list));) {
        STAILQ_REMOVE_HEAD(list, next);
        free(n);
    }
}

void websocket_queue_fini(struct websocket_msg_queue *q)
{
    websocket_msg_free_all(&q->list);
    pthread_mutex_destroy(&q->mu);
}

void websocket_msg_queue_push(struct websocket_msg_queue *q, struct websocket_conn *c,
                              enum websocket_note_kind kind, struct str text)
{
    struct websocket_msg *const n = xmalloc(sizeof *n + text.len + 1);
    *n = (struct websocket_msg){.conn = c, .kind = kind, .len = text.len};
    if (text.len)
        memcpy(n->text, text.p, text.len);
    n->text[text.len] = '\0';
    pthread_mutex_lock(&q->mu);
    STAILQ_INSERT_TAIL(&q->list, n, next);
    pthread_mutex_unlock(&q->mu);
}

void websocket_msg_queue_take_all(struct websocket_msg_queue *q, struct websocket_msg_list *taken)
{
    STAILQ_INIT(taken);
    pthread_mutex_lock(&q->mu);
    STAILQ_CONCAT(taken, &q->list);
    pthread_mutex_unlock(&q->mu);
}

/* ---- callbacks of the owner ---- */

static void websocket_report_closed(struct websocket_conn *c, struct str why)
{
    ASSERT(c->state != WEBSOCKET_TOLD);
    CLEANUP_BUF struct buf clean = {0};
    c->state = WEBSOCKET_TOLD;
    loop_timer_set(c->timer, -1);
    log_redact(&clean, why);
    c->on_event(c->arg, WEBSOCKET_CLOSED, (struct str){clean.p ? clean.p : "", clean.len});
}

static void websocket_report_open(struct websocket_conn *c)
{
    if (c->state != WEBSOCKET_CONNECTING)
        return;
    c->state = WEBSOCKET_IS_OPEN;
    loop_timer_set(c->timer, -1);
    c->on_event(c->arg, WEBSOCKET_OPEN, STR(""));
}

static void websocket_report_message(struct websocket_conn *c, enum websocket_event event,
                                     struct str text)
{
    const size_t before = atomic_fetch_sub(&c->unread, text.len);
    ASSERT(before >= text.len);
    if (before > UNREAD_RESUME && before - text.len <= UNREAD_RESUME)
        websocket_thread_post(c->owner->thread, c, WEBSOCKET_CMD_RESUME, STR(""));
    if (c->state == WEBSOCKET_IS_OPEN)
        c->on_event(c->arg, event, text);
}

static void wipe_headers(char *headers)
{
    if (headers)
        explicit_bzero(headers, strlen(headers));
    free(headers);
}

static void free_conn(struct websocket_conn *c)
{
    ASSERT(*c->next.le_prev == c);
    LIST_REMOVE(c, next);
    loop_timer_free(c->timer);
    wipe_headers(c->headers);
    free(c);
}

static void websocket_handle_report(const struct websocket_msg *n)
{
    struct websocket_conn *const c = n->conn;
    const struct str text = {n->text, n->len};
    if (n->kind == WEBSOCKET_EVENT_OPEN)
        websocket_report_open(c);
    else if (n->kind == WEBSOCKET_EVENT_TEXT)
        websocket_report_message(c, WEBSOCKET_TEXT, text);
    else if (n->kind == WEBSOCKET_EVENT_BINARY)
        websocket_report_message(c, WEBSOCKET_BINARY, text);
    if (n->kind != WEBSOCKET_EVENT_GONE)
        return;
    if (c->state != WEBSOCKET_TOLD)
        websocket_report_closed(c, c->state == WEBSOCKET_CLOSING ? STR("closed") : text);
    free_conn(c);
}

static void websocket_on_reports(void *arg, unsigned ready)
{
    (void)ready;
    struct websocket_client *const w = arg;
    uint64_t count;
    if (read(w->wake_fd, &count, sizeof count) < 0)
        return;
    struct websocket_msg_list taken;
    const struct websocket_msg *n;
    websocket_msg_queue_take_all(&w->reports, &taken);
    STAILQ_FOREACH (n, &taken, next)
        websocket_handle_report(n);
    websocket_msg_free_all(&taken);
    loop_fd_set(w->wake, LIST_EMPTY(&w->conns) ? 0 : LOOP_READ);
}

static void websocket_on_timeout(void *arg)
{
    struct websocket_conn *const c = arg;
    const bool was_open = c->state == WEBSOCKET_CLOSING;
    websocket_thread_post(c->owner->thread, c, WEBSOCKET_CMD_DROP, STR(""));
    websocket_report_closed(c,
                            was_open ? STR("closed") : STR("no connection within the time limit"));
}

/* ---- calls of the owner ---- */

struct websocket_client *websocket_new(struct loop *l, const struct websocket_options *options)
{
    static const struct websocket_options none;
    const struct websocket_options *const o = options ? options : &none;
    struct websocket_client *const w = xcalloc(1, sizeof *w);
    *w = (struct websocket_client){
        .loop = l,
        .ca_file = xstrdup(o->ca_file),
        .proxy_url = xstrdup(o->proxy.url),
        .proxy_credentials = xstrdup(o->proxy.credentials),
        .no_proxy = xstrdup(o->proxy.no_proxy),
        .connect_timeout_ms = o->connect_timeout_ms ? o->connect_timeout_ms : CONNECT_MS,
        .wake_fd = -1,
    };
    return w;
}

static bool has_http_proxy(const struct websocket_client *w)
{
    return w->proxy_url && strncmp(w->proxy_url, "http://", strlen("http://")) == 0;
}

/* The library supports http: proxies only. */
static int check_proxy(const struct websocket_client *w, const struct websocket_url *url,
                       struct tc_err *err)
{
    if (!w->proxy_url || has_http_proxy(w) || proxy_is_exempt(w->no_proxy, url->host))
        return 0;
    return err_set(err, NULL,
                   "websockets cannot use the proxy %s; set proxy.url to an http: proxy, or add "
                   "the host to proxy.no_proxy",
                   w->proxy_url);
}

static int websocket_start_thread(struct websocket_client *w, struct tc_err *err)
{
    if (w->thread)
        return 0;
    w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->wake_fd < 0)
        return err_set(err, NULL, "cannot create a descriptor for websockets");
    websocket_queue_init(&w->reports);
    w->thread = websocket_thread_new(
        w->ca_file,
        &(struct proxy){has_http_proxy(w) ? w->proxy_url : NULL, w->proxy_credentials, w->no_proxy},
        &w->reports, w->wake_fd, err);
    if (!w->thread) {
        websocket_queue_fini(&w->reports);
        close(w->wake_fd);
        return -1;
    }
    w->wake = loop_fd_new(w->loop, w->wake_fd, 0, websocket_on_reports, w);
    return 0;
}

static bool is_header_name(const char *name)
{
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("!#$%&'*+-.^_`|~", *at))
            return false;
    return *name && strcasecmp(name, "host") != 0 && strcasecmp(name, "upgrade") != 0 &&
           strcasecmp(name, "connection") != 0 && strncasecmp(name, "sec-websocket-", 14) != 0;
}

static bool is_header_value(const char *value)
{
    for (const char *at = value; *at; at++)
        if (((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7f)
            return false;
    return true;
}

/* NULL with err. Refuses names of headers that the handshake uses itself. */
static char *make_headers(const struct websocket_spec *spec, struct tc_err *err)
{
    struct buf lines = {0};
    for (size_t i = 0; i < spec->header_count; i++) {
        const struct websocket_header *const h = &spec->headers[i];
        if (is_header_name(h->name) && is_header_value(h->value)) {
            buf_printf(&lines, "%s: %s\r\n", h->name, h->value);
            continue;
        }
        err_set(err, NULL, "invalid header for a websocket");
        wipe_headers(lines.p);
        return NULL;
    }
    return lines.p ? buf_steal(&lines) : xstrdup("");
}

struct websocket_conn *websocket_open(struct websocket_client *w, const struct websocket_spec *spec,
                                      websocket_event_fn *on_event, void *arg, struct tc_err *err)
{
    struct websocket_url url;
    if (websocket_url_parse(&url, spec->url, err) < 0 || check_proxy(w, &url, err) < 0 ||
        websocket_start_thread(w, err) < 0)
        return NULL;
    char *const headers = make_headers(spec, err);
    if (!headers)
        return NULL;
    struct websocket_conn *const c = xmalloc(sizeof *c);
    *c = (struct websocket_conn){
        .owner = w,
        .url = url,
        .ping_ms = spec->ping_ms ? spec->ping_ms : PING_MS,
        .silent_ms = spec->silent_ms ? spec->silent_ms : SILENT_MS,
        .headers = headers,
        .wants_binary = spec->binary,
        .close_status = spec->close_status ? spec->close_status : CLOSE_STATUS,
        .on_event = on_event,
        .arg = arg,
    };
    LIST_INSERT_HEAD(&w->conns, c, next);
    c->timer = loop_timer_new(w->loop, websocket_on_timeout, c);
    loop_timer_set(c->timer, w->connect_timeout_ms);
    loop_fd_set(w->wake, LOOP_READ);
    websocket_thread_post(w->thread, c, WEBSOCKET_CMD_OPEN, STR(""));
    return c;
}

static int send_message(struct websocket_conn *c, enum websocket_note_kind kind, struct str message)
{
    if (c->state != WEBSOCKET_IS_OPEN || message.len > WEBSOCKET_MAX_TEXT ||
        atomic_load(&c->queued) + message.len > WEBSOCKET_MAX_QUEUED)
        return -1;
    atomic_fetch_add(&c->queued, message.len);
    websocket_thread_post(c->owner->thread, c, kind, message);
    return 0;
}

int websocket_send(struct websocket_conn *c, struct str text)
{
    return send_message(c, WEBSOCKET_CMD_SEND, text);
}

int websocket_send_binary(struct websocket_conn *c, struct str data)
{
    return send_message(c, WEBSOCKET_CMD_SEND_BINARY, data);
}

void websocket_close(struct websocket_conn *c)
{
    if (c->state >= WEBSOCKET_CLOSING)
        return;
    c->state = WEBSOCKET_CLOSING;
    loop_timer_set(c->timer, CLOSE_MS);
    websocket_thread_post(c->owner->thread, c, WEBSOCKET_CMD_CLOSE, STR(""));
}

void websocket_free(struct websocket_client *w)
{
    if (!w)
        return;
    if (w->thread) {
        websocket_thread_free(w->thread);
        for (struct websocket_conn *c; (c = LIST_FIRST(&w->conns));) {
            if (c->state != WEBSOCKET_TOLD)
                websocket_report_closed(c, STR("turncast is shutting down"));
            free_conn(c);
        }
        loop_fd_free(w->wake);
        close(w->wake_fd);
        websocket_queue_fini(&w->reports);
    }
    free(w->ca_file);
    free(w->proxy_url);
    if (w->proxy_credentials)
        explicit_bzero(w->proxy_credentials, strlen(w->proxy_credentials));
    free(w->proxy_credentials);
    free(w->no_proxy);
    free(w);
}
