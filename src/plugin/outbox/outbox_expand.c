/* SPDX-License-Identifier: MIT
 * Owns {option:NAME} and {origin:NAME} in URLs and header values. */
#include "plugin/outbox/outbox_expand.h"

#include <string.h>

#include "plugin/outbox/outbox_multipart.h"

#define OPTION "{option:"
#define ORIGIN "{origin:"
#define OPEN_LEN (sizeof OPTION - 1) /* of both */
#define MAX_OPTION ((size_t)4 << 10)
#define JSON_TYPE "application/json; charset=utf-8"

struct expand_state {
    struct arena *arena;
    const char *(*option)(void *ctx, const char *name);
    void *ctx;
    const char *wrong; /* or NULL */
};

/* "scheme://host:port" of a URL. */
static size_t origin_len(const char *url)
{
    const char *const host = strstr(url, "://");
    return host ? (size_t)(host - url) + 3 + strcspn(host + 3, "/?#") : 0;
}

static void put_option(struct expand_state *f, struct buf *out, const char *name, bool origin_only)
{
    const char *const text = f->option ? f->option(f->ctx, name) : NULL;
    if (!text)
        f->wrong = arena_sprintf(f->arena, "unknown option %s", name);
    else if (strnlen(text, MAX_OPTION + 1) > MAX_OPTION)
        f->wrong = arena_sprintf(f->arena, "option %s is too long for a request", name);
    else if (strpbrk(text, "\r\n"))
        f->wrong = arena_sprintf(f->arena, "option %s contains a line break", name);
    else
        buf_add(out, text, origin_only ? origin_len(text) : strlen(text));
}

/* The first placeholder, or NULL. */
static const char *find_open(const char *text)
{
    const char *const option = strstr(text, OPTION), *const origin = strstr(text, ORIGIN);
    return !option || (origin && origin < option) ? origin : option;
}

/* The text itself when nothing is to be put in. */
static const char *outbox_expand_fill(struct expand_state *f, const char *text)
{
    CLEANUP_BUF struct buf out = {0};
    const char *at = text, *open;
    while (!f->wrong && (open = find_open(at))) {
        const char *const name = open + OPEN_LEN;
        const char *const end = strchr(name, '}');
        if (!end) {
            f->wrong = "unterminated placeholder";
            break;
        }
        buf_add(&out, at, (size_t)(open - at));
        put_option(f, &out, arena_strndup(f->arena, name, (size_t)(end - name)),
                   strncmp(open, ORIGIN, OPEN_LEN) == 0);
        at = end + 1;
    }
    if (at == text || f->wrong)
        return text;
    buf_add_str(&out, at);
    return arena_strndup(f->arena, out.p, out.len);
}

static const struct httpc_header *fill_headers(struct expand_state *f, const struct tc_http *http)
{
    struct httpc_header *const to = arena_alloc(f->arena, (http->header_count + 1) * sizeof *to);
    for (size_t i = 0; i < http->header_count; i++)
        to[i] = (struct httpc_header){http->headers[i].name,
                                      outbox_expand_fill(f, http->headers[i].value)};
    return to;
}

/* The operator may name a server of this machine; a plugin or a service may not. */
static unsigned flags_of(const struct tc_http *http)
{
    const bool is_configured = find_open(http->url) == http->url;
    return (is_configured ? HTTPC_LOOPBACK : 0u) |
           (http->flags & TC_IDEMPOTENT ? HTTPC_IDEMPOTENT : 0u) |
           (http->flags & TC_LONG_POLL ? HTTPC_LONG_POLL : 0u);
}

static void fill_parts(struct expanded_request *f, const struct tc_http *http)
{
    char boundary[MULTIPART_BOUNDARY];
    outbox_multipart_write(&f->body, http->parts, http->part_count, boundary);
    f->http.body = (struct str){f->body.p, f->body.len};
    f->http.content_type = arena_sprintf(&f->arena, "multipart/form-data; boundary=%s", boundary);
}

const char *outbox_expand_request(struct expanded_request *f, const struct outbound_request *l,
                                  const char *save_dir,
                                  const char *(*option)(void *ctx, const char *name), void *ctx)
{
    const struct tc_http *const http = &l->http;
    *f = (struct expanded_request){.http = {.flags = 0}};
    struct expand_state filling = {.arena = &f->arena, .option = option, .ctx = ctx};
    if (http->flags & TC_SAVE && !save_dir)
        return "no directory for files";
    f->http = (struct httpc_request){
        .method = http->method,
        .url = outbox_expand_fill(&filling, http->url),
        .headers = fill_headers(&filling, http),
        .header_count = http->header_count,
        .body = {http->body, http->body_len},
        .content_type = http->content_type ? http->content_type
                        : http->body       ? JSON_TYPE
                                           : NULL,
        .timeout_ms = http->timeout_ms,
        .save_dir = http->flags & TC_SAVE ? save_dir : NULL,
        .flags = flags_of(http),
    };
    if (http->part_count)
        fill_parts(f, http);
    return filling.wrong;
}

void outbox_expand_fini(struct expanded_request *f)
{
    buf_fini(&f->body);
    arena_fini(&f->arena);
}
