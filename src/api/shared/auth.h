/* SPDX-License-Identifier: MIT
 * Authentication of HTTP clients: the API keys of the configuration, and cookies issued for them.
 * All decisions are made here; without a valid credential the request is refused. Loop thread
 * only. */
#ifndef API_SHARED_AUTH_H
#define API_SHARED_AUTH_H

#include "conf/conf.h"
#include "io/http/server/httpd.h"

struct auth_principal {
    const char *name;
    unsigned grants; /* CONF_… */
    bool shares;     /* conf_http_key.shares */
};

struct auth;

struct auth *auth_new(const struct conf_http *http);
void auth_free(struct auth *a); /* NULL is allowed */
/* Applies new keys: cookies issued for removed or changed keys become invalid, and principals are
 * looked up again. */
void auth_set_keys(struct auth *a, const struct conf_http *http);

/* Borrowed until auth_set_keys. NULL: refused, and the response was sent (401, or 403 if the grant
 * is missing; grant 0: no grant is required). */
const struct auth_principal *auth_require_grant(struct auth *a, struct httpd_request *r,
                                                unsigned grant);
/* Answers 403: the key of that principal lacks the grant (CONF_SUBMIT…). */
void auth_refuse_grant(struct httpd_request *r, const struct auth_principal *p, unsigned grant);
/* Equal to an earlier number as long as the key of that principal is unchanged. Long-running
 * streams compare it. */
uint64_t auth_get_key_version(const struct auth *a, const char *principal);

/* POST with {"key"}: issues a cookie for the key. */
void auth_handle_login(struct auth *a, struct httpd_request *r);
void auth_handle_logout(struct auth *a, struct httpd_request *r);

#endif
