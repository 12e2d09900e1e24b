/* SPDX-License-Identifier: MIT
 * The host's outbound HTTP: requests side by side on the loop, each completed exactly once with its
 * known result. TLS is verified; redirects are not followed; proxies and credentials of the
 * environment are ignored. A proxy comes from the configuration, and sees no URL. A URL smtp: or
 * smtps: sends an e-mail, see httpc_mail.h. Loop thread only. */
#ifndef IO_HTTP_CLIENT_HTTPC_H
#define IO_HTTP_CLIENT_HTTPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"
#include "base/sys/err.h"
#include "io/http/proxy.h"
#include "io/loop/loop.h"

enum { HTTPC_MAX_BODY = 8 << 20 }; /* limit of a response body */

enum httpc_outcome {
    HTTPC_OK,       /* 2xx with a complete body */
    HTTPC_REJECTED, /* 3xx or 4xx, or refused by the host itself (status 0): not executed */
    HTTPC_NOT_SENT, /* the service cannot have received the whole request */
    /* The service may have executed it: the request was sent completely, and the response is
     * missing, broken, too large, or a 5xx. */
    HTTPC_AMBIGUOUS,
};

enum {
    HTTPC_LOOPBACK = 1,   /* http: is permitted for a loopback address in the configuration */
    HTTPC_IDEMPOTENT = 2, /* may be sent again if a reused connection turns out to be closed;
                           * implied for GET and HEAD */
    HTTPC_LONG_POLL = 4,  /* silence is allowed: only the total timeout ends it */
};

struct httpc_header {
    const char *name, *value;
};

struct httpc_reply;

struct httpc_request {
    const char *method, *url;
    const struct httpc_header *headers;
    size_t header_count;
    struct str body;          /* p NULL: none */
    const char *content_type; /* or NULL */
    int64_t timeout_ms;       /* total timeout; 0: 30 s */
    const char *save_dir;     /* directory for a new file with the body of a 2xx; NULL: in memory */
    /* Receives the body of a 2xx in pieces, without a limit, instead of a complete body in `done`;
     * `head` has status and headers. Called from within libcurl: must not call functions of this
     * module. False aborts the transfer. NULL: the body is stored in memory. */
    bool (*piece)(void *arg, const struct httpc_reply *head, struct str bytes);
    unsigned flags;
};

/* Borrowed for the callback. */
struct httpc_reply {
    enum httpc_outcome outcome;
    int status; /* 0: no response */
    struct str body;
    const struct httpc_header *headers; /* of the last response; see response_headers.h */
    size_t header_count;
    const char *path; /* with save_dir, path of a complete body; otherwise NULL. The file is kept */
    bool is_untrusted;      /* not sent, because the certificate of the service was not accepted */
    bool is_passing;        /* rejected, but another attempt may succeed: 4yz of a mail server */
    int64_t retry_after_ms; /* -1: absent */
    int64_t date;           /* time of the service, Unix seconds; 0: absent */
    const char *error;      /* one line without secrets or URL; "" if the outcome is ok */
};

struct httpc_options {
    const char *ca_file; /* CA certificates instead of the system's; NULL: the system's */
    const char *cert_file, *key_file; /* own certificate and its key, for services that demand one;
                                       * or both NULL */
    int64_t connect_timeout_ms;       /* 0: 10 s */
    int64_t stall_s; /* fails if less than a byte per second arrives for this time; 0: 20
                      * s */
    struct proxy proxy;
};

struct httpc;
struct httpc_transfer;

/* Loads libcurl only at the first request. `options` may be NULL. */
struct httpc *httpc_new(struct loop *l, const struct httpc_options *options);
/* Whether libcurl is available. -1 with err. */
int httpc_check_available(struct tc_err *err) MUST_CHECK;
/* Cancels active requests. NULL is allowed. Must not be called from a callback. */
void httpc_free(struct httpc *h);

/* Copies the request. `done` is called once, from the loop, never from within this call. */
struct httpc_transfer *httpc_start(struct httpc *h, const struct httpc_request *request,
                                   void (*done)(void *arg, const struct httpc_reply *reply),
                                   void *arg);
/* Ends the request now: calls `done` with the known result. Must not be called after `done`. */
void httpc_cancel(struct httpc_transfer *c);

#endif
