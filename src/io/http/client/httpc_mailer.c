/* SPDX-License-Identifier: MIT
 * Assigns mail servers to workers, and owns the workers. */
#include "io/http/client/httpc_mailer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "io/http/client/httpc_mail.h"

static size_t httpc_mailer_measure_server(const char *url)
{
    const char *const host = strstr(url, "://") + 3;
    return (size_t)(host - url) + strcspn(host, "/?#");
}

static struct httpc_mailer *httpc_mailers_find(struct httpc_mailers *m, const char *url, size_t len)
{
    for (size_t i = 0; i < m->n; i++)
        if (strlen(m->all[i].server) == len && strncasecmp(m->all[i].server, url, len) == 0)
            return &m->all[i];
    return NULL;
}

/* The worker of that server; creates one while the limit permits. */
static struct worker *httpc_mailers_get(struct httpc_mailers *m, struct loop *loop, const char *url)
{
    const size_t len = httpc_mailer_measure_server(url);
    const struct httpc_mailer *const known = httpc_mailers_find(m, url, len);
    if (known)
        return known->worker;
    if (m->n == HTTPC_MAILERS_MAX)
        return m->all[hash_bytes(HASH_START, url, len) % HTTPC_MAILERS_MAX].worker;
    m->all[m->n] = (struct httpc_mailer){xstrndup(url, len), worker_new(loop)};
    return m->all[m->n++].worker;
}

static void httpc_mailer_work(void *arg)
{
    httpc_mail_perform(arg);
}

void httpc_mailers_submit(struct httpc_mailers *m, struct loop *loop, const char *url,
                          void (*done)(void *arg), struct httpc_transfer *c)
{
    worker_submit(httpc_mailers_get(m, loop, url), httpc_mailer_work, done, c);
}

void httpc_mailers_fini(struct httpc_mailers *m)
{
    for (size_t i = 0; i < m->n; i++) {
        worker_free(m->all[i].worker);
        free(m->all[i].server);
    }
    m->n = 0;
}
