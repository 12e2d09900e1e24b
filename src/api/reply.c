/* SPDX-License-Identifier: MIT
 * Owns how errors are told, and which bodies are taken. */
#include "api/reply.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "event/jsonw.h"

void reply_json(struct httpd_request *r, int status, const struct buf *body)
{
    httpd_answer(r, status, REPLY_JSON, (struct str){body->p, body->len});
}

static const char *type_of(int status)
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

void reply_add_error(struct buf *out, int status, const char *code, const char *message)
{
    buf_add_str(out, "\"error\":{");
    jsonw_member_str(out, "message", message);
    jsonw_member_str(out, "type", type_of(status));
    jsonw_member_json(out, "param", "null");
    jsonw_member_str(out, "code", code);
    buf_add_char(out, '}');
}

/* With one more header, and more members of the body, or NULL. */
static void answer_error(struct httpd_request *r, int status, const char *code, const char *message,
                         const struct httpd_header *more, const char *members)
{
    CLEANUP_BUF struct buf body = {0};
    buf_add_char(&body, '{');
    reply_add_error(&body, status, code, message);
    if (members)
        buf_printf(&body, ",%s", members);
    buf_add_str(&body, "}\n");
    const bool passes = status == 429 || status == 503;
    struct httpd_header headers[2] = {{"x-should-retry", passes ? "true" : "false"}};
    if (more)
        headers[1] = *more;
    httpd_answer_with(r, &(struct httpd_answer){
                             .status = status,
                             .content_type = REPLY_JSON,
                             .headers = headers,
                             .header_count = more ? 2 : 1,
                             .body = {body.p, body.len},
                         });
}

void reply_error(struct httpd_request *r, int status, const char *code, const char *message)
{
    static const struct httpd_header who = {"WWW-Authenticate", "Bearer"};
    answer_error(r, status, code, message, status == 401 ? &who : NULL, NULL);
}

void reply_error_with(struct httpd_request *r, int status, const char *code, const char *message,
                      const char *members)
{
    answer_error(r, status, code, message, NULL, members);
}

void reply_wrong_method(struct httpd_request *r, const char *allow)
{
    answer_error(r, 405, "method_not_allowed", "this is asked for in another way",
                 &(struct httpd_header){"Allow", allow}, NULL);
}

/* "application/json", parameters or not: what a form of another site cannot send. */
static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    const size_t n = sizeof json - 1;
    return type && strncasecmp(type, json, n) == 0 && (!type[n] || strchr("; \t", type[n]));
}

json_t *reply_take_body(struct httpd_request *r)
{
    if (!is_json(httpd_header(r, "Content-Type"))) {
        reply_error(r, 415, "unsupported_media_type", "Content-Type has to be application/json");
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
        buf_add_str(&message, "the body is not a JSON object");
    else
        buf_printf(&message, "the body is not JSON: line %d: %s", why.line, why.text);
    reply_error(r, 400, "invalid_json", message.p);
    return NULL;
}

const char *reply_text(const json_t *body, const char *key, bool *bad)
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

char *reply_decode(const char *text, size_t len)
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
