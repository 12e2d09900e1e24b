/* SPDX-License-Identifier: MIT
 * The error object: the only form of errors in responses of the HTTP server. It is the form of
 * OpenAI's API: {"error":{"message","type","param","code"}}. Loop thread only. */
#ifndef IO_HTTP_SERVER_HTTPD_ERROR_H
#define IO_HTTP_SERVER_HTTPD_ERROR_H

#include "base/bytes/buf.h"
#include "io/http/server/httpd.h"

/* Retry-After of a temporary refusal, in seconds. */
#define HTTPD_RETRY_AFTER "5"

/* A code and a message for people, both valid UTF-8. */
struct httpd_error {
    int status;
    const char *code, *message;
    const struct httpd_header *header; /* a further header, or NULL */
    const char *members;               /* further members of the body: "\"by\":\"ann\""; or NULL */
    int64_t retry_s; /* seconds after which the same request may succeed; 0: default of the
                      * status */
};

/* Answers and frees the request, like httpd_answer_full. Header x-should-retry: whether the same
 * request may succeed soon; Retry-After (429, 503): when. */
void httpd_answer_error(struct httpd_request *r, const struct httpd_error *e);

#endif
