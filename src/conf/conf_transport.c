/* SPDX-License-Identifier: MIT
 * Group `transport` of an agent: where its events come from, if not from its standard output. */
#include <string.h>

#include "conf/conf_internal.h"
#include "conf/conf_store.h"

struct transport_draft {
    struct conf_store_draft redis; /* first: rows of the server fill it */
    enum conf_transport_kind kind;
};

static const struct conf_choice kinds[] = {{"redis", CONF_TRANSPORT_REDIS}, {NULL, 0}};

static const struct conf_row rows[] = {
    {"kind", conf_row_choice, offsetof(struct transport_draft, kind), 0, 0, kinds},
    {"address", conf_store_read_address, 0, 0, 0, NULL},
    {"prefix", conf_store_read_prefix, offsetof(struct conf_store, prefix), 0, 0, NULL},
    {"password", conf_store_read_password, 0, 0, 0, NULL},
    {"password_file", conf_store_read_password, 0, 0, 0, "file:"},
    {"database", conf_row_int, offsetof(struct conf_store, database), 0, 65535, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

int conf_transport_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                         const struct conf_row *row, void *target)
{
    struct conf_transport *const transport =
        (struct conf_transport *)(void *)((char *)target + row->offset);
    struct transport_draft draft = {.redis.store = conf_store_default(r->arena)};
    if (conf_row_parse_group(r, n, rows, &draft) < 0 || conf_store_resolve(r, &draft.redis) < 0)
        return -1;
    if (draft.kind == CONF_TRANSPORT_NONE)
        return conf_row_error(r, n, "required key \"kind\" is missing; add kind = \"redis\"");
    *transport = (struct conf_transport){.kind = draft.kind, .redis = draft.redis.store};
    return 0;
}
