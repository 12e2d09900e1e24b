/* SPDX-License-Identifier: MIT
 * Passes such requests to routes, and responses to their clients. */
#include "io/http/server/httpd_local.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "io/http/server/httpd_internal.h"

struct httpd_local {
    struct httpd_local_client client;
    struct httpd_pending_request *pending; /* a handler has it; or NULL */
    struct httpd_stream *stream;           /* streaming response; or NULL */
    size_t pending_bytes;
};

static const struct httpd_header headers[] = {{"Content-Type", "application/json"},
                                              {"Accept", "text/event-stream"}};

static struct httpd_pending_request *httpd_local_new_pending(struct httpd *h, const char *path,
                                                             struct str body, const char *key)
{
    struct httpd_pending_request *const p = xcalloc(1, sizeof *p);
    p->gone.loop = h->loop;
    p->path = xstrdup(path);
    p->key = xstrdup(key);
    buf_reserve(&p->parse.body, body.len);
    buf_add(&p->parse.body, body.p, body.len);
    p->request = (struct httpd_request){
        .method = "POST",
        .path = p->path,
        .query = "",
        .headers = headers,
        .header_count = sizeof headers / sizeof *headers,
        .body = {p->parse.body.p, p->parse.body.len},
        .peer = "local",
        .key = p->key,
    };
    return p;
}

struct httpd_local *httpd_local_request(struct httpd *h, const char *path, struct str body,
                                        const char *key, const struct httpd_local_client *client)
{
    struct httpd_local *const l = xcalloc(1, sizeof *l);
    struct httpd_pending_request *const p = httpd_local_new_pending(h, path, body, key);
    const struct httpd_route *const route =
        httpd_dispatch_find_route(h, (struct str){path, strlen(path)});
    l->client = *client;
    l->pending = p;
    p->local = l;
    if (h->drain)
        httpd_answer_error(&p->request, &httpd_error_drain);
    else if (!route || !(route->methods & HTTPD_POST))
        httpd_answer_error(&p->request, &httpd_error_path);
    else
        route->fn(route->arg, &p->request);
    return l;
}

void httpd_local_answer(struct httpd_local *l, const struct httpd_answer *a)
{
    ASSERT(l->pending && !l->stream);
    l->pending = NULL;
    l->client.answered(l->client.ctx, a);
}

void httpd_local_begin_stream(struct httpd_local *l, struct httpd_stream *s)
{
    ASSERT(l->pending && !l->stream);
    l->pending = NULL;
    l->stream = s;
    s->local = l;
}

void httpd_local_write(const struct httpd_local *l, struct str bytes)
{
    if (bytes.len)
        l->client.wrote(l->client.ctx, bytes);
}

void httpd_local_end_stream(struct httpd_local *l)
{
    ASSERT(l->stream);
    l->stream = NULL;
    l->client.ended(l->client.ctx);
}

size_t httpd_local_pending_bytes(const struct httpd_local *l)
{
    return l->pending_bytes;
}

void httpd_local_set_pending_bytes(struct httpd_local *l, size_t n)
{
    l->pending_bytes = n;
    if (n == 0 && l->stream)
        httpd_once_post(&l->stream->room);
}

void httpd_local_free(struct httpd_local *l)
{
    if (!l)
        return;
    if (l->pending) {
        l->pending->local = NULL;
        l->pending->request.gone = true;
        httpd_once_post(&l->pending->gone);
    }
    if (l->stream) {
        l->stream->local = NULL;
        httpd_once_post(&l->stream->gone);
    }
    free(l);
}
