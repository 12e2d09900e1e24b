/* SPDX-License-Identifier: MIT
 * The proxy that outbound connections go through, and the hosts that are reached without it. Pure.
 */
#ifndef IO_HTTP_PROXY_H
#define IO_HTTP_PROXY_H

#include <stdbool.h>

/* Strings are owned by the caller. All NULL: no proxy. Proxies of the environment are never
 * used. */
struct proxy {
    const char *url;         /* "http://HOST:PORT"; also https:, socks5: and socks5h: */
    const char *credentials; /* "USER:PASSWORD" for the proxy, a secret; or NULL */
    const char *no_proxy;    /* hosts reached without the proxy, separated by commas; "*": all;
                              * NULL: none */
};

/* Whether the host (without brackets and port) is in the list, or below one of its domains. */
bool proxy_is_exempt(const char *no_proxy, const char *host);

#endif
