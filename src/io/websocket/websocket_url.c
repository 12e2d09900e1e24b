/* SPDX-License-Identifier: MIT
 * Parses the URL of a websocket. */
#include "io/websocket/websocket_url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

static bool websocket_url_is_printable(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text >= 0x7f)
            return false;
    return true;
}

static bool websocket_url_is_loopback(const char *host)
{
    unsigned a, b, c, d;
    int end = 0;
    if (strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0)
        return true;
    return sscanf(host, "%3u.%3u.%3u.%3u%n", &a, &b, &c, &d, &end) == 4 && !host[end] && a == 127 &&
           b < 256 && c < 256 && d < 256;
}

/* Accepts "" or ":" and a number. */
static bool read_port(struct websocket_url *u, const char *text, size_t len)
{
    u->port = u->is_tls ? 443 : 80;
    if (!len)
        return true;
    const size_t digits = strspn(text + 1, "0123456789");
    if (*text != ':' || !digits || digits > 5 || digits + 1 != len)
        return false;
    u->port = (int)strtol(text + 1, NULL, 10);
    return u->port > 0 && u->port < 65536;
}

static bool read_authority(struct websocket_url *u, struct str text)
{
    const bool has_brackets = text.len && text.p[0] == '[';
    const char *const host = text.p + has_brackets;
    const size_t len = strcspn(host, has_brackets ? "]/?" : ":/?");
    const char *const rest = host + len + has_brackets;
    if (!len || len >= sizeof u->host || (has_brackets && host[len] != ']') ||
        rest > text.p + text.len || memchr(text.p, '@', text.len) || memchr(text.p, '\\', text.len))
        return false;
    if (!read_port(u, rest, (size_t)(text.p + text.len - rest)))
        return false;
    snprintf(u->host, sizeof u->host, "%.*s", (int)len, host);
    snprintf(u->authority, sizeof u->authority, "%.*s", (int)text.len, text.p);
    return true;
}

int websocket_url_parse(struct websocket_url *u, const char *text, struct tc_err *err)
{
    *u = (struct websocket_url){.is_tls = strncasecmp(text, "wss://", 6) == 0};
    if (!u->is_tls && strncasecmp(text, "ws://", 5) != 0)
        return err_set(err, NULL, "the URL must begin with wss:");
    if (!websocket_url_is_printable(text) || strchr(text, '#'))
        return err_set(err, NULL, "invalid byte in the URL");
    const char *const begin = text + (u->is_tls ? 6 : 5);
    const size_t len = strcspn(begin, "/?");
    if (len >= sizeof u->authority || !read_authority(u, (struct str){begin, len}))
        return err_set(err, NULL, "invalid host or port in the URL; a user name is not allowed");
    if (!u->is_tls && !websocket_url_is_loopback(u->host))
        return err_set(err, NULL, "ws: is allowed for a loopback address only; use wss:");
    const char *const path = begin + len;
    const int n = snprintf(u->path, sizeof u->path, "%s%s", *path == '/' ? "" : "/", path);
    if (n >= (int)sizeof u->path)
        return err_set(err, NULL, "the URL is too long");
    return 0;
}
