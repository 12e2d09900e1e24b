/* SPDX-License-Identifier: MIT
 * The proxy that outbound connections go through, and the hosts that are reached without it. Pure.
 */
#ifndef IO_HTTP_PROXY_H
#define IO_HTTP_PROXY_H

#include <stdbool.h>

/* Strings live as long as who was given it. All NULL: no proxy. What the environment says about
 * proxies is never used. */
struct proxy {
    const char *url;         /* "http://HOST:PORT"; https:, socks5: and socks5h: too */
    const char *credentials; /* "USER:PASSWORD" for the proxy, a secret; or NULL */
    const char *no_proxy;    /* hosts reached without it, with commas; "*": all; NULL: none */
};

/* Whether the host (no brackets, no port) is one of the list, or below one of its domains. */
bool proxy_is_exempt(const char *no_proxy, const char *host);

#endif
