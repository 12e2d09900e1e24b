/* SPDX-License-Identifier: MIT
 * One HTTP transfer (a libcurl easy handle): validates the request, sets the options, collects
 * the response. */
#ifndef IO_HTTP_CLIENT_HTTPC_TRANSFER_H
#define IO_HTTP_CLIENT_HTTPC_TRANSFER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "base/bytes/buf.h"
#include "io/http/client/download.h"
#include "io/http/client/httpc.h"
#include "io/http/client/libcurl_dl.h"
#include "io/http/client/response_headers.h"

struct httpc_transfer {
    struct httpc *owner;
    const struct libcurl *curl;
    LIST_ENTRY(httpc_transfer) next; /* link of the owner's list */
    void (*done)(void *arg, const struct httpc_reply *reply);
    bool (*piece)(void *arg, const struct httpc_reply *head, struct str bytes); /* or NULL */
    void *arg;
    const char *refused; /* static text: why it was not started, or NULL */
    CURL *easy;          /* NULL if refused */
    struct curl_slist *headers;
    unsigned flags;
    /* the request's body */
    struct buf upload;
    size_t uploaded;
    bool is_uploaded; /* everything was handed to libcurl, in this attempt or an earlier one */
    bool is_safe;     /* may be sent twice */
    /* the response */
    struct buf body;
    struct response_headers answered;
    char *save_dir; /* owned, or NULL */
    struct download file;
    bool is_saved;   /* the caller keeps the file */
    int save_failed; /* errno */
    bool is_too_big;
    size_t header_bytes;
    char retry_after[64], date[64]; /* values of headers; "" if absent */
    /* of an e-mail, see httpc_mail.h; while it is active, only the worker uses this transfer */
    bool is_mail;
    atomic_int mail_phase;
    int mail_status;      /* of the last reply; 0: none */
    bool mail_continues;  /* more lines of that reply follow */
    bool mail_is_decided; /* that reply was about the message; later ones are ignored */
    CURLcode mail_code;
    char error[CURL_ERROR_SIZE]; /* libcurl's error text */
};

/* Why the host refuses to send this (a static text), or NULL. */
const char *httpc_transfer_validate(const struct libcurl *curl,
                                    const struct httpc_request *request);
/* Whether the address is on this machine. */
bool httpc_transfer_is_loopback(const char *host);
/* Creates the handle of a validated request. */
void httpc_transfer_setup(struct httpc_transfer *c, const struct libcurl *curl,
                          const struct httpc_request *request, const struct httpc_options *options);
/* Frees the members of the call, but not the call. */
void httpc_transfer_fini(struct httpc_transfer *c, const struct libcurl *curl);

/* Limit of the response body in bytes. */
int httpc_transfer_max_body(const struct httpc_transfer *c);

/* Result of a transfer that has ended with `code`. The reply borrows from the transfer and
 * `error`. */
struct httpc_reply httpc_transfer_build_reply(struct httpc_transfer *c, const struct libcurl *curl,
                                              CURLcode code, struct buf *error);

#endif
