/* SPDX-License-Identifier: MIT
 * The error object: the one form in which the HTTP server, and whoever answers over it, tells an
 * error. It is that of OpenAI's API: {"error":{"message","type","param","code"}}. Loop thread
 * only. */
#ifndef IO_HTTP_SERVER_HTTPD_ERROR_H
#define IO_HTTP_SERVER_HTTPD_ERROR_H

#include "base/bytes/buf.h"
#include "io/http/server/httpd.h"

/* Retry-After of a temporary refusal, in seconds. */
#define HTTPD_RETRY_AFTER "5"

/* A code with a message for people. Both are valid UTF-8. */
struct httpd_error {
    int status;
    const char *code, *message;
    const struct httpd_header *header; /* one more header of the answer, or NULL */
    const char *members;               /* more members of the body: "\"by\":\"ann\""; or NULL */
    int64_t retry_s; /* seconds until the same request may succeed; 0: soon, as the status says */
};

/* Answers and frees the request, as httpd_answer_full. The header x-should-retry says whether the
 * same request may succeed soon, and Retry-After (429, 503) when. */
void httpd_answer_error(struct httpd_request *r, const struct httpd_error *e);

#endif
