/* SPDX-License-Identifier: MIT
 * libcurl function table, loaded with dlopen at the first request, so that a host without HTTP
 * pays nothing for it. */
#ifndef IO_HTTP_CLIENT_LIBCURL_DL_H
#define IO_HTTP_CLIENT_LIBCURL_DL_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/sys/err.h"

/* Names without the prefix: curl->easy_init. */
#define LIBCURL_FUNCTIONS(F)                                                                       \
    F(global_init)                                                                                 \
    F(easy_init)                                                                                   \
    F(easy_setopt)                                                                                 \
    F(easy_getinfo)                                                                                \
    F(easy_perform)                                                                                \
    F(easy_strerror)                                                                               \
    F(easy_cleanup)                                                                                \
    F(multi_init)                                                                                  \
    F(multi_setopt)                                                                                \
    F(multi_assign)                                                                                \
    F(multi_add_handle)                                                                            \
    F(multi_remove_handle)                                                                         \
    F(multi_socket_action)                                                                         \
    F(multi_info_read)                                                                             \
    F(multi_cleanup)                                                                               \
    F(slist_append)                                                                                \
    F(slist_free_all)                                                                              \
    F(getdate)                                                                                     \
    F(url)                                                                                         \
    F(url_set)                                                                                     \
    F(url_get)                                                                                     \
    F(url_cleanup)                                                                                 \
    F(free)

#define LIBCURL_MEMBER(name) __typeof__(curl_##name) *name;
struct libcurl {
    LIBCURL_FUNCTIONS(LIBCURL_MEMBER)
};
#undef LIBCURL_MEMBER

/* Fills the table and initialises the library, which then stays loaded. -1 with err (which may be
 * NULL) if it is missing. */
int libcurl_load(struct libcurl *curl, struct tc_err *err);

#endif
