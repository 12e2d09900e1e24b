/* SPDX-License-Identifier: MIT
 * Threads that send e-mails: a worker per mail server, so that a slow server delays only its own
 * e-mails. libcurl blocks while it waits for a server. Loop thread only. */
#ifndef IO_HTTP_CLIENT_HTTPC_MAILER_H
#define IO_HTTP_CLIENT_HTTPC_MAILER_H

#include "io/http/client/httpc_transfer.h"
#include "io/loop/worker.h"

#define HTTPC_MAILERS_MAX ((size_t)8) /* further mail servers share these workers */

struct httpc_mailers {
    struct httpc_mailer {
        char *server; /* "smtp://HOST:PORT", as in the URL */
        struct worker *worker;
    } all[HTTPC_MAILERS_MAX];
    size_t n;
};

/* Runs httpc_mail_perform(c) on the worker of the URL's server, after earlier e-mails to that
 * server; then done(c) on the loop's thread. */
void httpc_mailers_submit(struct httpc_mailers *m, struct loop *loop, const char *url,
                          void (*done)(void *arg), struct httpc_transfer *c);
/* Waits until all workers have ended. */
void httpc_mailers_fini(struct httpc_mailers *m);

#endif
