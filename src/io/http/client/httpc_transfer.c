/* SPDX-License-Identifier: MIT
 * Validates requests, and sets the options of their libcurl handles. */
#include "io/http/client/httpc_transfer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "io/http/client/httpc_mail.h"

#define CONNECT_MS 10000
#define TOTAL_MS 30000
#define STALL_S 20
#define IDLE_S 60L /* older idle connections are not reused */
#define MAX_HEADER_BYTES (256u << 10)

static bool httpc_transfer_is_token(const char *s)
{
    if (!*s)
        return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("!#$%&'*+-.^_`|~", *s))
            return false;
    return true;
}

static bool httpc_transfer_is_value(const char *s)
{
    for (; *s; s++)
        if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f)
            return false;
    return true;
}

static const char *httpc_transfer_check_headers(const struct httpc_request *r)
{
    if (!httpc_transfer_is_token(r->method))
        return "invalid method";
    if (r->content_type && !httpc_transfer_is_value(r->content_type))
        return "control character in the content type";
    for (size_t i = 0; i < r->header_count; i++)
        if (!httpc_transfer_is_token(r->headers[i].name) ||
            !httpc_transfer_is_value(r->headers[i].value))
            return "invalid character in a header";
    return NULL;
}

/* libcurl itself resolves localhost only to loopback addresses. */
bool httpc_transfer_is_loopback(const char *host)
{
    unsigned a, b, c, d;
    int end = 0;
    if (strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0)
        return true;
    return sscanf(host, "%3u.%3u.%3u.%3u%n", &a, &b, &c, &d, &end) == 4 && !host[end] && a == 127 &&
           b < 256 && c < 256 && d < 256;
}

static const char *check_parts(const char *scheme, const char *host, const char *user,
                               unsigned flags)
{
    if (user)
        return "the URL must not contain a user name or password";
    if (strcmp(scheme, "https") == 0 || strncmp(scheme, "smtp", 4) == 0)
        return NULL;
    if (strcmp(scheme, "http") != 0)
        return "the URL must begin with https:";
    if (!(flags & HTTPC_LOOPBACK) || !httpc_transfer_is_loopback(host))
        return "plain http: is allowed for a configured loopback address only; use https:";
    return NULL;
}

static const char *check_url(const struct libcurl *curl, const char *text, unsigned flags)
{
    CURLU *const url = curl->url();
    char *scheme = NULL, *host = NULL, *user = NULL;
    const char *why = "invalid URL";
    if (url && curl->url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK &&
        curl->url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
        curl->url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK) {
        curl->url_get(url, CURLUPART_USER, &user, 0);
        why = check_parts(scheme, host, user, flags);
    }
    curl->free(scheme);
    curl->free(host);
    curl->free(user);
    curl->url_cleanup(url);
    return why;
}

const char *httpc_transfer_validate(const struct libcurl *curl, const struct httpc_request *request)
{
    const char *why = httpc_transfer_check_headers(request);
    why = why ? why : check_url(curl, request->url, request->flags);
    return why || !httpc_mail_is_url(request->url) ? why : httpc_mail_validate(request);
}

/* Sets FD_CLOEXEC on descriptors. */
static curl_socket_t httpc_transfer_on_open_socket(void *arg, curlsocktype purpose,
                                                   struct curl_sockaddr *a)
{
    (void)arg;
    (void)purpose;
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

static size_t httpc_transfer_on_upload(char *to, size_t size, size_t n, void *arg)
{
    struct httpc_transfer *const c = arg;
    const size_t room = size * n, left = c->upload.len - c->uploaded;
    const size_t len = left < room ? left : room;
    if (len)
        memcpy(to, c->upload.p + c->uploaded, len);
    c->uploaded += len;
    c->is_uploaded = c->is_uploaded || c->uploaded == c->upload.len;
    return len;
}

/* libcurl calls this when a reused connection broke without a response and it would repeat the
 * request. Only the caller may decide that, because the body may have arrived. */
static int httpc_transfer_on_rewind(void *arg, curl_off_t offset, int origin)
{
    struct httpc_transfer *const c = arg;
    if (!c->is_safe || offset != 0 || origin != SEEK_SET)
        return CURL_SEEKFUNC_FAIL;
    c->uploaded = 0;
    return CURL_SEEKFUNC_OK;
}

static long httpc_transfer_status(const struct httpc_transfer *c)
{
    long status = 0;
    c->curl->easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static bool httpc_transfer_has_succeeded(const struct httpc_transfer *c)
{
    const long status = httpc_transfer_status(c);
    return status >= 200 && status < 300;
}

static size_t httpc_transfer_forward_body(struct httpc_transfer *c, const char *p, size_t len)
{
    const struct httpc_reply head = {
        .outcome = HTTPC_OK,
        .status = (int)httpc_transfer_status(c),
        .body = {"", 0},
        .headers = c->answered.all,
        .header_count = c->answered.count,
        .retry_after_ms = -1,
        .error = "",
    };
    return c->piece(c->arg, &head, (struct str){p, len}) ? len : 0;
}

static size_t httpc_transfer_save_to_file(struct httpc_transfer *c, const char *p, size_t len)
{
    if (len > DOWNLOAD_MAX_BYTES - c->file.len) {
        c->is_too_big = true;
        return 0;
    }
    if ((c->file.path || download_open(&c->file, c->save_dir) == 0) &&
        download_write(&c->file, p, len) == 0)
        return len;
    c->save_failed = errno;
    return 0;
}

static size_t httpc_transfer_on_body(char *p, size_t size, size_t n, void *arg)
{
    struct httpc_transfer *const c = arg;
    const size_t len = size * n;
    if (c->piece && httpc_transfer_has_succeeded(c))
        return httpc_transfer_forward_body(c, p, len);
    if (c->save_dir && httpc_transfer_has_succeeded(c))
        return httpc_transfer_save_to_file(c, p, len);
    if (len > HTTPC_MAX_BODY - c->body.len) {
        c->is_too_big = true;
        return 0;
    }
    buf_add(&c->body, p, len);
    return len;
}

/* Stores the header's value if the line has that name and the value fits. */
static void httpc_transfer_copy_header(struct str line, struct str name, char *to, size_t room)
{
    if (line.len <= name.len || strncasecmp(line.p, name.p, name.len) != 0 ||
        line.p[name.len] != ':')
        return;
    size_t from = name.len + 1, end = line.len;
    while (from < end && isspace((unsigned char)line.p[from]))
        from++;
    while (end > from && isspace((unsigned char)line.p[end - 1]))
        end--;
    if (end - from >= room)
        return;
    memcpy(to, line.p + from, end - from);
    to[end - from] = '\0';
}

static size_t httpc_transfer_on_header(char *p, size_t size, size_t n, void *arg)
{
    struct httpc_transfer *const c = arg;
    const struct str line = {p, size * n};
    c->header_bytes += line.len;
    if (c->header_bytes > MAX_HEADER_BYTES) {
        c->is_too_big = true;
        return 0;
    }
    if (str_has_prefix(line, STR("HTTP/"))) {
        c->retry_after[0] = c->date[0] = '\0'; /* the previous response was 1xx */
        response_headers_clear(&c->answered);
        return line.len;
    }
    response_headers_add(&c->answered, line);
    httpc_transfer_copy_header(line, STR("retry-after"), c->retry_after, sizeof c->retry_after);
    httpc_transfer_copy_header(line, STR("date"), c->date, sizeof c->date);
    return line.len;
}

static void add_header(struct httpc_transfer *c, const struct libcurl *curl, const char *name,
                       const char *value)
{
    CLEANUP_BUF struct buf line = {0};
    /* libcurl's form of a header without a value is "Name;". */
    buf_printf(&line, *value ? "%s: %s" : "%s;", name, value);
    c->headers = curl->slist_append(c->headers, line.p);
}

static void set_headers(struct httpc_transfer *c, const struct libcurl *curl,
                        const struct httpc_request *r)
{
    c->headers = curl->slist_append(NULL, "Expect:"); /* never wait for 100 Continue */
    if (r->content_type)
        add_header(c, curl, "Content-Type", r->content_type);
    else
        c->headers = curl->slist_append(c->headers, "Content-Type:");
    for (size_t i = 0; i < r->header_count; i++)
        add_header(c, curl, r->headers[i].name, r->headers[i].value);
    curl->easy_setopt(c->easy, CURLOPT_HTTPHEADER, c->headers);
}

static void set_body(struct httpc_transfer *c, const struct libcurl *curl,
                     const struct httpc_request *r)
{
    const bool is_get = strcmp(r->method, "GET") == 0, is_head = strcmp(r->method, "HEAD") == 0;
    c->is_safe = is_get || is_head || (r->flags & HTTPC_IDEMPOTENT);
    if (is_head)
        curl->easy_setopt(c->easy, CURLOPT_NOBODY, 1L);
    if (r->body.p || strcmp(r->method, "POST") == 0) {
        buf_add(&c->upload, r->body.p ? r->body.p : "", r->body.len);
        curl->easy_setopt(c->easy, CURLOPT_POST, 1L);
        curl->easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len);
        curl->easy_setopt(c->easy, CURLOPT_READFUNCTION, httpc_transfer_on_upload);
        curl->easy_setopt(c->easy, CURLOPT_READDATA, c);
        curl->easy_setopt(c->easy, CURLOPT_SEEKFUNCTION, httpc_transfer_on_rewind);
        curl->easy_setopt(c->easy, CURLOPT_SEEKDATA, c);
    }
    if (!is_get && !is_head)
        curl->easy_setopt(c->easy, CURLOPT_CUSTOMREQUEST, r->method);
    /* Without a body, libcurl would not call httpc_transfer_on_rewind; and on a new connection it
     * does not retry. */
    if (!c->is_safe && !c->upload.len)
        curl->easy_setopt(c->easy, CURLOPT_FRESH_CONNECT, 1L);
}

int httpc_transfer_max_body(const struct httpc_transfer *c)
{
    return c->save_dir ? DOWNLOAD_MAX_BYTES : HTTPC_MAX_BODY;
}

static void httpc_transfer_set_limits(const struct httpc_transfer *c, const struct libcurl *curl,
                                      const struct httpc_request *r, const struct httpc_options *o)
{
    const long connect_ms = (long)(o->connect_timeout_ms ? o->connect_timeout_ms : CONNECT_MS);
    curl->easy_setopt(c->easy, CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
    curl->easy_setopt(c->easy, CURLOPT_TIMEOUT_MS,
                      (long)(r->timeout_ms ? r->timeout_ms : TOTAL_MS));
    if (!c->piece)
        curl->easy_setopt(c->easy, CURLOPT_MAXFILESIZE_LARGE,
                          (curl_off_t)httpc_transfer_max_body(c));
    curl->easy_setopt(c->easy, CURLOPT_MAXAGE_CONN, IDLE_S);
    curl->easy_setopt(c->easy, CURLOPT_TCP_KEEPALIVE, 1L);
    if (r->flags & HTTPC_LONG_POLL)
        return;
    curl->easy_setopt(c->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl->easy_setopt(c->easy, CURLOPT_LOW_SPEED_TIME, (long)(o->stall_s ? o->stall_s : STALL_S));
}

/* libcurl percent-decodes the credentials of a proxy, as in a URL. */
static void httpc_transfer_add_escaped(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        buf_printf(out, "%%%02X", (unsigned)(unsigned char)text[i]);
}

/* libcurl copies these strings. The proxy gets host and port with CONNECT, but never a URL, which
 * may contain a token. */
static void set_proxy(const struct httpc_transfer *c, const struct libcurl *curl,
                      const struct httpc_options *o)
{
    const struct proxy *const p = &o->proxy;
    curl->easy_setopt(c->easy, CURLOPT_PROXY, p->url ? p->url : ""); /* ignores the environment's */
    if (!p->url)
        return;
    curl->easy_setopt(c->easy, CURLOPT_NOPROXY, p->no_proxy ? p->no_proxy : "");
    curl->easy_setopt(c->easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
    curl->easy_setopt(c->easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    if (o->ca_file)
        curl->easy_setopt(c->easy, CURLOPT_PROXY_CAINFO, o->ca_file);
    const char *const colon = p->credentials ? strchr(p->credentials, ':') : NULL;
    if (!colon)
        return;
    CLEANUP_BUF struct buf user = {0}, password = {0};
    httpc_transfer_add_escaped(&user, p->credentials, (size_t)(colon - p->credentials));
    httpc_transfer_add_escaped(&password, colon + 1, strlen(colon + 1));
    curl->easy_setopt(c->easy, CURLOPT_PROXYUSERNAME, user.p ? user.p : "");
    curl->easy_setopt(c->easy, CURLOPT_PROXYPASSWORD, password.p ? password.p : "");
}

static void set_safety(const struct httpc_transfer *c, const struct libcurl *curl,
                       const struct httpc_request *r, const struct httpc_options *o)
{
    curl->easy_setopt(c->easy, CURLOPT_PROTOCOLS_STR,
                      r->flags & HTTPC_LOOPBACK ? "https,http" : "https");
    curl->easy_setopt(c->easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl->easy_setopt(c->easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    set_proxy(c, curl, o);
    curl->easy_setopt(c->easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl->easy_setopt(c->easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl->easy_setopt(c->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (o->ca_file)
        curl->easy_setopt(c->easy, CURLOPT_CAINFO, o->ca_file);
    if (o->cert_file) {
        curl->easy_setopt(c->easy, CURLOPT_SSLCERT, o->cert_file);
        curl->easy_setopt(c->easy, CURLOPT_SSLKEY, o->key_file);
    }
    /* Uses one connection per request, so that the state of the connection shows the fate of the
     * request. */
    curl->easy_setopt(c->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl->easy_setopt(c->easy, CURLOPT_NOSIGNAL, 1L);
    curl->easy_setopt(c->easy, CURLOPT_OPENSOCKETFUNCTION, httpc_transfer_on_open_socket);
}

void httpc_transfer_setup(struct httpc_transfer *c, const struct libcurl *curl,
                          const struct httpc_request *request, const struct httpc_options *options)
{
    c->easy = curl->easy_init();
    c->curl = curl;
    c->save_dir = xstrdup(request->save_dir);
    c->piece = request->piece;
    curl->easy_setopt(c->easy, CURLOPT_URL, request->url);
    curl->easy_setopt(c->easy, CURLOPT_PRIVATE, c);
    curl->easy_setopt(c->easy, CURLOPT_USERAGENT, "turncast");
    curl->easy_setopt(c->easy, CURLOPT_ERRORBUFFER, c->error);
    curl->easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, httpc_transfer_on_body);
    curl->easy_setopt(c->easy, CURLOPT_WRITEDATA, c);
    curl->easy_setopt(c->easy, CURLOPT_HEADERFUNCTION, httpc_transfer_on_header);
    curl->easy_setopt(c->easy, CURLOPT_HEADERDATA, c);
    set_safety(c, curl, request, options);
    httpc_transfer_set_limits(c, curl, request, options);
    c->is_mail = httpc_mail_is_url(request->url);
    if (c->is_mail) {
        httpc_mail_setup(c, curl, request);
        return;
    }
    set_body(c, curl, request);
    set_headers(c, curl, request);
}

void httpc_transfer_fini(struct httpc_transfer *c, const struct libcurl *curl)
{
    if (c->easy)
        curl->easy_cleanup(c->easy);
    if (c->headers)
        curl->slist_free_all(c->headers);
    buf_fini(&c->upload);
    buf_fini(&c->body);
    response_headers_fini(&c->answered);
    download_finish(&c->file, c->is_saved);
    free(c->save_dir);
}
