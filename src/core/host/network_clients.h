/* SPDX-License-Identifier: MIT
 * The host's ways out, as the configuration says: HTTP and websockets, with its proxy. */
#ifndef CORE_HOST_NETWORK_CLIENTS_H
#define CORE_HOST_NETWORK_CLIENTS_H

#include "conf/conf.h"
#include "io/http/client/httpc.h"
#include "io/websocket/websocket.h"

/* The configuration is only borrowed for the call. */
struct httpc *network_clients_new_http(struct loop *l, const struct conf *conf);
struct websocket_client *network_clients_new_websocket(struct loop *l, const struct conf *conf);
/* Whether both lead to the same proxy. */
bool network_clients_is_same(const struct conf *a, const struct conf *b);

#endif
