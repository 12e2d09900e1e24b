/* SPDX-License-Identifier: MIT
 * Owns how the proxy of the configuration becomes that of the connections. */
#include "core/host/network_clients.h"

#include <string.h>

#include "base/bytes/buf.h"

static void join_exempt(struct buf *out, const struct conf_proxy *p)
{
    buf_add_str(out, "");
    for (size_t i = 0; p->no_proxy && p->no_proxy[i]; i++)
        buf_printf(out, "%s%s", i ? "," : "", p->no_proxy[i]);
}

struct httpc *network_clients_new_http(struct loop *l, const struct conf *conf)
{
    CLEANUP_BUF struct buf exempt = {0};
    join_exempt(&exempt, &conf->proxy);
    return httpc_new(l, &(struct httpc_options){.proxy = {.url = conf->proxy.url,
                                                          .credentials = conf->proxy.credentials,
                                                          .no_proxy = exempt.p}});
}

struct websocket_client *network_clients_new_websocket(struct loop *l, const struct conf *conf)
{
    CLEANUP_BUF struct buf exempt = {0};
    join_exempt(&exempt, &conf->proxy);
    return websocket_new(
        l, &(struct websocket_options){.proxy = {.url = conf->proxy.url,
                                                 .credentials = conf->proxy.credentials,
                                                 .no_proxy = exempt.p}});
}

static bool network_clients_is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool network_clients_is_same(const struct conf *a, const struct conf *b)
{
    CLEANUP_BUF struct buf first = {0}, second = {0};
    join_exempt(&first, &a->proxy);
    join_exempt(&second, &b->proxy);
    return network_clients_is_same_text(a->proxy.url, b->proxy.url) &&
           network_clients_is_same_text(a->proxy.credentials, b->proxy.credentials) &&
           network_clients_is_same_text(first.p, second.p);
}
