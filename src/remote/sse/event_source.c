/* SPDX-License-Identifier: MIT
 * Owns the connection, the parser and the ID of the last frame. Data from libcurl is buffered until
 * the loop's next round, because libcurl permits no new requests from within its callbacks. */
#include "remote/sse/event_source.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "io/loop/line_splitter.h"

#define CONNECTION_MS (7 * 24 * 3600 * INT64_C(1000))
#define FIRST_DELAY_MS 200
#define MAX_DELAY_MS 4000
#define RECEIVED_MAX ((size_t)64 << 20) /* limit of frames per round of the loop */
#define HEADERS_MAX 40
#define ID_MAX 256

struct event_source {
    struct loop *loop;
    struct httpc *http;
    const struct event_source_events *events;
    void *ctx;
    struct event_source_spec spec; /* its strings point to the members below */
    char *url, *method, *body;
    struct httpc_transfer *transfer; /* or NULL */
    struct loop_timer *again;
    struct buf received; /* bytes not yet parsed */
    struct line_splitter lines;
    struct sse_parser parser;
    char last_id[ID_MAX + 1]; /* "": none */
    int64_t away_since_ms;    /* time of the interruption; 0: connected, or no attempt yet */
    int64_t delay_ms;
    bool responded; /* this connection had a 2xx response of the right type */
    bool opened;    /* any connection so far had one */
    bool is_stopped;
};

static void event_source_connect(struct event_source *s);

/* ---- frames ---- */

static bool event_source_is_repeated(const struct event_source *s, const struct sse_event *frame)
{
    if (!s->spec.numbered || !frame->id || !*s->last_id)
        return false;
    return strtoull(frame->id, NULL, 10) <= strtoull(s->last_id, NULL, 10);
}

static void event_source_on_frame(void *ctx, const struct sse_event *frame)
{
    struct event_source *const s = ctx;
    if (s->is_stopped || event_source_is_repeated(s, frame))
        return;
    if (frame->id && strlen(frame->id) <= ID_MAX)
        memcpy(s->last_id, frame->id, strlen(frame->id) + 1);
    s->events->frame(s->ctx, frame);
}

static void event_source_on_dropped(void *ctx, uint64_t bytes)
{
    struct event_source *const s = ctx;
    s->events->dropped(s->ctx, bytes);
}

static void event_source_on_line(void *ctx, const char *p, size_t len, bool complete)
{
    struct event_source *const s = ctx;
    (void)complete;
    sse_feed_line(&s->parser, p, len);
}

static void event_source_reset_parser(struct event_source *s)
{
    line_splitter_fini(&s->lines);
    sse_fini(&s->parser);
    s->lines = (struct line_splitter){
        .line = event_source_on_line, .dropped = event_source_on_dropped, .ctx = s};
    s->parser = (struct sse_parser){.frame = event_source_on_frame,
                                    .dropped = event_source_on_dropped,
                                    .ctx = s,
                                    .cap = LINES_DEFAULT_CAP};
}

static void event_source_parse_received(void *arg)
{
    struct event_source *const s = arg;
    struct buf bytes = s->received;
    s->received = (struct buf){0};
    if (s->responded && s->away_since_ms) {
        s->away_since_ms = 0;
        s->delay_ms = FIRST_DELAY_MS;
        s->opened = true;
        s->events->opened(s->ctx);
    }
    if (bytes.len && !s->is_stopped)
        line_splitter_feed(&s->lines, bytes.p, bytes.len);
    buf_fini(&bytes);
}

/* ---- the connection ---- */

static bool event_source_has_type(const struct httpc_reply *head)
{
    static const char type[] = "text/event-stream";
    for (size_t i = 0; i < head->header_count; i++)
        if (strcmp(head->headers[i].name, "content-type") == 0)
            return strncasecmp(head->headers[i].value, type, sizeof type - 1) == 0;
    return false;
}

/* Called from within libcurl. */
static bool event_source_on_piece(void *arg, const struct httpc_reply *head, struct str bytes)
{
    struct event_source *const s = arg;
    if (!s->responded && !event_source_has_type(head))
        return false;
    if (s->is_stopped || bytes.len > RECEIVED_MAX - s->received.len)
        return false;
    s->responded = true;
    if (!s->received.len)
        loop_post(s->loop, event_source_parse_received, s);
    buf_add(&s->received, bytes.p, bytes.len);
    return true;
}

static void event_source_close(struct event_source *s, enum event_source_end how,
                               const struct httpc_reply *reply, const char *text)
{
    const struct event_source_closed closed = {
        .how = how, .status = reply->status, .body = reply->body, .text = text};
    s->events->closed(s->ctx, &closed);
}

/* Reconnects unless the time limit is reached. */
static void event_source_retry(struct event_source *s, const struct httpc_reply *reply)
{
    const int64_t now = clock_mono_ms();
    const bool repeats =
        s->opened ? s->spec.resumes : !s->spec.body || reply->outcome == HTTPC_NOT_SENT;
    if (!s->away_since_ms)
        s->away_since_ms = now;
    if (repeats && now - s->away_since_ms < s->spec.outage_ms) {
        loop_timer_set(s->again, s->delay_ms);
        s->delay_ms = s->delay_ms * 2 < MAX_DELAY_MS ? s->delay_ms * 2 : MAX_DELAY_MS;
        return;
    }
    const bool lost = s->opened || (s->spec.body && reply->outcome != HTTPC_NOT_SENT);
    event_source_close(s, lost ? EVENT_SOURCE_LOST : EVENT_SOURCE_UNREACHABLE, reply, reply->error);
}

static void event_source_on_done(void *arg, const struct httpc_reply *reply)
{
    struct event_source *const s = arg;
    s->transfer = NULL;
    if (s->is_stopped)
        return;
    loop_cancel_posted(s->loop, event_source_parse_received, s);
    event_source_parse_received(s);
    if (s->is_stopped)
        return;
    const bool good = reply->status >= 200 && reply->status < 300;
    if (good && !s->responded && !event_source_has_type(reply)) {
        event_source_close(s, EVENT_SOURCE_INVALID, reply,
                           "the response is not of the type text/event-stream");
    } else if (reply->outcome == HTTPC_OK) {
        line_splitter_finish(&s->lines);
        sse_flush(&s->parser);
        if (!s->is_stopped)
            event_source_close(s, EVENT_SOURCE_EOF, reply, "the service has ended the stream");
    } else if (reply->outcome == HTTPC_REJECTED && reply->status != 429 && reply->status != 408) {
        event_source_close(s, EVENT_SOURCE_REFUSED, reply, reply->error);
    } else {
        event_source_retry(s, reply);
    }
}

static void event_source_connect(struct event_source *s)
{
    struct httpc_header headers[HEADERS_MAX];
    size_t n = s->spec.header_count < HEADERS_MAX - 2 ? s->spec.header_count : HEADERS_MAX - 2;
    if (n)
        memcpy(headers, s->spec.headers, n * sizeof *headers);
    headers[n++] = (struct httpc_header){"Accept", "text/event-stream"};
    if (s->spec.resumes && *s->last_id)
        headers[n++] = (struct httpc_header){"Last-Event-ID", s->last_id};
    const struct httpc_request request = {
        .method = s->spec.method,
        .url = s->spec.url,
        .headers = headers,
        .header_count = n,
        .body = {s->spec.body, s->spec.body ? strlen(s->spec.body) : 0},
        .content_type = s->spec.body ? "application/json" : NULL,
        .timeout_ms = CONNECTION_MS,
        .piece = event_source_on_piece,
        .flags = HTTPC_LOOPBACK | (s->spec.beats ? 0 : HTTPC_LONG_POLL),
    };
    event_source_reset_parser(s);
    s->responded = false;
    if (!s->away_since_ms)
        s->away_since_ms = clock_mono_ms();
    s->transfer = httpc_start(s->http, &request, event_source_on_done, s);
}

static void event_source_on_again(void *arg)
{
    event_source_connect(arg);
}

/* ---- create and free ---- */

struct event_source *event_source_new(struct loop *loop, struct httpc *http,
                                      const struct event_source_events *events, void *ctx)
{
    struct event_source *const s = xcalloc(1, sizeof *s);
    *s = (struct event_source){.loop = loop, .http = http, .events = events, .ctx = ctx};
    s->again = loop_timer_new(loop, event_source_on_again, s);
    return s;
}

static void event_source_stop(struct event_source *s)
{
    s->is_stopped = true;
    if (s->transfer)
        httpc_cancel(s->transfer);
    loop_timer_set(s->again, -1);
    loop_cancel_posted(s->loop, event_source_parse_received, s);
    buf_reset(&s->received);
    free(s->url);
    free(s->method);
    free(s->body);
    s->url = s->method = s->body = NULL;
}

void event_source_open(struct event_source *s, const struct event_source_spec *spec)
{
    event_source_stop(s);
    s->is_stopped = s->opened = false;
    s->spec = *spec;
    s->spec.url = s->url = xstrdup(spec->url);
    s->spec.method = s->method = xstrdup(spec->method);
    s->spec.body = s->body = xstrdup(spec->body);
    s->last_id[0] = '\0';
    s->away_since_ms = 0;
    s->delay_ms = FIRST_DELAY_MS;
    event_source_connect(s);
}

void event_source_reopen(struct event_source *s)
{
    s->away_since_ms = 0;
    loop_timer_set(s->again, s->delay_ms);
}

void event_source_free(struct event_source *s)
{
    if (!s)
        return;
    event_source_stop(s);
    loop_timer_free(s->again);
    line_splitter_fini(&s->lines);
    sse_fini(&s->parser);
    buf_fini(&s->received);
    free(s);
}
