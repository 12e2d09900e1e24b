/* SPDX-License-Identifier: MIT
 * HTTP helpers of the API: JSON responses, OpenAI-style errors, request body and path parsing. */
#ifndef API_SHARED_API_HTTP_H
#define API_SHARED_API_HTTP_H

#include <jansson.h>

#include "base/bytes/buf.h"
#include "io/http/server/httpd.h"

#define REPLY_JSON "application/json; charset=utf-8"
#define REPLY_SSE "text/event-stream; charset=utf-8"

void api_http_send_json(struct httpd_request *r, int status, const struct buf *body);
/* Begins a response of server-sent events, with headers that stop proxies from buffering it.
 * `more`: further headers, at most REPLY_STREAM_HEADERS. */
enum { REPLY_STREAM_HEADERS = 4 };
struct httpd_stream *api_http_stream(struct httpd_request *r, const struct httpd_header *more,
                                     size_t n);
/* Like httpd_answer_error. */
void api_http_error(struct httpd_request *r, int status, const char *code, const char *message);
/* With further members of the body: "\"by\":\"ann\"". */
void api_http_error_with(struct httpd_request *r, int status, const char *code, const char *message,
                         const char *members);
/* 405; `allow` lists the methods of the path: "GET, HEAD". */
void api_http_send_405(struct httpd_request *r, const char *allow);
/* The body as a JSON object, owned; NULL: invalid, and an error was sent. */
json_t *api_http_parse_body(struct httpd_request *r);
/* The first `len` bytes of a path segment, percent-decoded; owned. */
char *api_http_decode_segment(const char *text, size_t len);
/* The same; on failure, `why` gets a reason for people: not a string, empty or blank, or contains
 * NUL. */
const char *api_http_member(const json_t *body, const char *key, struct buf *why);
/* A string member; NULL: absent or null. *bad: another type, or empty. */
const char *api_http_get_string(const json_t *body, const char *key, bool *bad);

#endif
