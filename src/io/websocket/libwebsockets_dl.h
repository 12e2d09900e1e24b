/* SPDX-License-Identifier: MIT
 * libwebsockets function table, loaded with dlopen when the first socket is opened. */
#ifndef IO_WEBSOCKET_LIBWEBSOCKETS_DL_H
#define IO_WEBSOCKET_LIBWEBSOCKETS_DL_H

#include <libwebsockets.h>

#include "base/sys/err.h"

/* Names without the prefix: lib->service. */
#define LIBWEBSOCKETS_FUNCTIONS(F)                                                                 \
    F(callback_on_writable)                                                                        \
    F(cancel_service)                                                                              \
    F(client_connect_via_info)                                                                     \
    F(close_reason)                                                                                \
    F(context_destroy)                                                                             \
    F(create_context)                                                                              \
    F(create_vhost)                                                                                \
    F(frame_is_binary)                                                                             \
    F(get_library_version)                                                                         \
    F(get_socket_fd)                                                                               \
    F(http_client_http_response)                                                                   \
    F(is_final_fragment)                                                                           \
    F(rx_flow_control)                                                                             \
    F(service)                                                                                     \
    F(set_log_level)                                                                               \
    F(set_proxy)                                                                                   \
    F(set_timeout)                                                                                 \
    F(sul_cancel)                                                                                  \
    F(sul_schedule)                                                                                \
    F(write)

#define LIBWEBSOCKETS_MEMBER(name) __typeof__(lws_##name) *name;
struct libwebsockets {
    LIBWEBSOCKETS_FUNCTIONS(LIBWEBSOCKETS_MEMBER)
};
#undef LIBWEBSOCKETS_MEMBER

/* Fills the table; the library stays loaded. -1 with err (which may be NULL) if it is missing, or
 * its version differs from the header's. */
int libwebsockets_load(struct libwebsockets *lib, struct tc_err *err);

#endif
