/* SPDX-License-Identifier: MIT
 * JSON responses and request bodies of the API. */
#include "api/shared/api_http.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "io/http/server/httpd_error.h"

void api_http_send_json(struct httpd_request *r, int status, const struct buf *body)
{
    httpd_answer(r, status, REPLY_JSON, (struct str){body->p, body->len});
}

struct httpd_stream *api_http_stream(struct httpd_request *r, const struct httpd_header *more,
                                     size_t n)
{
    struct httpd_header headers[REPLY_STREAM_HEADERS + 1] = {{"X-Accel-Buffering", "no"}};
    ASSERT(n <= REPLY_STREAM_HEADERS);
    for (size_t i = 0; i < n; i++)
        headers[i + 1] = more[i];
    return httpd_stream_begin(r, 200, REPLY_SSE, headers, n + 1);
}

void api_http_error(struct httpd_request *r, int status, const char *code, const char *message)
{
    static const struct httpd_header who = {"WWW-Authenticate", "Bearer"};
    httpd_answer_error(r, &(struct httpd_error){.status = status,
                                                .code = code,
                                                .message = message,
                                                .header = status == 401 ? &who : NULL});
}

void api_http_error_with(struct httpd_request *r, int status, const char *code, const char *message,
                         const char *members)
{
    httpd_answer_error(r,
                       &(struct httpd_error){
                           .status = status, .code = code, .message = message, .members = members});
}

void api_http_send_405(struct httpd_request *r, const char *allow)
{
    CLEANUP_BUF struct buf message = {0};
    buf_printf(&message, "The method %s is not allowed here; allowed: %s.", r->method, allow);
    httpd_answer_error(r, &(struct httpd_error){.status = 405,
                                                .code = "method_not_allowed",
                                                .message = message.p,
                                                .header = &(struct httpd_header){"Allow", allow}});
}

/* "application/json", with or without parameters: a form of another site cannot send this type. */
static bool api_http_is_json(const char *type)
{
    static const char json[] = "application/json";
    const size_t n = sizeof json - 1;
    return type && strncasecmp(type, json, n) == 0 && (!type[n] || strchr("; \t", type[n]));
}

json_t *api_http_parse_body(struct httpd_request *r)
{
    if (!api_http_is_json(httpd_find_header(r, "Content-Type"))) {
        api_http_error(r, 415, "unsupported_media_type", "Content-Type must be application/json.");
        return NULL;
    }
    json_error_t why;
    json_t *const body =
        json_loadb(r->body.p, r->body.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    if (body && json_is_object(body))
        return body;
    json_decref(body);
    CLEANUP_BUF struct buf message = {0};
    if (body)
        buf_add_str(&message, "The request body must be a JSON object.");
    else
        buf_printf(&message, "Invalid JSON in the request body: line %d: %s.", why.line, why.text);
    api_http_error(r, 400, "invalid_json", message.p);
    return NULL;
}

const char *api_http_get_string(const json_t *body, const char *key, bool *bad)
{
    const json_t *const value = json_object_get(body, key);
    if (!value || json_is_null(value))
        return NULL;
    const char *const text = json_string_value(value);
    if (text && *text && strlen(text) == json_string_length(value))
        return text;
    *bad = true;
    return NULL;
}

const char *api_http_member(const json_t *body, const char *key, struct buf *why)
{
    const json_t *const value = json_object_get(body, key);
    if (!value || json_is_null(value))
        return NULL;
    const char *const text = json_string_value(value);
    const struct str bytes = {text, json_string_length(value)};
    if (!text)
        buf_printf(why, "%s must be a string.", key);
    else if (strlen(text) != bytes.len)
        buf_printf(why, "%s contains a NUL character (\\u0000), which is not supported.", key);
    else if (str_is_blank(bytes))
        buf_printf(why, "%s is %s.", key, bytes.len ? "blank" : "empty");
    else
        return text;
    return NULL;
}

char *api_http_decode_segment(const char *text, size_t len)
{
    char *const out = xstrndup(text, len);
    char *to = out;
    for (const char *from = out; *from; from++) {
        const bool encoded =
            *from == '%' && isxdigit((unsigned char)from[1]) && isxdigit((unsigned char)from[2]);
        *to++ = encoded ? (char)strtol((const char[]){from[1], from[2], 0}, NULL, 16) : *from;
        from += encoded ? 2 : 0;
    }
    *to = 0;
    return out;
}
