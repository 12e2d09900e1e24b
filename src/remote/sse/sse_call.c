/* SPDX-License-Identifier: MIT
 * Repeats requests, and formats their errors. */
#include "remote/sse/sse_call.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/bytes/utf8.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "dialect/reader/value.h"

#define FIRST_DELAY_MS 200
#define MAX_DELAY_MS 4000
#define HEADERS_MAX 40
#define MESSAGE_MAX 300

struct sse_call {
    LIST_ENTRY(sse_call) next;
    struct sse_call_spec spec; /* its strings point to the members below */
    char *method, *url, *body, *key;
    struct httpc *http;
    struct httpc_transfer *transfer; /* or NULL: waiting for the next attempt */
    struct loop_timer *again;
    int64_t until_ms, delay_ms;
    void (*done)(void *ctx, void (*then)(struct sse_run *, const struct sse_reply *),
                 const struct sse_reply *reply);
    void (*then)(struct sse_run *, const struct sse_reply *);
    void *ctx;
    bool is_freed;
};

static void sse_call_send(struct sse_call *c);

static void sse_call_free(struct sse_call *c)
{
    loop_timer_free(c->again);
    free(c->method);
    free(c->url);
    free(c->body);
    free(c->key);
    free(c);
}

/* The first line of an error message, shortened. */
static void sse_call_add_text(struct buf *out, struct str text)
{
    CLEANUP_BUF struct buf valid = {0}, safe = {0};
    char cut[MESSAGE_MAX];
    const char *const end = memchr(text.p, '\n', text.len);
    utf8_repair(&valid, text.p, end ? (size_t)(end - text.p) : text.len);
    utf8_copy_truncated(cut, sizeof cut, valid.p);
    log_redact(&safe, (struct str){cut, strlen(cut)});
    if (safe.len)
        buf_printf(out, ": %s", safe.p);
}

void sse_call_add_message(struct buf *out, struct str body)
{
    struct arena a = {0};
    struct str error = {0}, message = {0}, wrapped = {0};
    const struct value_row rows[] = {{"error", &error}, {"message", &message}, {"json", &wrapped}};
    if (body.len && *body.p != '{' && *body.p != '<')
        sse_call_add_text(out, body);
    else if (body.len && value_parse_line(body.p, body.len, VALUE_ROWS(rows)) == 0) {
        const struct str inner = value_get_last(wrapped.p ? wrapped : error, "message");
        const char *const found = value_text(&a,
                                             inner.p                 ? inner
                                             : value_string(error).p ? error
                                                                     : message,
                                             NULL);
        if (found)
            sse_call_add_text(out, (struct str){found, strlen(found)});
    }
    arena_fini(&a);
}

/* OpenSSL names an alert with which the service ends a handshake; it does so behind the handshake
 * of TLS 1.3 if it does not accept the certificate of the client. */
static const char *sse_call_find_remedy(const struct httpc_reply *reply)
{
    if (reply->is_untrusted)
        return "; check the certificate of the service, or set tls.ca to that of its authority";
    if (reply->outcome != HTTPC_OK && strstr(reply->error, " alert "))
        return "; if the service demands a certificate, set tls.cert and tls.key to one that it "
               "accepts";
    return "";
}

static void sse_call_finish(struct sse_call *c, const struct httpc_reply *reply)
{
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "%s%s", reply->error, sse_call_find_remedy(reply));
    if (reply->outcome != HTTPC_OK)
        sse_call_add_message(&text, reply->body);
    const struct sse_reply told = {
        .ok = reply->outcome == HTTPC_OK,
        .status = reply->status,
        .body = reply->body,
        .text = text.p ? text.p : "",
        .is_unsent = reply->outcome == HTTPC_NOT_SENT,
    };
    LIST_REMOVE(c, next);
    c->done(c->ctx, c->then, &told);
    sse_call_free(c);
}

static bool sse_call_repeats(const struct sse_call *c, const struct httpc_reply *reply)
{
    const bool passing = reply->outcome == HTTPC_NOT_SENT || reply->status == 429 ||
                         ((c->spec.flags & SSE_REPEATABLE) && reply->outcome == HTTPC_AMBIGUOUS);
    return passing && clock_mono_ms() + c->delay_ms < c->until_ms;
}

static void sse_call_on_done(void *arg, const struct httpc_reply *reply)
{
    struct sse_call *const c = arg;
    c->transfer = NULL;
    if (c->is_freed)
        return;
    if (!sse_call_repeats(c, reply)) {
        sse_call_finish(c, reply);
        return;
    }
    const int64_t asked = reply->retry_after_ms;
    loop_timer_set(c->again, asked > c->delay_ms && asked < MAX_DELAY_MS ? asked : c->delay_ms);
    c->delay_ms = c->delay_ms * 2 < MAX_DELAY_MS ? c->delay_ms * 2 : MAX_DELAY_MS;
}

static void sse_call_send(struct sse_call *c)
{
    struct httpc_header headers[HEADERS_MAX];
    size_t n = c->spec.header_count < HEADERS_MAX - 1 ? c->spec.header_count : HEADERS_MAX - 1;
    if (n)
        memcpy(headers, c->spec.headers, n * sizeof *headers);
    if (c->key)
        headers[n++] = (struct httpc_header){"Idempotency-Key", c->key};
    const struct httpc_request request = {
        .method = c->method,
        .url = c->url,
        .headers = headers,
        .header_count = n,
        .body = {c->body, c->body ? strlen(c->body) : 0},
        .content_type = c->body ? "application/json" : NULL,
        .flags = HTTPC_LOOPBACK,
    };
    c->transfer = httpc_start(c->http, &request, sse_call_on_done, c);
}

static void sse_call_on_again(void *arg)
{
    sse_call_send(arg);
}

void sse_call_start(struct sse_calls *calls, struct loop *loop, struct httpc *http,
                    const struct sse_call_spec *spec,
                    void (*done)(void *ctx,
                                 void (*then)(struct sse_run *, const struct sse_reply *),
                                 const struct sse_reply *reply),
                    void *ctx, void (*then)(struct sse_run *, const struct sse_reply *))
{
    struct sse_call *const c = xcalloc(1, sizeof *c);
    *c = (struct sse_call){.spec = *spec,
                           .method = xstrdup(spec->method),
                           .url = xstrdup(spec->url),
                           .body = xstrdup(spec->body),
                           .key = xstrdup(spec->key),
                           .http = http,
                           .until_ms = clock_mono_ms() + spec->outage_ms,
                           .delay_ms = FIRST_DELAY_MS,
                           .done = done,
                           .ctx = ctx,
                           .then = then};
    c->again = loop_timer_new(loop, sse_call_on_again, c);
    LIST_INSERT_HEAD(calls, c, next);
    sse_call_send(c);
}

void sse_call_free_all(struct sse_calls *calls)
{
    while (!LIST_EMPTY(calls)) {
        struct sse_call *const c = LIST_FIRST(calls);
        c->is_freed = true;
        LIST_REMOVE(c, next);
        if (c->transfer)
            httpc_cancel(c->transfer);
        sse_call_free(c);
    }
}
