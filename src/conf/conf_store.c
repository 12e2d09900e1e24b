/* SPDX-License-Identifier: MIT
 * Section `store`: where visibility and sessions are kept. */
#include <stdlib.h>
#include <string.h>

#include "conf/conf_internal.h"
#include "conf/conf_store.h"
#include "conf/parse/secret.h"

#define STORE(member) offsetof(struct conf_store, member)

static const struct conf_choice kinds[] = {
    {"sqlite", CONF_SQLITE}, {"redis", CONF_REDIS}, {NULL, 0}};

struct conf_store conf_store_default(struct arena *a)
{
    return (struct conf_store){.host = arena_strdup(a, "127.0.0.1"),
                               .port = 6379,
                               .prefix = arena_strdup(a, "agenticore"),
                               .session_ttl_s = 86400,
                               .lock_s = 30,
                               .lock_wait_s = 60};
}

/* Accepts "HOST:PORT", "[::1]:PORT", or the path of a socket. */
static bool conf_store_take_address(const struct conf_row_ctx *r, const char *text,
                                    struct conf_store *s)
{
    if (*text == '/') {
        s->host = NULL;
        s->path = arena_strdup(r->arena, text);
        return true;
    }
    const char *const colon = strrchr(text, ':');
    if (!colon || colon[1] < '0' || colon[1] > '9')
        return false;
    char *end;
    const long port = strtol(colon + 1, &end, 10);
    const bool v6 = *text == '[' && colon[-1] == ']';
    const size_t len = (size_t)(colon - text) - 2 * (size_t)v6;
    if (*end || port < 1 || port > 65535 || len == 0 || (!v6 && memchr(text, ':', len)))
        return false;
    s->host = arena_strndup(r->arena, text + v6, len);
    s->port = port;
    s->path = NULL;
    return true;
}

int conf_store_read_address(const struct conf_row_ctx *r, const struct conf_node *n,
                            const struct conf_row *row, void *target)
{
    (void)row;
    if (conf_row_check_type(r, n, NODE_STRING) < 0)
        return -1;
    if (conf_store_take_address(r, n->value.string, target))
        return 0;
    return conf_row_error(r, n,
                          "invalid address \"%s\"; use HOST:PORT, for example 127.0.0.1:6379, or "
                          "the path of a Unix socket",
                          n->value.string);
}

/* Prefix of every key: printable and without blanks, which would hide a typing error. */
int conf_store_read_prefix(const struct conf_row_ctx *r, const struct conf_node *n,
                           const struct conf_row *row, void *target)
{
    if (conf_row_string(r, n, row, target) < 0)
        return -1;
    for (const char *p = n->value.string; *p; p++)
        if (*p <= ' ' || *p > '~')
            return conf_row_error(r, n, "use printable ASCII characters only");
    return 0;
}

int conf_store_read_password(const struct conf_row_ctx *r, const struct conf_node *n,
                             const struct conf_row *row, void *target)
{
    struct conf_store_draft *const d = target;
    if (d->password)
        return conf_row_error(r, n, "password and password_file are both set; remove one of them");
    if (conf_row_check_type(r, n, NODE_STRING) < 0)
        return -1;
    if (!*n->value.string)
        return conf_row_error(r, n, "must not be empty; set it or remove it");
    d->password = n;
    d->source = n->value.string;
    if (row->extra)
        d->source = arena_sprintf(r->arena, "%s%s", (const char *)row->extra,
                                  *d->source == '$' ? d->source
                                                    : conf_row_resolve_path(r, n->value.string));
    return 0;
}

static const struct conf_row redis_rows[] = {
    {"address", conf_store_read_address, 0, 0, 0, NULL},
    {"prefix", conf_store_read_prefix, STORE(prefix), 0, 0, NULL},
    {"password", conf_store_read_password, 0, 0, 0, NULL},
    {"password_file", conf_store_read_password, 0, 0, 0, "file:"},
    {"database", conf_row_int, STORE(database), 0, 65535, NULL},
    {"lock_s", conf_row_int, STORE(lock_s), 0, 86400, NULL},
    {"lock_wait_s", conf_row_int, STORE(lock_wait_s), 0, 86400, NULL},
    {"session_ttl_s", conf_row_int, STORE(session_ttl_s), 0, 10LL * 366 * 86400, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const struct conf_row store_rows[] = {
    {"kind", conf_row_choice, STORE(kind), 0, 0, kinds},
    {"redis", conf_row_group, 0, 0, 0, redis_rows},
    {"stream_config", conf_row_path, STORE(stream_config), 0, 0, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

int conf_store_resolve(const struct conf_row_ctx *r, struct conf_store_draft *d)
{
    struct tc_err why = {0};
    if (!d->password)
        return 0;
    d->store.password = secret_resolve(d->source, r->dir, r->arena, &why);
    return d->store.password ? 0 : conf_row_error(r, d->password, "%s", why.text);
}

int conf_store_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                     const struct conf_row *row, void *target)
{
    struct conf_store *const store = (struct conf_store *)(void *)((char *)target + row->offset);
    struct conf_store_draft draft = {.store = *store};
    if (conf_row_parse_group(r, n, store_rows, &draft) < 0)
        return -1;
    if (draft.store.kind == CONF_REDIS && conf_store_resolve(r, &draft) < 0)
        return -1;
    *store = draft.store;
    return 0;
}
