/* SPDX-License-Identifier: MIT
 * Owns the loop, the HTTP client, the headers with the secrets, and the end of the run. */
#include "remote/sse/sse_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/log.h"
#include "dialect/remote/remote_line.h"
#include "io/loop/loop.h"
#include "remote/remote_commands.h"
#include "remote/sse/sse_call.h"

#define OUTAGE_MS "30000"
#define LINGER_MS 2000 /* time for unfinished calls at the end */
#define STALL_S 90     /* services send an event or a comment every 15 or 30 s */
#define HEADERS_MAX 32

static const struct sse_service *const services[] = {&sse_awaken, &sse_ethos, &sse_reasonix,
                                                     &sse_turncast};

struct sse_run {
    const struct remote_arguments *arguments;
    const struct sse_service *service;
    void *state;
    struct loop *loop;
    struct httpc *http;
    struct event_source *source;
    struct sse_calls calls;
    struct remote_commands *commands; /* NULL: a probe */
    struct loop_timer *linger;
    char *url; /* without a trailing slash */
    char *header_lines;
    struct httpc_header headers[HEADERS_MAX]; /* in header_lines */
    size_t header_count;
    int64_t outage_ms;
    bool prompted, cancelled, ended;
};

void *sse_run_state(struct sse_run *r)
{
    return r->state;
}

const char *sse_run_setting(const struct sse_run *r, const char *name)
{
    return remote_setting(r->arguments, name, NULL);
}

bool sse_run_is_cancelled(const struct sse_run *r)
{
    return r->cancelled;
}

/* ---- the end ---- */

static void sse_run_on_linger(void *arg)
{
    struct sse_run *const r = arg;
    r->ended = true;
    loop_stop(r->loop);
}

void sse_run_end(struct sse_run *r)
{
    if (r->ended)
        return;
    r->ended = true;
    loop_timer_set(r->linger, LIST_EMPTY(&r->calls) ? 0 : LINGER_MS);
}

static void sse_run_cancel(struct sse_run *r)
{
    if (r->cancelled || r->ended)
        return;
    r->cancelled = true;
    if (r->prompted)
        r->service->cancel(r);
    else
        sse_run_end(r);
}

void sse_run_fail(struct sse_run *r, const char *code, const char *fmt, ...)
{
    CLEANUP_BUF struct buf text = {0}, safe = {0}, line = {0};
    va_list ap;
    if (r->ended)
        return;
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    log_redact(&safe, (struct str){text.p, text.len});
    remote_line_add_error(&line, code, safe.p);
    sse_run_write(r, &line);
    sse_run_end(r);
}

void sse_run_fail_call(struct sse_run *r, const char *what, const struct sse_reply *reply)
{
    const char *const code = reply->status >= 300 && reply->status < 500 ? "remote_refused"
                             : reply->is_unsent                          ? "remote_unreachable"
                                                                         : "remote_lost";
    sse_run_fail(r, code, "%s at %s: %s", what, r->url, reply->text);
}

void sse_run_fail_closed(struct sse_run *r, const struct event_source_closed *closed)
{
    static const struct {
        const char *code, *what;
    } ends[] = {
        [EVENT_SOURCE_EOF] = {"remote_lost", "the event stream of %s ended before the turn"},
        [EVENT_SOURCE_REFUSED] = {"remote_refused", "cannot read the event stream of %s"},
        [EVENT_SOURCE_INVALID] = {"remote_invalid", "cannot read the event stream of %s"},
        [EVENT_SOURCE_UNREACHABLE] = {"remote_unreachable", "cannot connect to %s"},
        [EVENT_SOURCE_LOST] = {"remote_lost", "lost the connection to %s during the turn"},
    };
    CLEANUP_BUF struct buf text = {0};
    for (const char *p = ends[closed->how].what; *p; p++)
        if (p[0] == '%' && p[1] == 's')
            buf_add_str(&text, r->url), p++;
        else
            buf_add_char(&text, *p);
    if (closed->how != EVENT_SOURCE_EOF) {
        buf_printf(&text, ": %s", closed->text);
        sse_call_add_message(&text, closed->body);
    }
    sse_run_fail(r, ends[closed->how].code, "%s", text.p);
}

/* ---- the output ---- */

/* The host no longer reads, so the turn is stopped. */
static void sse_run_handle_lost_reader(struct sse_run *r)
{
    sse_run_cancel(r);
    sse_run_end(r);
}

void sse_run_write(struct sse_run *r, const struct buf *lines)
{
    if (r->ended || !lines->len)
        return;
    if (fwrite(lines->p, 1, lines->len, stdout) != lines->len || fflush(stdout))
        sse_run_handle_lost_reader(r);
}

void sse_run_write_data(struct sse_run *r, const char *data, size_t len)
{
    CLEANUP_BUF struct buf line = {0};
    remote_line_add_data(&line, data, len);
    sse_run_write(r, &line);
}

void sse_run_write_open(struct sse_run *r, const char *dialect, const char *session)
{
    CLEANUP_BUF struct buf line = {0};
    remote_line_add_open(&line, dialect, session);
    sse_run_write(r, &line);
}

void sse_run_write_request(struct sse_run *r, const char *id, bool question, bool edits)
{
    CLEANUP_BUF struct buf line = {0};
    remote_line_add_request(&line, id, question, edits);
    sse_run_write(r, &line);
}

void sse_run_write_settled(struct sse_run *r, const char *id)
{
    CLEANUP_BUF struct buf line = {0};
    remote_line_add_settled(&line, id);
    sse_run_write(r, &line);
}

void sse_run_write_notice(struct sse_run *r, const char *code, const char *text)
{
    CLEANUP_BUF struct buf line = {0}, safe = {0};
    log_redact(&safe, (struct str){text, strlen(text)});
    remote_line_add_notice(&line, "warn", code, safe.p ? safe.p : "");
    sse_run_write(r, &line);
}

/* ---- the service ---- */

static void sse_run_on_reply(void *ctx, void (*then)(struct sse_run *, const struct sse_reply *),
                             const struct sse_reply *reply)
{
    struct sse_run *const r = ctx;
    if (r->ended)
        return;
    if (then) {
        then(r, reply);
    } else if (!reply->ok) {
        CLEANUP_BUF struct buf text = {0};
        buf_printf(&text, "%s did not accept an answer or request: %s", r->url, reply->text);
        sse_run_write_notice(r, "remote_call_failed", text.p);
    }
}

static void sse_run_on_called(void *ctx, void (*then)(struct sse_run *, const struct sse_reply *),
                              const struct sse_reply *reply)
{
    struct sse_run *const r = ctx;
    sse_run_on_reply(ctx, then, reply);
    if (r->ended && LIST_EMPTY(&r->calls))
        loop_timer_set(r->linger, 0);
}

void sse_run_ignore(struct sse_run *r, const struct sse_reply *reply)
{
    (void)r;
    (void)reply;
}

void sse_run_call(struct sse_run *r, const char *method, const char *path, const char *body,
                  const char *key, unsigned flags,
                  void (*done)(struct sse_run *r, const struct sse_reply *reply))
{
    CLEANUP_BUF struct buf url = {0};
    buf_printf(&url, "%s%s", r->url, path);
    const struct sse_call_spec spec = {
        .method = method,
        .url = url.p,
        .body = body,
        .key = key,
        .headers = r->headers,
        .header_count = r->header_count,
        .outage_ms = r->outage_ms,
        .flags = flags,
    };
    sse_call_start(&r->calls, r->loop, r->http, &spec, sse_run_on_called, r, done);
}

static void sse_run_on_opened(void *ctx)
{
    struct sse_run *const r = ctx;
    if (!r->ended && r->service->events.opened)
        r->service->events.opened(r);
}

static void sse_run_on_frame(void *ctx, const struct sse_event *frame)
{
    struct sse_run *const r = ctx;
    if (!r->ended)
        r->service->events.frame(r, frame);
}

static void sse_run_on_dropped(void *ctx, uint64_t bytes)
{
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "skipped an event of %llu bytes, which is too long",
               (unsigned long long)bytes);
    sse_run_write_notice(ctx, "remote_event_too_long", text.p);
}

static void sse_run_on_closed(void *ctx, const struct event_source_closed *closed)
{
    struct sse_run *const r = ctx;
    if (!r->ended)
        r->service->events.closed(r, closed);
}

void sse_run_open_events(struct sse_run *r, const char *path, struct event_source_spec spec)
{
    static const struct event_source_events events = {sse_run_on_opened, sse_run_on_frame,
                                                      sse_run_on_dropped, sse_run_on_closed};
    CLEANUP_BUF struct buf url = {0};
    buf_printf(&url, "%s%s", r->url, path);
    spec.url = url.p;
    spec.headers = r->headers;
    spec.header_count = r->header_count;
    spec.outage_ms = r->outage_ms;
    if (!r->source)
        r->source = event_source_new(r->loop, r->http, &events, r);
    event_source_open(r->source, &spec);
}

void sse_run_reopen_events(struct sse_run *r)
{
    event_source_reopen(r->source);
}

/* ---- commands ---- */

static void sse_run_on_prompt(void *ctx, const char *text, const char *session)
{
    struct sse_run *const r = ctx;
    if (r->ended)
        return;
    r->prompted = true;
    r->service->prompt(r, text, session);
}

static void sse_run_on_answer(void *ctx, const struct remote_answer *answer)
{
    struct sse_run *const r = ctx;
    if (!r->ended)
        r->service->answer(r, answer);
}

static void sse_run_on_cancel(void *ctx)
{
    sse_run_cancel(ctx);
}

static void sse_run_on_long_command(void *ctx, uint64_t bytes)
{
    sse_run_fail(ctx, "remote_invalid", "a message of %llu bytes is too long",
                 (unsigned long long)bytes);
}

/* The host has exited, or stops the program: gives the service a moment to stop the turn. */
static void sse_run_on_shutdown(void *ctx)
{
    struct sse_run *const r = ctx;
    sse_run_cancel(r);
    if (!r->ended)
        loop_timer_set(r->linger, LINGER_MS);
}

static const struct remote_commands_events commands = {sse_run_on_prompt, sse_run_on_answer,
                                                       sse_run_on_cancel, sse_run_on_shutdown,
                                                       sse_run_on_long_command};

/* ---- the probe ---- */

static void sse_run_on_probed(struct sse_run *r, const struct sse_reply *reply)
{
    if (reply->ok)
        puts("ok");
    else
        printf("%s at %s: %s\n", r->service->name, r->url, reply->text);
    fflush(stdout);
    sse_run_end(r);
}

static void sse_run_probe(struct sse_run *r)
{
    r->outage_ms = 0;
    sse_run_call(r, r->service->probe_body ? "POST" : "GET", r->service->probe,
                 r->service->probe_body, NULL, 0, sse_run_on_probed);
}

/* ---- create and free ---- */

/* Parses "Name: value" lines. Values are secrets. */
static void sse_run_parse_headers(struct sse_run *r, const char *lines)
{
    r->header_lines = xstrdup(lines);
    char *rest = r->header_lines, *line;
    while ((line = strsep(&rest, "\n")) && r->header_count < HEADERS_MAX) {
        char *const colon = strstr(line, ": ");
        if (!colon)
            continue;
        *colon = '\0';
        const char *const value = colon + 2, *const space = strchr(value, ' ');
        log_add_secret(value);
        if (space)
            log_add_secret(space + 1); /* the token behind its scheme */
        r->headers[r->header_count++] = (struct httpc_header){line, value};
    }
}

static const struct sse_service *sse_run_find_service(const char *name)
{
    for (size_t i = 0; name && i < sizeof services / sizeof *services; i++)
        if (strcmp(services[i]->name, name) == 0)
            return services[i];
    return NULL;
}

static void sse_run_init(struct sse_run *r, const struct remote_arguments *a)
{
    const struct httpc_options options = {.ca_file = remote_setting(a, "ca", NULL),
                                          .cert_file = remote_setting(a, "cert", NULL),
                                          .key_file = remote_setting(a, "key", NULL),
                                          .stall_s = STALL_S};
    const char *const url = remote_setting(a, "url", "");
    r->arguments = a;
    r->url = xstrndup(url, strlen(url) - (*url && url[strlen(url) - 1] == '/'));
    r->outage_ms = strtoll(remote_setting(a, "outage_ms", OUTAGE_MS), NULL, 10);
    sse_run_parse_headers(r, a->secret ? a->secret : "");
    r->state = r->service->state_size ? xcalloc(1, r->service->state_size) : NULL;
    r->loop = loop_new();
    r->http = httpc_new(r->loop, &options);
    r->linger = loop_timer_new(r->loop, sse_run_on_linger, r);
}

static void sse_run_fini(struct sse_run *r)
{
    event_source_free(r->source);
    sse_call_free_all(&r->calls);
    httpc_free(r->http);
    loop_timer_free(r->linger);
    remote_commands_free(r->commands);
    loop_free(r->loop);
    if (r->service->close)
        r->service->close(r->state);
    free(r->state);
    explicit_bzero(r->header_lines, strlen(r->header_lines));
    free(r->header_lines);
    free(r->url);
}

int remote_sse_follow(const struct remote_arguments *a, struct tc_err *err)
{
    struct sse_run r = {.service = sse_run_find_service(remote_setting(a, "agent", NULL))};
    if (!r.service)
        return err_set(err, NULL, "unknown agent \"%s\"", remote_setting(a, "agent", ""));
    if (httpc_check_available(err) < 0)
        return -1;
    sse_run_init(&r, a);
    if (sse_run_setting(&r, "probe"))
        sse_run_probe(&r);
    else
        r.commands = remote_commands_new(r.loop, &commands, &r);
    loop_run(r.loop);
    sse_run_fini(&r);
    return 0;
}
