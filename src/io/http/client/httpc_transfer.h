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
    LIST_ENTRY(httpc_transfer) next; /* owner's list */
    void (*done)(void *arg, const struct httpc_reply *reply);
    bool (*piece)(void *arg, const struct httpc_reply *head, struct str bytes); /* or NULL */
    void *arg;
    const char *refused; /* static; why it was not started, or NULL */
    CURL *easy;          /* NULL when refused */
    struct curl_slist *headers;
    unsigned flags;
    /* the request's body */
    struct buf upload;
    size_t uploaded;
    bool is_uploaded; /* all of it was handed to libcurl, in this try or one before */
    bool is_safe;     /* to send twice */
    /* the answer */
    struct buf body;
    struct response_headers answered;
    char *save_dir; /* owned, or NULL */
    struct download file;
    bool is_saved;   /* the file is given to the caller */
    int save_failed; /* errno */
    bool is_too_big;
    size_t header_bytes;
    char retry_after[64], date[64]; /* header values; "" when absent */
    /* of an e-mail, see httpc_mail.h; between start and result only the worker uses this transfer
     */
    bool is_mail;
    atomic_int mail_phase;
    int mail_status;      /* of the last reply; 0: none */
    bool mail_continues;  /* more lines of that reply follow */
    bool mail_is_decided; /* that was about the message; what follows is not */
    CURLcode mail_code;
    char error[CURL_ERROR_SIZE]; /* libcurl's words */
};

/* Why the host refuses to send this (a static text), or NULL. */
const char *httpc_transfer_validate(const struct libcurl *curl,
                                    const struct httpc_request *request);
/* The address is one of this machine. */
bool httpc_transfer_is_loopback(const char *host);
/* Makes the handle of a request that was checked. */
void httpc_transfer_setup(struct httpc_transfer *c, const struct libcurl *curl,
                          const struct httpc_request *request, const struct httpc_options *options);
/* Frees what the call owns, but not the call. */
void httpc_transfer_fini(struct httpc_transfer *c, const struct libcurl *curl);

/* Bytes of an answer's body at most. */
int httpc_transfer_max_body(const struct httpc_transfer *c);

/* Result of a transfer that has ended with `code`. The reply borrows from the transfer and `error`.
 */
struct httpc_reply httpc_transfer_build_reply(struct httpc_transfer *c, const struct libcurl *curl,
                                              CURLcode code, struct buf *error);

#endif
