/* SPDX-License-Identifier: MIT
 * Writes the head of a response. Values from a handler, which may come from a plugin or a client,
 * can neither end the head nor set the length of the body. */
#include <strings.h>
#include <time.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "io/http/server/httpd_internal.h"

#define PLAIN_TEXT "text/plain; charset=utf-8"

const char *httpd_reason_phrase(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {303, "See Other"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {421, "Misdirected Request"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Status";
}

/* Date in the form of RFC 9110, independent of the locale. */
static void add_date(struct buf *out)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const time_t now = (time_t)clock_wall_s();
    struct tm t;
    gmtime_r(&now, &t);
    buf_printf(out, "Date: %.3s, %02d %.3s %d %02d:%02d:%02d GMT\r\n", days + t.tm_wday * 3,
               t.tm_mday, months + t.tm_mon * 3, t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
}

static bool httpd_response_head_is_value(const char *value)
{
    for (const char *at = value; *at; at++)
        if (((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7f)
            return false;
    return true;
}

/* Whether a name is a token, and not a header that the server sets. */
static bool httpd_response_head_is_name(const char *name)
{
    static const char *const own[] = {"Connection",        "Content-Length", "Content-Type", "Date",
                                      "Transfer-Encoding", "Upgrade",        "Trailer"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcasecmp(name, own[i]) == 0)
            return false;
    const size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789!#$%&'*+-.^_`|~");
    return len && !name[len];
}

static void add_headers(struct buf *out, const struct httpd_answer *a)
{
    bool is_cached = false;
    for (size_t i = 0; i < a->header_count; i++) {
        const struct httpd_header *const h = &a->headers[i];
        if (!httpd_response_head_is_name(h->name) || !httpd_response_head_is_value(h->value)) {
            log_write(LOG_WARN, "host",
                      "HTTP: left out header %zu of a response: invalid name or value", i + 1);
            continue;
        }
        is_cached = is_cached || strcasecmp(h->name, "Cache-Control") == 0;
        buf_printf(out, "%s: %s\r\n", h->name, h->value);
    }
    if (!is_cached)
        buf_add_str(out, "Cache-Control: no-store\r\n");
}

/* CORS: lets a browser pass the response to a page of another origin. */
static void add_origin(struct httpd_conn *c)
{
    if (!c->origin)
        return;
    buf_printf(&c->out,
               "Access-Control-Allow-Origin: %s\r\nAccess-Control-Expose-Headers: Location, "
               "Retry-After, x-request-id, x-should-retry\r\nVary: Origin\r\n",
               c->origin);
}

static void add_framing(struct httpd_conn *c, const struct httpd_answer *a, bool is_stream)
{
    const char *const type = a->content_type;
    buf_printf(&c->out, "Content-Type: %s\r\n",
               type && httpd_response_head_is_value(type) ? type : PLAIN_TEXT);
    if (!is_stream)
        buf_printf(&c->out, "Content-Length: %zu\r\n", a->body.len);
    else if (c->is_old)
        c->closes = true;
    else
        buf_add_str(&c->out, "Transfer-Encoding: chunked\r\n");
}

bool httpd_response_head_write(struct httpd_conn *c, const struct httpd_answer *a, bool is_stream)
{
    const bool is_status = a->status >= HTTPD_STATUS_BEGIN && a->status < HTTPD_STATUS_END;
    const int status = is_status ? a->status : 500;
    c->owner->answers[status - HTTPD_STATUS_BEGIN]++;
    const bool has_body = status != 204 && status != 304;
    buf_printf(&c->out, "HTTP/1.1 %d %s\r\n", status, httpd_reason_phrase(status));
    add_date(&c->out);
    if (has_body)
        add_framing(c, a, is_stream);
    if (c->closes)
        buf_add_str(&c->out, "Connection: close\r\n");
    buf_add_str(&c->out, "X-Content-Type-Options: nosniff\r\n");
    add_origin(c);
    add_headers(&c->out, a);
    buf_add_str(&c->out, "\r\n");
    return has_body && !c->is_head;
}
