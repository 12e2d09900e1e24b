/* SPDX-License-Identifier: MIT
 * Owns how the group http becomes options of the server. */
#include "core/host/host_http.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

static size_t host_http_count(char *const *list)
{
    size_t n = 0;
    while (list[n])
        n++;
    return n;
}

/* "127.0.0.1:8089" or "[::1]:8089", checked by the configuration. */
struct httpd *host_http_listen(struct loop *loop, const struct conf_http *http, struct tc_err *err)
{
    const char *const colon = strrchr(http->listen, ':');
    const bool v6 = *http->listen == '[';
    CLEANUP_FREE char *address =
        xstrndup(http->listen + v6, (size_t)(colon - http->listen) - 2 * (size_t)v6);
    const struct httpd_options options = {
        .address = address,
        .port = (uint16_t)strtoul(colon + 1, NULL, 10),
        .allow_remote = http->allow_remote,
        .hosts = (const char *const *)http->hosts,
        .host_count = host_http_count(http->hosts),
        .origins = (const char *const *)http->origins,
        .origin_count = host_http_count(http->origins),
        .body_bytes = (size_t)http->max_body,
    };
    return httpd_new(loop, &options, err);
}

void host_http_configure(struct httpd *httpd, const struct conf_http *http)
{
    httpd_set_allowed_names(httpd, (const char *const *)http->hosts, host_http_count(http->hosts),
                            (const char *const *)http->origins, host_http_count(http->origins));
    httpd_set_body_bytes(httpd, (size_t)http->max_body);
}
