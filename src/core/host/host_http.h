/* SPDX-License-Identifier: MIT
 * The HTTP server of a host, by its configuration. */
#ifndef CORE_HOST_HOST_HTTP_H
#define CORE_HOST_HOST_HTTP_H

#include "conf/conf.h"
#include "io/http/server/httpd.h"

/* Listens on http.listen, which is set. NULL with err: it cannot. */
struct httpd *host_http_listen(struct loop *loop, const struct conf_http *http,
                               struct tc_err *err) MUST_CHECK;
/* What of another configuration holds without listening anew. */
void host_http_configure(struct httpd *httpd, const struct conf_http *http);

#endif
