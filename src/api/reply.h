/* SPDX-License-Identifier: MIT
 * The forms in which the API answers and is asked: JSON, and errors as OpenAI's clients know
 * them. */
#ifndef API_REPLY_H
#define API_REPLY_H

#include <jansson.h>

#include "base/buf.h"
#include "io/httpd.h"

#define REPLY_JSON "application/json; charset=utf-8"
#define REPLY_SSE "text/event-stream; charset=utf-8"

void reply_json(struct httpd_request *r, int status, const struct buf *body);
/* {"error":{"message","type","code"}}; `type` follows from the status. A client is asked not to
 * try again by itself, unless nothing was begun and it may pass (429, 503). */
void reply_error(struct httpd_request *r, int status, const char *code, const char *message);
/* With members of the body beside the error: "\"by\":\"ann\"". */
void reply_error_with(struct httpd_request *r, int status, const char *code, const char *message,
                      const char *members);
/* 405: what is there takes the methods that `allow` says, "GET, HEAD". */
void reply_wrong_method(struct httpd_request *r, const char *allow);
/* The error alone, as it stands in a body. */
void reply_add_error(struct buf *out, int status, const char *code, const char *message);
/* The body as a JSON object, owned; NULL: it was none, and that was answered. */
json_t *reply_take_body(struct httpd_request *r);
/* The first `len` bytes of a path's part, percent-decoded; owned. */
char *reply_decode(const char *text, size_t len);
/* A member that is a text; NULL: it is not there, or null. *bad: it is something else, or empty. */
const char *reply_text(const json_t *body, const char *key, bool *bad);

#endif
