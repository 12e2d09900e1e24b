/* SPDX-License-Identifier: MIT
 * Request routing: checks Host, Origin and method, finds the route, calls its handler. */
#include <stdlib.h>
#include <strings.h>

#include "base/alloc.h"
#include "io/http/server/httpd_internal.h"

/* ---- permitted hosts and origins ---- */

/* Removes the port: "[::1]:8080" becomes "[::1]". */
static struct str host_name(const char *host)
{
    const size_t len = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    return (struct str){host, len <= strlen(host) ? len : strlen(host)};
}

static bool httpd_dispatch_is_name(struct str name, const char *other)
{
    return name.len == strlen(other) && strncasecmp(name.p, other, name.len) == 0;
}

static bool is_address(struct str name, const char *address)
{
    if (name.len > 2 && name.p[0] == '[')
        name = (struct str){name.p + 1, name.len - 2};
    return httpd_dispatch_is_name(name, address);
}

/* Protects against DNS rebinding: the name of a web page that resolves to this host is not
 * permitted. */
static bool is_host_named(const struct httpd *h, const char *host)
{
    static const char *const always[] = {"localhost", "127.0.0.1", "[::1]"};
    const struct str name = host_name(host);
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (httpd_dispatch_is_name(name, always[i]))
            return true;
    for (char **other = h->hosts; *other; other++)
        if (httpd_dispatch_is_name(name, *other))
            return true;
    return is_address(name, h->address);
}

static bool is_host_allowed(const struct httpd *h, const char *host)
{
    for (char **other = h->hosts; *other; other++)
        if (strcmp(*other, "*") == 0)
            return true;
    return is_host_named(h, host);
}

/* The configured spelling; NULL: not configured. */
static const char *find_origin(const struct httpd *h, const char *origin)
{
    char **other = h->origins;
    while (*other && strcasecmp(*other, origin) != 0)
        other++;
    return *other;
}

/* Whether the origin is the server's own page, under a name that certainly belongs to the
 * server. */
static bool is_origin_allowed(const struct httpd *h, const char *origin, const char *host)
{
    if (find_origin(h, origin))
        return true;
    const char *const name = strstr(origin, "://");
    return name && strcasecmp(name + 3, host) == 0 && is_host_named(h, host);
}

/* "" if it has none: the parser has refused requests that need one. */
static const char *httpd_dispatch_header_value(const struct httpd_parse *p, const char *name)
{
    for (size_t i = 0; i < p->header_count; i++)
        if (strcasecmp(httpd_parse_name(p, i), name) == 0)
            return httpd_parse_value(p, i);
    return "";
}

/* The forbidden Origin, or NULL. */
static const char *find_foreign_origin(const struct httpd *h, const struct httpd_parse *p)
{
    for (size_t i = 0; i < p->header_count; i++)
        if (strcasecmp(httpd_parse_name(p, i), "Origin") == 0 &&
            !is_origin_allowed(h, httpd_parse_value(p, i), httpd_dispatch_header_value(p, "Host")))
            return httpd_parse_value(p, i);
    return NULL;
}

/* True: the request is forbidden, and an error was sent. */
static bool httpd_dispatch_refuse_foreign_caller(struct httpd_conn *c)
{
    const struct httpd *const h = c->owner;
    /* Only the user of the socket, or the superuser, can open the path: no web page can. */
    if (h->path)
        return false;
    const char *const host = httpd_dispatch_header_value(&c->parse, "Host");
    if (!is_host_allowed(h, host)) {
        httpd_refuse_name(c, 421, host);
        return true;
    }
    const char *const origin = find_foreign_origin(h, &c->parse);
    if (origin)
        httpd_refuse_name(c, 403, origin);
    return origin;
}

/* ---- routes ---- */

static const struct {
    const char *name;
    unsigned bit;
} methods[] = {
    {"GET", HTTPD_GET},         {"HEAD", HTTPD_GET},      {"POST", HTTPD_POST},
    {"PUT", HTTPD_PUT},         {"DELETE", HTTPD_DELETE}, {"PATCH", HTTPD_PATCH},
    {"OPTIONS", HTTPD_OPTIONS},
};

static unsigned method_bit(const char *name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0)
            return methods[i].bit;
    return 0;
}

static void list_methods(struct buf *out, unsigned bits)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (bits & methods[i].bit)
            buf_printf(out, "%s%s", out->len ? ", " : "", methods[i].name);
}

static bool httpd_dispatch_route_matches(const struct httpd_route *r, struct str path)
{
    if (r->len == path.len)
        return memcmp(r->path, path.p, r->len) == 0;
    return !(r->methods & HTTPD_EXACT) && r->len && r->path[r->len - 1] == '/' &&
           str_has_prefix(path, (struct str){r->path, r->len});
}

const struct httpd_route *httpd_dispatch_find_route(const struct httpd *h, struct str path)
{
    const struct httpd_route *r = h->routes;
    while (r && !httpd_dispatch_route_matches(r, path))
        r = r->next;
    return r;
}

/* Moves the parser and its data to the request. */
static struct httpd_pending_request *new_pending(struct httpd_conn *c, size_t path_len)
{
    const size_t n = c->parse.header_count;
    struct httpd_pending_request *const p = xcalloc(1, sizeof *p + n * sizeof *p->headers);
    p->conn = c;
    p->gone.loop = c->owner->loop;
    p->parse = c->parse;
    c->parse = (struct httpd_parse){.max_body = p->parse.max_body};
    const char *const target = httpd_parse_target(&p->parse);
    for (size_t i = 0; i < n; i++)
        p->headers[i] =
            (struct httpd_header){httpd_parse_name(&p->parse, i), httpd_parse_value(&p->parse, i)};
    buf_reserve(&p->parse.body, 0); /* so that an empty body is a string, too */
    p->path = xstrndup(target, path_len);
    p->request = (struct httpd_request){
        .method = httpd_parse_method(&p->parse),
        .path = p->path,
        .query = target[path_len] ? target + path_len + 1 : "",
        .headers = p->headers,
        .header_count = n,
        .body = {p->parse.body.p, p->parse.body.len},
        .peer = c->peer->name,
    };
    return p;
}

static void set_origin(struct httpd_conn *c)
{
    const char *const origin =
        find_origin(c->owner, httpd_dispatch_header_value(&c->parse, "Origin"));
    free(c->origin);
    c->origin = xstrdup(origin);
}

/* CORS preflight: a browser asks whether a page of another origin may send a request, without an
 * API key. True: the request was a preflight, and was answered. */
static bool answer_preflight(struct httpd_conn *c, const struct httpd_route *route)
{
    const struct httpd_parse *const parse = &c->parse;
    if (!c->origin || strcmp(httpd_parse_method(parse), "OPTIONS") != 0 ||
        !*httpd_dispatch_header_value(parse, "Access-Control-Request-Method"))
        return false;
    CLEANUP_BUF struct buf allowed = {0};
    list_methods(&allowed, route->methods);
    const struct httpd_header headers[] = {
        {"Access-Control-Allow-Methods", allowed.p ? allowed.p : ""},
        {"Access-Control-Allow-Headers", "*, Authorization"},
        {"Access-Control-Max-Age", "600"},
    };
    httpd_conn_send_answer(
        c, &(struct httpd_answer){.status = 204,
                                  .headers = headers,
                                  .header_count = sizeof headers / sizeof *headers});
    return true;
}

void httpd_dispatch_request(struct httpd_conn *c)
{
    const struct httpd_parse *const parse = &c->parse;
    c->closes = !parse->keep_alive || c->owner->drain;
    c->is_head = strcmp(httpd_parse_method(parse), "HEAD") == 0;
    c->is_old = parse->is_old;
    set_origin(c);
    if (c->owner->drain) {
        httpd_refuse_drain(c);
        return;
    }
    if (httpd_dispatch_refuse_foreign_caller(c))
        return;
    const char *const target = httpd_parse_target(parse);
    const struct str path = {target, strcspn(target, "?")};
    const struct httpd_route *const route = httpd_dispatch_find_route(c->owner, path);
    if (!route) {
        httpd_refuse_path(c);
        return;
    }
    if (answer_preflight(c, route))
        return;
    if (!(route->methods & method_bit(httpd_parse_method(parse)))) {
        CLEANUP_BUF struct buf allow = {0};
        list_methods(&allow, route->methods);
        httpd_refuse_method(c, allow.p);
        return;
    }
    httpd_conn_set_phase(c, HTTPD_HANDLING,
                         route->methods & HTTPD_NO_DEADLINE ? -1 : c->owner->options.deadline_ms);
    c->late_ms = 0;
    c->pending = new_pending(c, path.len);
    route->fn(route->arg, &c->pending->request);
}

/* ---- responses ---- */

const char *httpd_find_header(const struct httpd_request *r, const char *name)
{
    for (size_t i = 0; i < r->header_count; i++)
        if (strcasecmp(r->headers[i].name, name) == 0)
            return r->headers[i].value;
    return NULL;
}

void httpd_extend_deadline(struct httpd_request *r, int64_t ms)
{
    struct httpd_conn *const c = ((struct httpd_pending_request *)r)->conn;
    if (!c)
        return;
    c->late_ms = ms;
    httpd_conn_set_phase(c, HTTPD_HANDLING, ms);
}

void httpd_set_on_gone(struct httpd_request *r, void (*fn)(void *arg), void *arg)
{
    httpd_once_set(&((struct httpd_pending_request *)r)->gone, r->gone, fn, arg);
}

void httpd_pending_free(struct httpd_pending_request *p)
{
    httpd_once_fini(&p->gone);
    httpd_parse_fini(&p->parse);
    free(p->path);
    free(p->key);
    free(p);
}

void httpd_answer_full(struct httpd_request *r, const struct httpd_answer *a)
{
    struct httpd_pending_request *const p = (struct httpd_pending_request *)r;
    struct httpd_conn *const c = p->conn;
    if (c) {
        httpd_conn_detach_request(c);
        httpd_conn_send_answer(c, a);
    } else if (p->local) {
        httpd_local_answer(p->local, a);
    }
    httpd_pending_free(p);
}

void httpd_answer(struct httpd_request *r, int status, const char *content_type, struct str body)
{
    httpd_answer_full(
        r, &(struct httpd_answer){.status = status, .content_type = content_type, .body = body});
}
