/* SPDX-License-Identifier: MIT
 * The server: options, host names, routes. */
#include "io/http/server/httpd.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/sys/log.h"
#include "io/http/server/httpd_internal.h"

enum { DESCRIPTORS_KEPT = 256 }; /* descriptors reserved for agents, stores and other uses */

/* ---- the server ---- */

static char **httpd_copy_list(const char *const *list, size_t n)
{
    char **const copy = xcalloc(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = xstrdup(list[i]);
    return copy;
}

static void httpd_free_list(char **list)
{
    for (size_t i = 0; list[i]; i++)
        free(list[i]);
    free(list);
}

static void httpd_free_names(struct httpd *h)
{
    free(h->address);
    httpd_free_list(h->hosts);
    httpd_free_list(h->origins);
}

static void httpd_set_default(int64_t *value, int64_t other)
{
    if (!*value)
        *value = other;
}

/* Limits the number of connections to the descriptors that the process can spare, so that many
 * clients cannot keep agents from being started. */
static unsigned httpd_limit_connections(unsigned wanted)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return wanted;
    const rlim_t needed = (rlim_t)wanted + DESCRIPTORS_KEPT;
    if (limit.rlim_cur < needed) {
        limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= needed)
        return wanted;
    const rlim_t left = limit.rlim_cur > 2 * DESCRIPTORS_KEPT ? limit.rlim_cur - DESCRIPTORS_KEPT
                                                              : limit.rlim_cur / 2;
    log_write(
        LOG_WARN, "host",
        "HTTP: limited to %llu connections instead of %u by the open-file limit; raise LimitNOFILE",
        (unsigned long long)left, wanted);
    return (unsigned)left;
}

static struct httpd_options httpd_fill_defaults(struct httpd_options o)
{
    httpd_set_default(&o.deadline_ms, 10 * 1000);
    httpd_set_default(&o.arrival_ms, 20 * 1000);
    httpd_set_default(&o.idle_ms, 60 * 1000);
    o.body_bytes = o.body_bytes ? o.body_bytes : HTTPD_MAX_BODY;
    o.stream_bytes = o.stream_bytes ? o.stream_bytes : 1 << 20;
    o.max_connections = httpd_limit_connections(o.max_connections ? o.max_connections : 8192);
    return o;
}

struct httpd *httpd_new(struct loop *l, const struct httpd_options *options, struct tc_err *err)
{
    struct httpd *const h = xcalloc(1, sizeof *h);
    *h = (struct httpd){
        .loop = l,
        .options = httpd_fill_defaults(*options),
        .address = xstrdup(options->address ? options->address : "127.0.0.1"),
        .hosts = httpd_copy_list(options->hosts, options->host_count),
        .origins = httpd_copy_list(options->origins, options->origin_count),
    };
    if (httpd_listen_begin(h, err) == 0)
        return h;
    httpd_free_names(h);
    free(h);
    return NULL;
}

void httpd_set_allowed_names(struct httpd *h, const char *const *hosts, size_t host_count,
                             const char *const *origins, size_t origin_count)
{
    httpd_free_list(h->hosts);
    httpd_free_list(h->origins);
    h->hosts = httpd_copy_list(hosts, host_count);
    h->origins = httpd_copy_list(origins, origin_count);
}

void httpd_set_body_bytes(struct httpd *h, size_t bytes)
{
    h->options.body_bytes = bytes;
}

void httpd_free(struct httpd *h)
{
    if (!h)
        return;
    while (!LIST_EMPTY(&h->conns))
        httpd_conn_free(LIST_FIRST(&h->conns));
    while (h->routes)
        httpd_unroute(h, h->routes->path);
    httpd_listen_end(h);
    if (h->drain)
        loop_timer_free(h->drain);
    httpd_free_names(h);
    free(h);
}

uint16_t httpd_bound_port(const struct httpd *h)
{
    return h->port;
}

uint64_t httpd_count_answers(const struct httpd *h, int status)
{
    return h->answers[status - HTTPD_STATUS_BEGIN];
}

unsigned httpd_count_connections(const struct httpd *h)
{
    return h->conn_count;
}

/* ---- routes ---- */

void httpd_route(struct httpd *h, const char *path, unsigned methods,
                 void (*fn)(void *arg, struct httpd_request *request), void *arg)
{
    httpd_unroute(h, path);
    struct httpd_route *const r = xmalloc(sizeof *r);
    *r = (struct httpd_route){
        .path = xstrdup(path), .len = strlen(path), .methods = methods, .fn = fn, .arg = arg};
    struct httpd_route **at = &h->routes;
    while (*at && (*at)->len > r->len)
        at = &(*at)->next;
    r->next = *at;
    *at = r;
}

void httpd_unroute(struct httpd *h, const char *path)
{
    for (struct httpd_route **at = &h->routes; *at; at = &(*at)->next) {
        struct httpd_route *const r = *at;
        if (strcmp(r->path, path) != 0)
            continue;
        *at = r->next;
        free(r->path);
        free(r);
        return;
    }
}
