/* SPDX-License-Identifier: MIT
 * Thread of libwebsockets: its context, and a link for each socket. The library resolves names
 * itself and blocks meanwhile, which delays its sockets, but not the loop. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/bytes/utf8.h"
#include "io/websocket/libwebsockets_dl.h"
#include "io/websocket/websocket_internal.h"

enum {
    SOCKETS_MAX = 256,
    READ_BYTES = 16 << 10,
    UNREAD_MAX = 4 << 20, /* more unread bytes stop reading until the loop has caught up */
    CLOSE_MS = 1000,
};

#define PROTOCOL "turncast"

_Static_assert(LWS_PRE <= WEBSOCKET_ROOM, "the room before a text");

/* A socket in the thread. */
struct websocket_link {
    lws_sorted_usec_list_t tick; /* first member: the library's callback gets its address */
    LIST_ENTRY(websocket_link) next;
    struct websocket_thread *owner;
    struct websocket_conn *conn;
    struct lws *wsi; /* NULL before and after */
    struct buf in;   /* of an incomplete message */
    struct websocket_msg_list out;
    enum lws_close_status status; /* deadline of the closing handshake */
    bool is_open, is_ping_due, is_closing, is_paused, has_ended;
    char why[256];
};

struct websocket_thread {
    struct libwebsockets lib;
    struct lws_context *context;
    struct lws_vhost *proxied; /* context for connections through the proxy; NULL: no proxy */
    char *no_proxy;            /* hosts without the proxy; or NULL */
    pthread_t id;
    struct websocket_msg_queue orders;
    struct websocket_msg_queue *reports;
    int wake_fd;
    /* used by the thread */
    LIST_HEAD(, websocket_link) links;
    bool stops;
};

/* ---- reports ---- */

static void websocket_thread_report(const struct websocket_link *k, enum websocket_note_kind kind,
                                    struct str text)
{
    const struct websocket_thread *const t = k->owner;
    const uint64_t one = 1;
    websocket_msg_queue_push(t->reports, k->conn, kind, text);
    /* EAGAIN: the counter is full, so the loop has been woken already. */
    if (write(t->wake_fd, &one, sizeof one) < 0)
        return;
}

/* The first reason is kept; control characters in the peer's text are replaced by blanks. */
static void websocket_thread_set_reason(struct websocket_link *k, const char *before,
                                        const char *text, size_t len)
{
    if (k->why[0])
        return;
    const int n = snprintf(k->why, sizeof k->why, "%s", before);
    const size_t cut =
        utf8_is_valid(text, len) ? utf8_truncated_len(text, len, sizeof k->why - (size_t)n - 1) : 0;
    memcpy(k->why + n, text, cut);
    k->why[(size_t)n + cut] = '\0';
    for (char *c = k->why; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
}

static void websocket_thread_set_plain_reason(struct websocket_link *k, const char *why)
{
    websocket_thread_set_reason(k, why, "", 0);
}

/* ---- end of a link ---- */

static void websocket_thread_schedule(struct websocket_link *k, int64_t ms)
{
    k->owner->lib.sul_schedule(k->owner->context, 0, &k->tick, k->tick.cb, ms * LWS_US_PER_MS);
}

/* Shuts down both directions: otherwise the library would wait for the end of a silent peer for any
 * time. */
static void websocket_thread_shut_down(struct websocket_link *k)
{
    if (!k->wsi)
        return;
    shutdown(k->owner->lib.get_socket_fd(k->wsi), SHUT_RDWR);
    k->owner->lib.set_timeout(k->wsi, PENDING_TIMEOUT_CLOSE_ACK, LWS_TO_KILL_ASYNC);
}

/* Sends the close frame when the line is free, with some time for the peer's. */
static void websocket_thread_begin_close(struct websocket_link *k, enum lws_close_status status)
{
    k->is_closing = true;
    k->status = status;
    k->owner->lib.callback_on_writable(k->wsi);
    websocket_thread_schedule(k, CLOSE_MS);
}

/* Used instead of the result of websocket_thread_on_bytes, which is always 0: if a callback refuses
 * received bytes, version 4.1 reads beyond the end of its buffer during the closing handshake. */
static int websocket_thread_close_with(struct websocket_link *k, enum lws_close_status status,
                                       const char *why)
{
    websocket_thread_set_plain_reason(k, why);
    websocket_msg_free_all(&k->out);
    websocket_thread_begin_close(k, status);
    return 0;
}

static void websocket_thread_free_link(struct websocket_link *k)
{
    LIST_REMOVE(k, next);
    k->owner->lib.sul_cancel(&k->tick);
    buf_fini(&k->in);
    websocket_msg_free_all(&k->out);
    free(k);
}

/* Must not be called in a callback of the library, which may still access an ended link. */
static void websocket_thread_free_closed(struct websocket_thread *t)
{
    for (struct websocket_link *k = LIST_FIRST(&t->links), *next; k; k = next) {
        next = LIST_NEXT(k, next);
        if (!k->has_ended)
            continue;
        websocket_thread_set_plain_reason(k, "the connection was lost");
        websocket_thread_report(k, WEBSOCKET_EVENT_GONE, (struct str){k->why, strlen(k->why)});
        websocket_thread_free_link(k);
    }
}

/* ---- keep-alive ---- */

/* Time since the last byte; uses the kernel's counter. */
static int64_t websocket_thread_silence_ms(const struct websocket_link *k)
{
    struct tcp_info info;
    socklen_t len = sizeof info;
    if (getsockopt(k->owner->lib.get_socket_fd(k->wsi), IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
        return 0;
    return info.tcpi_last_data_recv;
}

/* Time until the next ping is due, or silence would be too long. */
static void schedule_tick(struct websocket_link *k, int64_t silence_ms)
{
    const int64_t left = k->conn->silent_ms - silence_ms, ping = k->conn->ping_ms;
    const int64_t ms = left < ping ? left : ping;
    websocket_thread_schedule(k, ms > 1 ? ms : 1);
}

static void websocket_thread_on_tick(lws_sorted_usec_list_t *tick)
{
    struct websocket_link *const k = (void *)tick;
    if (!k->wsi || k->has_ended)
        return;
    if (k->is_closing) {
        websocket_thread_shut_down(k);
        return;
    }
    const int64_t silence = websocket_thread_silence_ms(k);
    if (silence >= k->conn->silent_ms) {
        websocket_thread_set_plain_reason(k, "silent");
        websocket_thread_shut_down(k);
        return;
    }
    k->is_ping_due = true;
    k->owner->lib.callback_on_writable(k->wsi);
    schedule_tick(k, silence);
}

/* ---- callbacks of the library ---- */

static int on_established(struct websocket_link *k, const void *in, size_t len)
{
    (void)in;
    (void)len;
    k->is_open = true;
    websocket_thread_report(k, WEBSOCKET_EVENT_OPEN, STR(""));
    schedule_tick(k, 0);
    return 0;
}

/* The library passes the remaining space for headers. */
static int on_handshake(struct websocket_link *k, const void *in, size_t len)
{
    unsigned char **const at = (unsigned char **)(uintptr_t)in; /* drops const: it is our own
                                                                 * buffer */
    const size_t n = strlen(k->conn->headers);
    if (n > len) {
        websocket_thread_set_plain_reason(k, "the headers of the request are too long");
        return -1;
    }
    memcpy(*at, k->conn->headers, n);
    *at += n;
    return 0;
}

static int on_refused(struct websocket_link *k, const void *in, size_t len)
{
    char why[64];
    const unsigned status = k->wsi ? k->owner->lib.http_client_http_response(k->wsi) : 0;
    if (status && status != 101) {
        snprintf(why, sizeof why, "the server replied with HTTP status %u", status);
        websocket_thread_set_plain_reason(k, why);
    }
    /* The library reports only numbers then. */
    if (in && memmem(in, len, "SSL", 3))
        websocket_thread_set_plain_reason(
            k, "TLS handshake failed (check the certificate of the server)");
    websocket_thread_set_reason(k, "cannot connect: ", in ? in : "", in ? len : 0);
    return 0;
}

static int websocket_thread_on_bytes(struct websocket_link *k, const void *bytes, size_t len)
{
    const struct libwebsockets *const lib = &k->owner->lib;
    if (k->is_closing)
        return 0;
    const bool is_binary = lib->frame_is_binary(k->wsi);
    if (is_binary && !k->conn->wants_binary)
        return websocket_thread_close_with(k, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE,
                                           "received a binary message");
    if (k->in.len + len > WEBSOCKET_MAX_TEXT)
        return websocket_thread_close_with(k, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE,
                                           "received a message that is too long");
    buf_add(&k->in, bytes, len);
    if (!lib->is_final_fragment(k->wsi))
        return 0;
    if (!is_binary && !utf8_is_valid(k->in.p, k->in.len))
        return websocket_thread_close_with(k, LWS_CLOSE_STATUS_INVALID_PAYLOAD,
                                           "received a message that is not valid UTF-8");
    const size_t unread = atomic_fetch_add(&k->conn->unread, k->in.len) + k->in.len;
    websocket_thread_report(k, is_binary ? WEBSOCKET_EVENT_BINARY : WEBSOCKET_EVENT_TEXT,
                            (struct str){k->in.p, k->in.len});
    buf_fini(&k->in);
    if (unread > UNREAD_MAX && !k->is_paused) {
        k->is_paused = true;
        lib->rx_flow_control(k->wsi, 0);
    }
    return 0;
}

/* Pings have precedence, because a congested connection needs them most. */
static int on_writable(struct websocket_link *k, const void *in, size_t len)
{
    (void)in;
    (void)len;
    const struct libwebsockets *const lib = &k->owner->lib;
    if (k->is_ping_due) {
        unsigned char ping[LWS_PRE];
        k->is_ping_due = false;
        if (lib->write(k->wsi, ping + LWS_PRE, 0, LWS_WRITE_PING) < 0)
            return -1;
    } else if (!STAILQ_EMPTY(&k->out)) {
        struct websocket_msg *const n = STAILQ_FIRST(&k->out);
        const int written =
            lib->write(k->wsi, (unsigned char *)n->text, n->len,
                       n->kind == WEBSOCKET_CMD_SEND_BINARY ? LWS_WRITE_BINARY : LWS_WRITE_TEXT);
        atomic_fetch_sub(&k->conn->queued, n->len);
        STAILQ_REMOVE_HEAD(&k->out, next);
        free(n);
        if (written < 0)
            return -1;
    } else if (k->is_closing) {
        lib->close_reason(k->wsi, k->status, NULL, 0);
        return -1;
    }
    if (!STAILQ_EMPTY(&k->out) || k->is_closing || k->is_ping_due)
        lib->callback_on_writable(k->wsi);
    return 0;
}

/* Two bytes of status, then a reason. */
static int on_peer_close(struct websocket_link *k, const void *in, size_t len)
{
    const unsigned char *const status = in;
    char before[64] = "closed by the service";
    if (len >= 2)
        snprintf(before, sizeof before, WEBSOCKET_CLOSED_BY_SERVICE "%d ",
                 status[0] << 8 | status[1]);
    websocket_thread_set_reason(k, before, len > 2 ? (const char *)in + 2 : "",
                                len > 2 ? len - 2 : 0);
    return 0;
}

static int on_destroyed(struct websocket_link *k, const void *in, size_t len)
{
    (void)in;
    (void)len;
    k->owner->lib.sul_cancel(&k->tick);
    k->wsi = NULL;
    k->has_ended = true;
    return 0;
}

static const struct {
    enum lws_callback_reasons reason;
    int (*fn)(struct websocket_link *k, const void *in, size_t len);
} handlers[] = {
    {LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER, on_handshake},
    {LWS_CALLBACK_CLIENT_ESTABLISHED, on_established},
    {LWS_CALLBACK_CLIENT_CONNECTION_ERROR, on_refused},
    {LWS_CALLBACK_CLIENT_RECEIVE, websocket_thread_on_bytes},
    {LWS_CALLBACK_CLIENT_WRITEABLE, on_writable},
    {LWS_CALLBACK_WS_PEER_INITIATED_CLOSE, on_peer_close},
    {LWS_CALLBACK_WSI_DESTROY, on_destroyed},
};

/* `user` is the link, also in the library's last callback about it. */
static int websocket_thread_on_callback(struct lws *wsi, enum lws_callback_reasons reason,
                                        void *user, void *in, size_t len)
{
    struct websocket_link *const k = user;
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
        if (handlers[i].reason == reason && k && (k->wsi == wsi))
            return handlers[i].fn(k, in, len);
    }
    return 0;
}

/* ---- orders ---- */

/* The address to connect to. "localhost" is the loopback address without a resolver (RFC 6761,
 * 6.3), as in libcurl: a container may have no /etc/hosts. A proxy resolves names itself. */
static const char *websocket_thread_address(const char *host, bool is_proxied)
{
    return !is_proxied && strcasecmp(host, "localhost") == 0 ? "127.0.0.1" : host;
}

static void websocket_thread_handle_open(struct websocket_thread *t, struct websocket_conn *c)
{
    const bool is_proxied = t->proxied && !proxy_is_exempt(t->no_proxy, c->url.host);
    struct websocket_link *const k = xcalloc(1, sizeof *k);
    *k = (struct websocket_link){.owner = t, .conn = c};
    k->tick.cb = websocket_thread_on_tick;
    STAILQ_INIT(&k->out);
    LIST_INSERT_HEAD(&t->links, k, next);
    const struct lws_client_connect_info info = {
        .context = t->context,
        .vhost = is_proxied ? t->proxied : NULL,
        .address = websocket_thread_address(c->url.host, is_proxied),
        .port = c->url.port,
        .path = c->url.path,
        .host = c->url.authority,
        .ssl_connection = (c->url.is_tls ? LCCSCF_USE_SSL : 0) | LCCSCF_HTTP_NO_FOLLOW_REDIRECT,
        .local_protocol_name = PROTOCOL,
        .pwsi = &k->wsi,
        .userdata = k,
    };
    if (!t->lib.client_connect_via_info(&info) && !k->wsi)
        k->has_ended = true;
}

static void websocket_thread_handle_close(struct websocket_link *k)
{
    if (!k->is_open)
        websocket_thread_shut_down(k);
    else if (k->wsi && !k->is_closing)
        websocket_thread_begin_close(k, (enum lws_close_status)k->conn->close_status);
}

static void websocket_thread_handle_resume(struct websocket_link *k)
{
    k->is_paused = false;
    if (k->wsi)
        k->owner->lib.rx_flow_control(k->wsi, 1);
}

static void websocket_thread_handle_send(struct websocket_link *k, struct websocket_msg *n)
{
    STAILQ_INSERT_TAIL(&k->out, n, next);
    if (k->wsi)
        k->owner->lib.callback_on_writable(k->wsi);
}

static struct websocket_link *websocket_thread_find_link(const struct websocket_thread *t,
                                                         const struct websocket_conn *c)
{
    struct websocket_link *k;
    LIST_FOREACH (k, &t->links, next)
        if (k->conn == c)
            return k;
    return NULL;
}

/* Ignores a command for a socket that no longer exists. Takes ownership of the message. */
static void websocket_thread_handle_command(struct websocket_thread *t, struct websocket_msg *n)
{
    struct websocket_link *const k = n->conn ? websocket_thread_find_link(t, n->conn) : NULL;
    if ((n->kind == WEBSOCKET_CMD_SEND || n->kind == WEBSOCKET_CMD_SEND_BINARY) && k) {
        websocket_thread_handle_send(k, n);
        return;
    }
    if (n->kind == WEBSOCKET_CMD_OPEN)
        websocket_thread_handle_open(t, n->conn);
    else if (n->kind == WEBSOCKET_CMD_STOP)
        t->stops = true;
    else if (n->kind == WEBSOCKET_CMD_CLOSE && k)
        websocket_thread_handle_close(k);
    else if (n->kind == WEBSOCKET_CMD_DROP && k)
        websocket_thread_shut_down(k);
    else if (n->kind == WEBSOCKET_CMD_RESUME && k)
        websocket_thread_handle_resume(k);
    free(n);
}

static void *websocket_thread_main(void *arg)
{
    struct websocket_thread *const t = arg;
    while (!t->stops) {
        struct websocket_msg_list taken;
        websocket_msg_queue_take_all(&t->orders, &taken);
        for (struct websocket_msg *n; (n = STAILQ_FIRST(&taken));) {
            STAILQ_REMOVE_HEAD(&taken, next);
            websocket_thread_handle_command(t, n);
        }
        websocket_thread_free_closed(t);
        if (!t->stops)
            t->lib.service(t->context, 0);
        websocket_thread_free_closed(t);
    }
    return NULL;
}

/* ---- the thread ---- */

void websocket_thread_post(struct websocket_thread *t, struct websocket_conn *c,
                           enum websocket_note_kind kind, struct str text)
{
    websocket_msg_queue_push(&t->orders, c, kind, text);
    t->lib.cancel_service(t->context);
}

/* Ignores the environment for addresses and trust. */
static struct lws_context_creation_info websocket_thread_describe(struct websocket_thread *t,
                                                                  const char *ca_file)
{
    static const struct lws_protocols protocols[] = {
        {.name = PROTOCOL, .callback = websocket_thread_on_callback, .rx_buffer_size = READ_BYTES},
        {.name = NULL}};
    return (struct lws_context_creation_info){
        .port = CONTEXT_PORT_NO_LISTEN,
        .protocols = protocols,
        .http_proxy_address = "",
        .client_ssl_ca_filepath = ca_file,
        .options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT |
                   (ca_file ? LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS : 0),
        .fd_limit_per_thread = SOCKETS_MAX,
        .user = t,
    };
}

/* Creates the context for connections through an http: proxy. The library expects
 * "USER:PASSWORD@HOST:PORT". */
static int add_proxy(struct websocket_thread *t, const char *ca_file, const struct proxy *p)
{
    struct lws_context_creation_info info = websocket_thread_describe(t, ca_file);
    char address[512];
    info.vhost_name = "proxied";
    t->no_proxy = xstrdup(p->no_proxy);
    t->proxied = t->lib.create_vhost(t->context, &info);
    const int n = snprintf(address, sizeof address, "%s%s%s", p->credentials ? p->credentials : "",
                           p->credentials ? "@" : "", p->url + strlen("http://"));
    const int rc =
        t->proxied && n < (int)sizeof address ? t->lib.set_proxy(t->proxied, address) : -1;
    explicit_bzero(address, sizeof address);
    return rc;
}

static struct lws_context *websocket_thread_new_context(struct websocket_thread *t,
                                                        const char *ca_file,
                                                        const struct proxy *proxy)
{
    const struct lws_context_creation_info info = websocket_thread_describe(t, ca_file);
    t->context = t->lib.create_context(&info);
    if (t->context && proxy->url && add_proxy(t, ca_file, proxy) < 0) {
        t->lib.context_destroy(t->context);
        t->context = NULL;
    }
    return t->context;
}

int websocket_check_available(struct tc_err *err)
{
    struct libwebsockets lib;
    return libwebsockets_load(&lib, err);
}

/* Blocks signals, which the loop handles. */
static int websocket_thread_start_thread(struct websocket_thread *t)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(&t->id, NULL, websocket_thread_main, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

static void free_thread(struct websocket_thread *t)
{
    free(t->no_proxy);
    free(t);
}

struct websocket_thread *websocket_thread_new(const char *ca_file, const struct proxy *proxy,
                                              struct websocket_msg_queue *reports, int wake_fd,
                                              struct tc_err *err)
{
    struct websocket_thread *const t = xcalloc(1, sizeof *t);
    *t = (struct websocket_thread){.reports = reports, .wake_fd = wake_fd};
    if (libwebsockets_load(&t->lib, err) < 0) {
        free(t);
        return NULL;
    }
    if (!websocket_thread_new_context(t, ca_file, proxy)) {
        free_thread(t);
        err_set(err, ca_file, "cannot initialise libwebsockets");
        return NULL;
    }
    websocket_queue_init(&t->orders);
    if (websocket_thread_start_thread(t) != 0) {
        t->lib.context_destroy(t->context);
        websocket_queue_fini(&t->orders);
        free_thread(t);
        err_set(err, NULL, "cannot create a thread for websockets");
        return NULL;
    }
    return t;
}

void websocket_thread_free(struct websocket_thread *t)
{
    websocket_thread_post(t, NULL, WEBSOCKET_CMD_STOP, STR(""));
    pthread_join(t->id, NULL);
    t->lib.context_destroy(t->context);
    while (!LIST_EMPTY(&t->links))
        websocket_thread_free_link(LIST_FIRST(&t->links));
    websocket_queue_fini(&t->orders);
    free_thread(t);
}
