/* SPDX-License-Identifier: MIT
 * Error responses: the JSON object with its headers, and the errors that the server itself detects,
 * each with the exceeded limit and its configuration key. */
#include "io/http/server/httpd_error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "event/json/json_writer.h"
#include "io/http/server/httpd_internal.h"

#define JSON "application/json; charset=utf-8"
#define NAME_SHOWN 100 /* bytes of a client's text quoted in a message */
#define LOG_PER_MINUTE 10

enum { HEADERS_MAX = 3 };

/* ---- the JSON object ---- */

static const char *error_type(int status)
{
    switch (status) {
    case 401:
        return "authentication_error";
    case 403:
        return "permission_error";
    case 404:
        return "not_found_error";
    case 429:
        return "rate_limit_error";
    default:
        return status < 500 ? "invalid_request_error" : "server_error";
    }
}

/* Appends the member "error"; its `type` is derived from the status. */
static void httpd_error_add(struct buf *out, int status, const char *code, const char *message)
{
    buf_add_str(out, "\"error\":{");
    jsonw_member_str(out, "message", message);
    jsonw_member_str(out, "type", error_type(status));
    jsonw_member_json(out, "param", "null");
    jsonw_member_str(out, "code", code);
    buf_add_char(out, '}');
}

/* Whether the same request may succeed soon, because nothing was started (408, 429, 503). */
static bool httpd_error_is_temporary(int status)
{
    return status == 408 || status == 429 || status == 503;
}

static void write_body(struct buf *out, const struct httpd_error *e)
{
    buf_add_char(out, '{');
    httpd_error_add(out, e->status, e->code, e->message);
    if (e->members)
        buf_printf(out, ",%s", e->members);
    buf_add_str(out, "}\n");
}

struct httpd_error_answer {
    struct httpd_answer answer;
    struct httpd_header headers[HEADERS_MAX];
    char retry[24];
    struct buf body;
};

static void make_error_answer(struct httpd_error_answer *a, const struct httpd_error *e)
{
    const bool temporary = httpd_error_is_temporary(e->status) && !e->retry_s;
    size_t n = 0;
    *a = (struct httpd_error_answer){0};
    write_body(&a->body, e);
    a->headers[n++] = (struct httpd_header){"x-should-retry", temporary ? "true" : "false"};
    snprintf(a->retry, sizeof a->retry, "%" PRId64, e->retry_s);
    if (e->retry_s)
        a->headers[n++] = (struct httpd_header){"Retry-After", a->retry};
    else if (e->status == 429 || e->status == 503)
        a->headers[n++] = (struct httpd_header){"Retry-After", HTTPD_RETRY_AFTER};
    if (e->header)
        a->headers[n++] = *e->header;
    a->answer = (struct httpd_answer){.status = e->status,
                                      .content_type = JSON,
                                      .headers = a->headers,
                                      .header_count = n,
                                      .body = {a->body.p, a->body.len}};
}

void httpd_answer_error(struct httpd_request *r, const struct httpd_error *e)
{
    struct httpd_error_answer a;
    make_error_answer(&a, e);
    httpd_answer_full(r, &a.answer);
    buf_fini(&a.body);
}

/* ---- errors of the server ---- */

const struct httpd_error httpd_error_path = {
    .status = 404, .code = "not_found", .message = "There is nothing at this path."};
const struct httpd_error httpd_error_drain = {
    .status = 503,
    .code = "shutting_down",
    .message = "turncast is shutting down; send the request again after the restart."};

/* The server's errors; none of them closes the connection. */
static void httpd_send_error(struct httpd_conn *c, const struct httpd_error *e)
{
    struct httpd_error_answer a;
    make_error_answer(&a, e);
    httpd_conn_send_answer(c, &a.answer);
    buf_fini(&a.body);
}

static const char *parse_code(int status)
{
    switch (status) {
    case 413:
        return "body_too_large";
    case 414:
        return "target_too_long";
    case 417:
        return "unknown_expectation";
    case 431:
        return "head_too_large";
    case 501:
        return "not_implemented";
    case 505:
        return "version_not_supported";
    default:
        return "invalid_http";
    }
}

/* The parser names the violated rule; for a limit, adds the number and its key. */
static void explain_parse(struct buf *out, const struct httpd_conn *c)
{
    const struct httpd_options *const o = &c->owner->options;
    switch (c->parse.status) {
    case 413:
        buf_printf(out, "The request body is larger than the limit of %zu bytes (http.max_body).",
                   o->body_bytes);
        return;
    case 414:
        buf_printf(out, "The request target is longer than the limit of %d bytes.",
                   HTTPD_MAX_TARGET);
        return;
    case 431:
        buf_printf(out,
                   "The request has more than %d header fields, or a head of more than %d "
                   "bytes.",
                   HTTPD_PARSE_HEADERS, HTTPD_MAX_HEAD);
        return;
    default:
        buf_printf(out, "The request cannot be read: %s.", c->parse.why);
    }
}

void httpd_refuse_parse(struct httpd_conn *c)
{
    CLEANUP_BUF struct buf message = {0};
    explain_parse(&message, c);
    log_write(LOG_DEBUG, "host", "HTTP: from %s: %s", c->peer->name, c->parse.why);
    httpd_send_error(c, &(struct httpd_error){.status = c->parse.status,
                                              .code = parse_code(c->parse.status),
                                              .message = message.p});
}

void httpd_refuse_late(struct httpd_conn *c, int status)
{
    CLEANUP_BUF struct buf message = {0};
    const struct httpd_options *const o = &c->owner->options;
    const bool client = status == 408;
    buf_printf(&message,
               client ? "The request was not complete within %.3g seconds."
                      : "The answer was not ready within %.3g seconds.",
               (double)(client       ? o->arrival_ms
                        : c->late_ms ? c->late_ms
                                     : o->deadline_ms) /
                   1000);
    httpd_send_error(c, &(struct httpd_error){.status = status,
                                              .code = client ? "request_timeout" : "answer_timeout",
                                              .message = message.p});
}

/* Makes a name from a client safe for JSON and for the log. */
static void httpd_error_copy_name(char shown[NAME_SHOWN + 1], const char *name)
{
    snprintf(shown, NAME_SHOWN + 1, "%s", name);
    for (char *p = shown; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
}

/* Rate-limits log lines, because any client can cause them. */
static bool httpd_error_may_log(struct httpd *h)
{
    const int64_t now = clock_mono_ms();
    if (!h->refusals_ms || now - h->refusals_ms > 60 * 1000) {
        h->refusals_ms = now;
        h->refusals = 0;
    }
    return h->refusals++ < LOG_PER_MINUTE;
}

void httpd_refuse_name(struct httpd_conn *c, int status, const char *name)
{
    const bool is_host = status == 421;
    char shown[NAME_SHOWN + 1];
    CLEANUP_BUF struct buf message = {0};
    httpd_error_copy_name(shown, name);
    if (is_host)
        buf_printf(&message,
                   "The Host \"%s\" is not a name of this server. To allow it, add it, without its "
                   "port, to http.hosts in the configuration.",
                   shown);
    else
        buf_printf(&message,
                   "Pages of the Origin \"%s\" may not use this server. To allow them, add it to "
                   "http.origins in the configuration; for a proxy, add its name to http.hosts and "
                   "let it pass the Host header on.",
                   shown);
    if (httpd_error_may_log(c->owner))
        log_write(LOG_WARN, "host", "HTTP: request from %s refused (%d): %s", c->peer->name, status,
                  message.p);
    httpd_send_error(
        c, &(struct httpd_error){.status = status,
                                 .code = is_host ? "host_not_allowed" : "origin_not_allowed",
                                 .message = message.p});
}

void httpd_refuse_method(struct httpd_conn *c, const char *allow)
{
    CLEANUP_BUF struct buf message = {0};
    buf_printf(&message, "The method %s is not allowed here; allowed: %s.",
               httpd_parse_method(&c->parse), allow);
    httpd_send_error(c, &(struct httpd_error){.status = 405,
                                              .code = "method_not_allowed",
                                              .message = message.p,
                                              .header = &(struct httpd_header){"Allow", allow}});
}

void httpd_refuse_path(struct httpd_conn *c)
{
    httpd_send_error(c, &httpd_error_path);
}

void httpd_refuse_drain(struct httpd_conn *c)
{
    httpd_send_error(c, &httpd_error_drain);
}

void httpd_error_write_busy(struct buf *out)
{
    CLEANUP_BUF struct buf body = {0};
    write_body(&body, &(struct httpd_error){.status = 503,
                                            .code = "too_many_connections",
                                            .message = "The server has no room for another "
                                                       "connection; try again later."});
    buf_printf(out,
               "HTTP/1.1 503 %s\r\nContent-Type: " JSON "\r\nContent-Length: %zu\r\n"
               "x-should-retry: true\r\nRetry-After: " HTTPD_RETRY_AFTER
               "\r\nConnection: close\r\n\r\n",
               httpd_reason_phrase(503), body.len);
    buf_add(out, body.p, body.len);
}
