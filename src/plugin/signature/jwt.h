/* SPDX-License-Identifier: MIT
 * JSON Web Tokens with which a service signs its requests (RFC 7519): RS256 only. Refuses every
 * deviation from the expected form. For routes of tc_route_signed, which the connector teams uses.
 * Pure: the caller supplies the keys, a JSON Web Key Set (RFC 7517), and the time. */
#ifndef PLUGIN_SIGNATURE_JWT_H
#define PLUGIN_SIGNATURE_JWT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

/* A parsed token; its texts are in the arena, or in the given text. */
struct jwt {
    struct str header, claims, signature; /* encoded */
    const char *key;                      /* id of the signing key */
};

/* Parses a header Authorization, which may be NULL. NULL, or the error. */
const char *jwt_read(struct jwt *token, struct arena *arena, const char *authorization);
/* The key of that id in a key set, valid JSON; p NULL: none. */
struct str jwt_find_key(struct str keys, const char *id);
/* Number of keys in a key set; 0: invalid. */
size_t jwt_count_keys(struct str keys);

struct jwt_rules {
    const char *issuer, *audience; /* expected claims iss and aud; a token with several audiences is
                                    * refused */
    int64_t now_s;                 /* Unix time */
};

/* Verifies that the key, JSON, has signed the token, and that it is valid now. NULL, or the error
 * (in the arena). *claims: JSON text in the arena, unchanged after an error. */
const char *jwt_check(const struct jwt *token, struct str key, const struct jwt_rules *rules,
                      struct arena *arena, const char **claims);

#endif
