/* SPDX-License-Identifier: MIT
 * Keys of a Redis server, for the groups `store`, and `transport` of an agent. */
#ifndef CONF_CONF_STORE_H
#define CONF_CONF_STORE_H

#include "base/attr.h"
#include "conf/conf.h"
#include "conf/parse/conf_row.h"

/* The settings, and the source of the password, which is read only if the server is used. */
struct conf_store_draft {
    struct conf_store store; /* first member, which rows fill */
    const struct conf_node *password;
    const char *source;
};

/* A Redis server on this machine, with the keys of agenticore; kind CONF_SQLITE. */
struct conf_store conf_store_default(struct arena *a);
/* Rows of the keys address, prefix, password and password_file. The target is a struct
 * conf_store_draft at offset 0; the row of prefix has the offset of store.prefix; the row of
 * password_file has the extra "file:". */
int conf_store_read_address(const struct conf_row_ctx *r, const struct conf_node *n,
                            const struct conf_row *row, void *target) MUST_CHECK;
int conf_store_read_prefix(const struct conf_row_ctx *r, const struct conf_node *n,
                           const struct conf_row *row, void *target) MUST_CHECK;
/* Reads a path. A path that begins with ${ is not resolved against the directory of the file. */
int conf_store_read_password(const struct conf_row_ctx *r, const struct conf_node *n,
                             const struct conf_row *row, void *target) MUST_CHECK;
/* Reads the password, if one is set. */
int conf_store_resolve(const struct conf_row_ctx *r, struct conf_store_draft *d) MUST_CHECK;

#endif
