/* SPDX-License-Identifier: MIT
 * Who asks over HTTP: the keys of the configuration, and the cookies that were given for them. One
 * place decides; without a valid credential the answer is no. Loop thread only. */
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
void auth_free(struct auth *a); /* NULL is fine */
/* Other keys: a cookie that was given for one that is gone or changed is worth nothing. Principals
 * are found anew. */
void auth_set_keys(struct auth *a, const struct conf_http *http);

/* Borrowed, until auth_set_keys. NULL: nobody, and that was answered (401, or 403 when that grant
 * is missing; grant 0: none is asked for). */
const struct auth_principal *auth_require_grant(struct auth *a, struct httpd_request *r,
                                                unsigned grant);
/* Answers 403: the key of that principal lacks the grant (CONF_SUBMIT…). */
void auth_refuse_grant(struct httpd_request *r, const struct auth_principal *p, unsigned grant);
/* The same number as before: one of that name still has the key with which it was let in. What goes
 * on for long asks. */
uint64_t auth_get_key_version(const struct auth *a, const char *principal);

/* POST with {"key"}: a cookie for it. */
void auth_handle_login(struct auth *a, struct httpd_request *r);
void auth_handle_logout(struct auth *a, struct httpd_request *r);

#endif
