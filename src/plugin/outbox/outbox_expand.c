/* SPDX-License-Identifier: MIT
 * Replaces {option:NAME}, {origin:NAME}, {base64:NAME} and {secret:NAME} in URLs, header values
 * and, with TC_FILL_BODY, bodies. */
#include "plugin/outbox/outbox_expand.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include <nettle/base64.h>

#include "event/json/json_writer.h"
#include "plugin/outbox/outbox_mail.h"
#include "plugin/outbox/outbox_multipart.h"

#define OPTION "{option:"
#define ORIGIN "{origin:"
#define SECRET "{secret:"
#define BASE64 "{base64:"
#define OPEN_LEN (sizeof OPTION - 1) /* limit of the whole text */
#define MAX_OPTION ((size_t)4 << 10)
#define JSON_TYPE "application/json; charset=utf-8"

enum expand_escape { ESCAPE_NOTHING, ESCAPE_JSON, ESCAPE_FORM };

struct expand_state {
    struct arena *arena;
    const struct expand_source *source;
    enum expand_escape escape;
    bool is_header;
    bool is_unset;     /* for a header that names an option without a value */
    const char *wrong; /* or NULL */
};

/* ---- placeholders ---- */

static bool outbox_expand_is_kind(const char *open, const char *kind)
{
    return strncmp(open, kind, OPEN_LEN) == 0;
}

/* The first placeholder, or NULL. */
static const char *find_open(const char *text)
{
    for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{'))
        if (outbox_expand_is_kind(at, OPTION) || outbox_expand_is_kind(at, ORIGIN) ||
            outbox_expand_is_kind(at, SECRET) || outbox_expand_is_kind(at, BASE64))
            return at;
    return NULL;
}

/* "scheme://host:port" of a URL. */
static size_t outbox_expand_origin_len(const char *url)
{
    const char *const host = strstr(url, "://");
    return host ? (size_t)(host - url) + 3 + strcspn(host + 3, "/?#") : 0;
}

static void add_form_text(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (isalnum((unsigned char)text.p[i]) || strchr("-._~", text.p[i]))
            buf_add_char(out, text.p[i]);
        else
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)text.p[i]);
}

static void add_json_text(struct buf *out, struct str text)
{
    CLEANUP_BUF struct buf quoted = {0};
    jsonw_string(&quoted, text.p, text.len);
    buf_add(out, quoted.p + 1, quoted.len - 2);
}

static void add_escaped(const struct expand_state *f, struct buf *out, struct str text)
{
    if (f->escape == ESCAPE_FORM)
        add_form_text(out, text);
    else if (f->escape == ESCAPE_JSON)
        add_json_text(out, text);
    else
        buf_add(out, text.p, text.len);
}

/* NULL: the option has no usable value. */
static const char *outbox_expand_find_option(struct expand_state *f, const char *name)
{
    const struct expand_source *const s = f->source;
    const char *const text = s->option ? s->option(s->ctx, name) : NULL;
    if (!text)
        f->wrong = arena_sprintf(f->arena, "unknown option %s", name);
    else if (!*text && f->is_header)
        f->is_unset = true;
    else if (!*text)
        f->wrong = arena_sprintf(f->arena, "option %s is not set", name);
    else if (strnlen(text, MAX_OPTION + 1) > MAX_OPTION)
        f->wrong = arena_sprintf(f->arena, "option %s is too long for a request", name);
    else if (strpbrk(text, "\r\n"))
        f->wrong = arena_sprintf(f->arena, "option %s contains a line break", name);
    return f->wrong || f->is_unset ? NULL : text;
}

static void put_option(struct expand_state *f, struct buf *out, const char *name, bool origin_only)
{
    const char *const text = outbox_expand_find_option(f, name);
    if (text)
        add_escaped(
            f, out,
            (struct str){text, origin_only ? outbox_expand_origin_len(text) : strlen(text)});
}

/* names: one option, or two separated by a colon, as in HTTP basic authentication. */
static void put_base64(struct expand_state *f, struct buf *out, const char *names)
{
    const char *const colon = strchr(names, ':');
    const char *const first =
        outbox_expand_find_option(f, arena_strndup(f->arena, names, strcspn(names, ":")));
    const char *const second = first && colon ? outbox_expand_find_option(f, colon + 1) : NULL;
    if (!first || (colon && !second))
        return;
    const char *const plain = colon ? arena_sprintf(f->arena, "%s:%s", first, second) : first;
    char *const coded = arena_alloc(f->arena, BASE64_ENCODE_RAW_LENGTH(strlen(plain)) + 1);
    base64_encode_raw(coded, strlen(plain), (const uint8_t *)plain);
    add_escaped(f, out, (struct str){coded, BASE64_ENCODE_RAW_LENGTH(strlen(plain))});
}

static void put_secret(struct expand_state *f, struct buf *out, const char *name)
{
    const struct runtime_secrets *const all = f->source->secrets;
    const char *const text = all ? runtime_secrets_find(all, name) : NULL;
    if (text)
        add_escaped(f, out, (struct str){text, strlen(text)});
    else
        f->wrong = arena_sprintf(f->arena, "the secret %s is not set", name);
}

static void put_placeholder(struct expand_state *f, struct buf *out, const char *open,
                            const char *name)
{
    if (outbox_expand_is_kind(open, SECRET))
        put_secret(f, out, name);
    else if (outbox_expand_is_kind(open, BASE64))
        put_base64(f, out, name);
    else
        put_option(f, out, name, outbox_expand_is_kind(open, ORIGIN));
}

/* Removes the slashes at the end of a base URL, because the text that follows begins with one. */
static void outbox_expand_trim_slashes(struct buf *out)
{
    while (out->len > 0 && out->p[out->len - 1] == '/' && strstr(out->p, "://"))
        out->p[--out->len] = '\0';
}

/* Returns the text itself if it has no placeholders. */
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
        put_placeholder(f, &out, open, arena_strndup(f->arena, name, (size_t)(end - name)));
        at = end + 1;
        if (open == text && *at == '/')
            outbox_expand_trim_slashes(&out);
    }
    if (at == text || f->wrong)
        return text;
    buf_add_str(&out, at);
    return arena_strndup(f->arena, out.p, out.len);
}

const char *outbox_expand_text(struct arena *a, const struct expand_source *source,
                               const char *text, const char **wrong)
{
    struct expand_state f = {.arena = a, .source = source};
    const char *const filled = outbox_expand_fill(&f, text);
    *wrong = f.wrong;
    return filled;
}

const char *outbox_expand_header(struct arena *a, const struct expand_source *source,
                                 const char *value, const char **wrong)
{
    struct expand_state f = {.arena = a, .source = source, .is_header = true};
    const char *const filled = outbox_expand_fill(&f, value);
    *wrong = f.wrong;
    return f.is_unset ? NULL : filled;
}

/* ---- missing secrets ---- */

static const char *find_missing(const char *text, const struct runtime_secrets *secrets,
                                size_t *len)
{
    char name[128];
    for (const char *at = text; (at = strstr(at, SECRET));) {
        at += OPEN_LEN;
        *len = strcspn(at, "}");
        const size_t n = *len < sizeof name - 1 ? *len : sizeof name - 1;
        memcpy(name, at, n);
        name[n] = '\0';
        if (at[*len] && !runtime_secrets_find(secrets, name))
            return at;
    }
    return NULL;
}

static bool outbox_expand_is_filled_part(const struct tc_http *http, const struct tc_part *p)
{
    return http->flags & TC_FILL_BODY && p->name && !p->file_name;
}

/* Bodies and data of parts have a NUL added by the host. */
const char *outbox_expand_find_missing(const struct tc_http *http,
                                       const struct runtime_secrets *secrets, size_t *len)
{
    const char *found = find_missing(http->url, secrets, len);
    for (size_t i = 0; i < http->header_count && !found; i++)
        found = find_missing(http->headers[i].value, secrets, len);
    for (size_t i = 0; i < http->part_count && !found; i++)
        if (outbox_expand_is_filled_part(http, &http->parts[i]))
            found = find_missing(http->parts[i].data, secrets, len);
    if (!found && http->body && http->flags & TC_FILL_BODY)
        found = find_missing(http->body, secrets, len);
    return found;
}

/* ---- requests ---- */

/* Omits a header that names an option without a value. */
static const struct httpc_header *fill_headers(struct expand_state *f, const struct tc_http *http,
                                               size_t *count)
{
    struct httpc_header *const to = arena_alloc(f->arena, (http->header_count + 1) * sizeof *to);
    *count = 0;
    for (size_t i = 0; i < http->header_count && !f->wrong; i++) {
        const char *const value =
            outbox_expand_header(f->arena, f->source, http->headers[i].value, &f->wrong);
        if (value)
            to[(*count)++] = (struct httpc_header){http->headers[i].name, value};
    }
    return to;
}

/* Only the operator may name a server on this machine, not a plugin or a service. */
static unsigned outbox_expand_httpc_flags(const struct tc_http *http)
{
    const bool is_configured =
        outbox_expand_is_kind(http->url, OPTION) || outbox_expand_is_kind(http->url, ORIGIN);
    return (is_configured ? HTTPC_LOOPBACK : 0u) |
           (http->flags & TC_IDEMPOTENT ? HTTPC_IDEMPOTENT : 0u) |
           (http->flags & TC_LONG_POLL ? HTTPC_LONG_POLL : 0u);
}

static struct str fill_data(struct expand_state *f, struct str data)
{
    if (memchr(data.p, '\0', data.len)) {
        f->wrong = "a body with placeholders has a NUL byte";
        return data;
    }
    const char *const text = outbox_expand_fill(f, data.p);
    return (struct str){text, text == data.p ? data.len : strlen(text)};
}

static void fill_parts(struct expanded_request *f, struct expand_state *filling,
                       const struct tc_http *http)
{
    struct tc_part *const parts = arena_alloc(&f->arena, http->part_count * sizeof *parts);
    for (size_t i = 0; i < http->part_count; i++) {
        parts[i] = http->parts[i];
        if (!outbox_expand_is_filled_part(http, &parts[i]))
            continue;
        const struct str data = fill_data(filling, (struct str){parts[i].data, parts[i].len});
        parts[i].data = data.p;
        parts[i].len = data.len;
    }
    if (strncasecmp(f->http.url, "smtp", 4) == 0) {
        const char *const why = outbox_mail_write(&f->body, parts, http->part_count,
                                                  f->http.headers, f->http.header_count);
        filling->wrong = filling->wrong ? filling->wrong : why;
    } else {
        char boundary[MULTIPART_BOUNDARY];
        outbox_multipart_write(&f->body, parts, http->part_count, boundary);
        f->http.content_type =
            arena_sprintf(&f->arena, "multipart/form-data; boundary=%s", boundary);
    }
    f->http.body = (struct str){f->body.p, f->body.len};
}

static void fill_body(struct expanded_request *f, struct expand_state *filling,
                      const struct tc_http *http)
{
    const char *const type = f->http.content_type;
    if (!http->body || !(http->flags & TC_FILL_BODY))
        return;
    filling->escape = strstr(type, "json")                    ? ESCAPE_JSON
                      : strstr(type, "x-www-form-urlencoded") ? ESCAPE_FORM
                                                              : ESCAPE_NOTHING;
    f->http.body = fill_data(filling, f->http.body);
}

const char *outbox_expand_request(struct expanded_request *f, const struct outbound_request *l,
                                  const char *save_dir, const struct expand_source *source)
{
    const struct tc_http *const http = &l->http;
    *f = (struct expanded_request){.http = {.flags = 0}};
    struct expand_state filling = {.arena = &f->arena, .source = source};
    if (http->flags & TC_SAVE && !save_dir)
        return "no directory for files";
    size_t header_count;
    const struct httpc_header *const headers = fill_headers(&filling, http, &header_count);
    f->http = (struct httpc_request){
        .method = http->method,
        .url = outbox_expand_fill(&filling, http->url),
        .headers = headers,
        .header_count = header_count,
        .body = {http->body, http->body_len},
        .content_type = http->content_type ? http->content_type
                        : http->body       ? JSON_TYPE
                                           : NULL,
        .timeout_ms = http->timeout_ms,
        .save_dir = http->flags & TC_SAVE ? save_dir : NULL,
        .flags = outbox_expand_httpc_flags(http),
    };
    if (outbound_parts_are_sent(http))
        fill_parts(f, &filling, http);
    else
        fill_body(f, &filling, http);
    return filling.wrong;
}

void outbox_expand_fini(struct expanded_request *f)
{
    buf_fini(&f->body);
    arena_fini(&f->arena);
}
