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
/* Begins an answer of server-sent events, which proxies are asked not to buffer. `more`: other
 * headers, at most REPLY_STREAM_HEADERS. */
enum { REPLY_STREAM_HEADERS = 4 };
struct httpd_stream *api_http_stream(struct httpd_request *r, const struct httpd_header *more,
                                     size_t n);
/* Like httpd_answer_error. */
void api_http_error(struct httpd_request *r, int status, const char *code, const char *message);
/* With members of the body beside the error: "\"by\":\"ann\"". */
void api_http_error_with(struct httpd_request *r, int status, const char *code, const char *message,
                         const char *members);
/* 405: what is there takes the methods that `allow` says, "GET, HEAD". */
void api_http_send_405(struct httpd_request *r, const char *allow);
/* The body as a JSON object, owned; NULL: it was none, and that was answered. */
json_t *api_http_parse_body(struct httpd_request *r);
/* The first `len` bytes of a path's part, percent-decoded; owned. */
char *api_http_decode_segment(const char *text, size_t len);
/* The same, and what is wrong with it for people, appended to `why`: it is not a string, it is
 * empty or blank, or it has a NUL. */
const char *api_http_member(const json_t *body, const char *key, struct buf *why);
/* A member that is a text; NULL: it is not there, or null. *bad: it is something else, or empty. */
const char *api_http_get_string(const json_t *body, const char *key, bool *bad);

#endif
