/* SPDX-License-Identifier: MIT
 * States of the parser, one function for each. */
#include "io/http/server/httpd_parse.h"

#include <string.h>
#include <strings.h>

#include "io/http/server/httpd.h"

enum { METHOD_MAX = 16, CHUNK_DIGITS_MAX = 8, LENGTH_DIGITS_MAX = 18 };

static size_t max_body(const struct httpd_parse *p)
{
    return p->max_body ? p->max_body : HTTPD_MAX_BODY;
}

static void httpd_parse_reject(struct httpd_parse *p, int status, const char *why)
{
    p->state = HTTPD_PARSE_REFUSED;
    p->status = status;
    p->why = why;
}

static const char *httpd_parse_text_at(const struct httpd_parse *p, size_t at)
{
    return p->text.p + at;
}

/* Completes an element, and begins the next. */
static const char *httpd_parse_end_element(struct httpd_parse *p)
{
    buf_add_char(&p->text, '\0');
    const size_t begin = p->piece;
    p->piece = p->text.len;
    return httpd_parse_text_at(p, begin);
}

static bool httpd_parse_is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool httpd_parse_is_token(unsigned char c)
{
    return httpd_parse_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static int httpd_parse_hex_value(unsigned char c)
{
    if (httpd_parse_is_digit(c))
        return c - '0';
    const unsigned char lower = c | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* ---- the request line ---- */

static bool httpd_parse_is_method(const char *name)
{
    static const char *const known[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i]) == 0)
            return true;
    return false;
}

static void httpd_parse_in_method(struct httpd_parse *p, unsigned char c)
{
    if (httpd_parse_is_token(c)) {
        if (p->text.len == METHOD_MAX)
            httpd_parse_reject(p, 501, "unknown method");
        else
            buf_add_char(&p->text, (char)c);
        return;
    }
    if (c != ' ' || !p->text.len) {
        httpd_parse_reject(p, 400, "missing request line");
        return;
    }
    if (!httpd_parse_is_method(httpd_parse_end_element(p))) {
        httpd_parse_reject(p, 501, "unknown method");
        return;
    }
    p->target = p->piece;
    p->state = HTTPD_PARSE_TARGET;
}

static void httpd_parse_in_target(struct httpd_parse *p, unsigned char c)
{
    const size_t len = p->text.len - p->piece;
    if (c == ' ' && len) {
        httpd_parse_end_element(p);
        p->state = HTTPD_PARSE_VERSION;
        return;
    }
    if (!len && c != '/')
        httpd_parse_reject(p, 400, "the target is not a path");
    else if (c <= ' ' || c >= 0x7f || c == '#')
        httpd_parse_reject(p, 400, "invalid byte in the target");
    else if (len == HTTPD_MAX_TARGET)
        httpd_parse_reject(p, 414, "the target is too long");
    else
        buf_add_char(&p->text, (char)c);
}

static void httpd_parse_in_version(struct httpd_parse *p, unsigned char c)
{
    static const char wanted[] = "HTTP/1.x";
    const size_t len = p->text.len - p->piece;
    if (len == sizeof wanted - 1) {
        if (c != '\r') {
            httpd_parse_reject(p, 400, "missing end of the request line");
            return;
        }
        p->is_old = strcmp(httpd_parse_end_element(p), "HTTP/1.0") == 0;
        p->keep_alive = !p->is_old;
        p->state = HTTPD_PARSE_LINE_LF;
        return;
    }
    if (len == sizeof wanted - 2 ? c == '0' || c == '1' : c == (unsigned char)wanted[len])
        buf_add_char(&p->text, (char)c);
    else
        httpd_parse_reject(p, len >= 5 && (httpd_parse_is_digit(c) || c == '.') ? 505 : 400,
                           "not HTTP/1.0 or 1.1");
}

static void httpd_parse_expect_lf(struct httpd_parse *p, unsigned char c,
                                  enum httpd_parse_state next)
{
    if (c == '\n')
        p->state = next;
    else
        httpd_parse_reject(p, 400, "CR without LF");
}

static void httpd_parse_in_line_lf(struct httpd_parse *p, unsigned char c)
{
    httpd_parse_expect_lf(p, c, HTTPD_PARSE_FIELD);
}

/* ---- headers that determine the end of the request, and its host ---- */

static void httpd_parse_on_host(struct httpd_parse *p, const char *value)
{
    if (p->has_host)
        httpd_parse_reject(p, 400, "more than one Host header");
    else if (!*value || strpbrk(value, " \t,/@\\?#\"<>"))
        httpd_parse_reject(p, 400, "invalid Host header");
    p->has_host = true;
}

static void httpd_parse_on_content_length(struct httpd_parse *p, const char *value)
{
    const size_t digits = strspn(value, "0123456789");
    if (p->has_length)
        httpd_parse_reject(p, 400, "more than one Content-Length header");
    else if (!digits || value[digits])
        httpd_parse_reject(p, 400, "Content-Length is not a number");
    else if (digits > LENGTH_DIGITS_MAX)
        httpd_parse_reject(p, 413, "the body is too large");
    p->has_length = true;
    p->left = 0;
    for (size_t i = 0; i < digits && i < LENGTH_DIGITS_MAX; i++)
        p->left = p->left * 10 + (uint64_t)(value[i] - '0');
}

static void httpd_parse_on_transfer_encoding(struct httpd_parse *p, const char *value)
{
    if (p->is_chunked)
        httpd_parse_reject(p, 400, "more than one Transfer-Encoding header");
    else if (strcasecmp(value, "chunked") != 0)
        httpd_parse_reject(p, 501, "Transfer-Encoding is not chunked");
    p->is_chunked = true;
}

static void httpd_parse_on_connection(struct httpd_parse *p, const char *value)
{
    for (const char *word = value; *word;) {
        word += strspn(word, " \t,");
        const size_t len = strcspn(word, " \t,");
        if (len == 5 && strncasecmp(word, "close", len) == 0)
            p->keep_alive = false;
        word += len;
    }
}

static void httpd_parse_on_expect(struct httpd_parse *p, const char *value)
{
    if (strcasecmp(value, "100-continue") != 0)
        httpd_parse_reject(p, 417, "unknown value of Expect");
    p->wants_continue = true;
}

static const struct {
    const char *name;
    void (*on_value)(struct httpd_parse *p, const char *value);
} special[] = {
    {"Host", httpd_parse_on_host},
    {"Content-Length", httpd_parse_on_content_length},
    {"Transfer-Encoding", httpd_parse_on_transfer_encoding},
    {"Connection", httpd_parse_on_connection},
    {"Expect", httpd_parse_on_expect},
};

/* ---- headers ---- */

static void httpd_parse_in_field(struct httpd_parse *p, unsigned char c)
{
    if (c == '\r') {
        p->state = HTTPD_PARSE_HEAD_LF;
        return;
    }
    if (!httpd_parse_is_token(c)) {
        httpd_parse_reject(p, 400, c == ' ' || c == '\t' ? "folded header" : "missing header name");
        return;
    }
    if (p->header_count == HTTPD_PARSE_HEADERS) {
        httpd_parse_reject(p, 431, "too many headers");
        return;
    }
    p->headers[p->header_count].name = p->piece;
    buf_add_char(&p->text, (char)c);
    p->state = HTTPD_PARSE_NAME;
}

static void httpd_parse_in_name(struct httpd_parse *p, unsigned char c)
{
    if (httpd_parse_is_token(c)) {
        buf_add_char(&p->text, (char)c);
        return;
    }
    if (c != ':') {
        httpd_parse_reject(p, 400, "invalid byte in a header name");
        return;
    }
    httpd_parse_end_element(p);
    p->headers[p->header_count].value = p->piece;
    p->state = HTTPD_PARSE_VALUE;
}

static void httpd_parse_trim_end(struct httpd_parse *p)
{
    struct buf *const text = &p->text;
    while (text->len > p->piece && strchr(" \t", text->p[text->len - 1]))
        text->len--;
}

static void httpd_parse_end_header(struct httpd_parse *p)
{
    httpd_parse_trim_end(p);
    const char *const value = httpd_parse_end_element(p);
    const char *const name = httpd_parse_text_at(p, p->headers[p->header_count++].name);
    p->state = HTTPD_PARSE_VALUE_LF;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strcasecmp(name, special[i].name) == 0)
            special[i].on_value(p, value);
}

static void httpd_parse_in_value(struct httpd_parse *p, unsigned char c)
{
    if (c == '\r')
        httpd_parse_end_header(p);
    else if ((c < ' ' && c != '\t') || c == 0x7f)
        httpd_parse_reject(p, 400, "control character in a header");
    else if (p->text.len > p->piece || (c != ' ' && c != '\t'))
        buf_add_char(&p->text, (char)c);
}

static void httpd_parse_in_value_lf(struct httpd_parse *p, unsigned char c)
{
    httpd_parse_expect_lf(p, c, HTTPD_PARSE_FIELD);
}

static void httpd_parse_end_head(struct httpd_parse *p)
{
    p->wants_continue = p->wants_continue && !p->is_old;
    if (!p->has_host)
        httpd_parse_reject(p, 400, "missing Host header");
    else if (p->has_length && p->is_chunked)
        httpd_parse_reject(p, 400, "both Content-Length and Transfer-Encoding");
    else if (p->is_chunked && p->is_old)
        httpd_parse_reject(p, 400, "Transfer-Encoding in HTTP/1.0");
    else if (p->left > max_body(p))
        httpd_parse_reject(p, 413, "the body is too large");
    else if (p->is_chunked)
        p->state = HTTPD_PARSE_SIZE;
    else
        p->state = p->left ? HTTPD_PARSE_BODY : HTTPD_PARSE_READY;
}

static void httpd_parse_in_head_lf(struct httpd_parse *p, unsigned char c)
{
    httpd_parse_expect_lf(p, c, HTTPD_PARSE_READY);
    if (p->state == HTTPD_PARSE_READY)
        httpd_parse_end_head(p);
}

/* ---- chunks: without extensions and trailers ---- */

static void httpd_parse_in_size(struct httpd_parse *p, unsigned char c)
{
    const int value = httpd_parse_hex_value(c);
    if (c == '\r' && p->digits) {
        p->state = HTTPD_PARSE_SIZE_LF;
        return;
    }
    if (value < 0 || p->digits == CHUNK_DIGITS_MAX) {
        httpd_parse_reject(p, 400, "the size of a chunk is not a number");
        return;
    }
    p->left = p->left * 16 + (unsigned)value;
    p->digits++;
}

static void httpd_parse_in_size_lf(struct httpd_parse *p, unsigned char c)
{
    httpd_parse_expect_lf(p, c, p->left ? HTTPD_PARSE_CHUNK : HTTPD_PARSE_LAST_CR);
    if (p->left > max_body(p) - p->body.len)
        httpd_parse_reject(p, 413, "the body is too large");
    p->digits = 0;
}

static void httpd_parse_in_chunk_cr(struct httpd_parse *p, unsigned char c)
{
    if (c == '\r')
        p->state = HTTPD_PARSE_CHUNK_LF;
    else
        httpd_parse_reject(p, 400, "missing line end after a chunk");
}

static void httpd_parse_in_chunk_lf(struct httpd_parse *p, unsigned char c)
{
    httpd_parse_expect_lf(p, c, HTTPD_PARSE_SIZE);
}

static void httpd_parse_in_last_cr(struct httpd_parse *p, unsigned char c)
{
    if (c == '\r')
        p->state = HTTPD_PARSE_LAST_LF;
    else
        httpd_parse_reject(p, 400, "trailers are not supported");
}

static void httpd_parse_in_last_lf(struct httpd_parse *p, unsigned char c)
{
    httpd_parse_expect_lf(p, c, HTTPD_PARSE_READY);
}

/* ---- feeding ---- */

/* BODY and CHUNK process many bytes at once, and are not in this table. */
static void (*const steps[])(struct httpd_parse *p, unsigned char c) = {
    [HTTPD_PARSE_METHOD] = httpd_parse_in_method,
    [HTTPD_PARSE_TARGET] = httpd_parse_in_target,
    [HTTPD_PARSE_VERSION] = httpd_parse_in_version,
    [HTTPD_PARSE_LINE_LF] = httpd_parse_in_line_lf,
    [HTTPD_PARSE_FIELD] = httpd_parse_in_field,
    [HTTPD_PARSE_NAME] = httpd_parse_in_name,
    [HTTPD_PARSE_VALUE] = httpd_parse_in_value,
    [HTTPD_PARSE_VALUE_LF] = httpd_parse_in_value_lf,
    [HTTPD_PARSE_HEAD_LF] = httpd_parse_in_head_lf,
    [HTTPD_PARSE_SIZE] = httpd_parse_in_size,
    [HTTPD_PARSE_SIZE_LF] = httpd_parse_in_size_lf,
    [HTTPD_PARSE_CHUNK_CR] = httpd_parse_in_chunk_cr,
    [HTTPD_PARSE_CHUNK_LF] = httpd_parse_in_chunk_lf,
    [HTTPD_PARSE_LAST_CR] = httpd_parse_in_last_cr,
    [HTTPD_PARSE_LAST_LF] = httpd_parse_in_last_lf,
};

static bool httpd_parse_is_in_payload(const struct httpd_parse *p)
{
    return p->state == HTTPD_PARSE_BODY || p->state == HTTPD_PARSE_CHUNK;
}

static size_t httpd_parse_consume_payload(struct httpd_parse *p, const char *bytes, size_t n)
{
    const size_t taken = n < p->left ? n : (size_t)p->left;
    buf_add(&p->body, bytes, taken);
    p->left -= taken;
    if (!p->left)
        p->state = p->state == HTTPD_PARSE_BODY ? HTTPD_PARSE_READY : HTTPD_PARSE_CHUNK_CR;
    return taken;
}

static void httpd_parse_consume_byte(struct httpd_parse *p, unsigned char c)
{
    if (p->state < HTTPD_PARSE_BODY && p->head_bytes++ == HTTPD_MAX_HEAD)
        httpd_parse_reject(p, 431, "the head is too long");
    else
        steps[p->state](p, c);
}

size_t httpd_parse_feed(struct httpd_parse *p, const char *bytes, size_t n)
{
    size_t at = 0;
    while (at < n && p->state < HTTPD_PARSE_READY) {
        if (httpd_parse_is_in_payload(p))
            at += httpd_parse_consume_payload(p, bytes + at, n - at);
        else
            httpd_parse_consume_byte(p, (unsigned char)bytes[at++]);
    }
    return at;
}

void httpd_parse_fini(struct httpd_parse *p)
{
    buf_fini(&p->text);
    buf_fini(&p->body);
}

void httpd_parse_reset(struct httpd_parse *p)
{
    httpd_parse_fini(p);
    *p = (struct httpd_parse){.max_body = p->max_body};
}

bool httpd_parse_is_idle(const struct httpd_parse *p)
{
    return p->state == HTTPD_PARSE_METHOD && !p->text.len;
}

const char *httpd_parse_method(const struct httpd_parse *p)
{
    return httpd_parse_text_at(p, 0);
}

const char *httpd_parse_target(const struct httpd_parse *p)
{
    return httpd_parse_text_at(p, p->target);
}

const char *httpd_parse_name(const struct httpd_parse *p, size_t i)
{
    return httpd_parse_text_at(p, p->headers[i].name);
}

const char *httpd_parse_value(const struct httpd_parse *p, size_t i)
{
    return httpd_parse_text_at(p, p->headers[i].value);
}
