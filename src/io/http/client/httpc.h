/* SPDX-License-Identifier: MIT
 * The host's outbound HTTP: requests side by side on the loop, each answered exactly once with
 * what is known about it. TLS is verified, redirects, proxies and credentials of the environment
 * are not followed; a proxy is what the configuration says, and sees no URL. A URL smtp: or smtps:
 * sends an e-mail, see httpc_mail.h. Loop thread only. */
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

enum { HTTPC_MAX_BODY = 8 << 20 }; /* of an answer */

enum httpc_outcome {
    HTTPC_OK,       /* 2xx, answered whole */
    HTTPC_REJECTED, /* 3xx or 4xx, or refused by the host itself (status 0): it was not done */
    HTTPC_NOT_SENT, /* the service cannot have seen the whole request */
    /* The service may have carried it out: it was sent completely, and the answer is missing,
     * broken, too big, or a 5xx. */
    HTTPC_AMBIGUOUS,
};

enum {
    HTTPC_LOOPBACK = 1,   /* the configured base may be http:, if it is a loopback address */
    HTTPC_IDEMPOTENT = 2, /* may be sent again on a connection that proves dead; GET and HEAD are */
    HTTPC_LONG_POLL = 4,  /* silence is no fault: only the total timeout ends it */
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
    int64_t timeout_ms;       /* for all of it; 0: 30 s */
    const char *save_dir;     /* the body of a 2xx goes to a new file there; NULL: to memory */
    /* Gets the body of a 2xx piece by piece, without limit, instead of `done` as a whole; `head`
     * has status and headers. Called from inside libcurl: it must not call anything of this module.
     * False ends the transfer. NULL: the body goes to memory. */
    bool (*piece)(void *arg, const struct httpc_reply *head, struct str bytes);
    unsigned flags;
};

/* Borrowed for the callback. */
struct httpc_reply {
    enum httpc_outcome outcome;
    int status; /* 0: no answer */
    struct str body;
    const struct httpc_header *headers; /* of the last response; see response_headers.h */
    size_t header_count;
    const char *path; /* with save_dir, of a body that came whole; else NULL. The file stays */
    bool is_passing;  /* rejected, but another attempt may succeed: of a mail server, 4yz */
    int64_t retry_after_ms; /* -1: not asked for */
    int64_t date;           /* of the service, Unix seconds; 0: not said */
    const char *error;      /* one line without secrets or URL; "" when the outcome is ok */
};

struct httpc_options {
    const char *ca_file;        /* trusted instead of the system's authorities; NULL: those */
    int64_t connect_timeout_ms; /* 0: 10 s */
    int64_t stall_s;            /* less than a byte a second for so long is a fault; 0: 20 s */
    struct proxy proxy;
};

struct httpc;
struct httpc_transfer;

/* Costs nothing yet: libcurl comes with the first request. `options` may be NULL. */
struct httpc *httpc_new(struct loop *l, const struct httpc_options *options);
/* Whether libcurl is there. -1 with err. */
int httpc_check_available(struct tc_err *err) MUST_CHECK;
/* Cancels what is under way. NULL is fine. Not from a callback. */
void httpc_free(struct httpc *h);

/* Copies the request. `done` comes once, from the loop, never from inside this call. */
struct httpc_transfer *httpc_start(struct httpc *h, const struct httpc_request *request,
                                   void (*done)(void *arg, const struct httpc_reply *reply),
                                   void *arg);
/* Ends it now: calls its `done` with what is known. Not after `done`. */
void httpc_cancel(struct httpc_transfer *c);

#endif
