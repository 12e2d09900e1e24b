/* SPDX-License-Identifier: MIT
 * Group `transport` of an agent: the source of its events, if it is not standard output. */
#include <string.h>

#include "conf/conf_internal.h"
#include "conf/conf_store.h"
#include "conf/parse/secret.h"

#define SERVICE(member) offsetof(struct conf_service, member)
#define HEADERS_MAX 30

struct transport_draft {
    struct conf_store_draft redis; /* first member: rows of the server fill it */
    enum conf_transport_kind kind;
};

static const struct conf_choice kinds[] = {{"redis", CONF_TRANSPORT_REDIS},
                                           {"sse", CONF_TRANSPORT_SSE},
                                           {"nats", CONF_TRANSPORT_NATS},
                                           {NULL, 0}};

/* ---- redis ---- */

static const struct conf_row redis_rows[] = {
    {"kind", conf_row_choice, offsetof(struct transport_draft, kind), 0, 0, kinds},
    {"address", conf_store_read_address, 0, 0, 0, NULL},
    {"prefix", conf_store_read_prefix, offsetof(struct conf_store, prefix), 0, 0, NULL},
    {"password", conf_store_read_password, 0, 0, 0, NULL},
    {"password_file", conf_store_read_password, 0, 0, 0, "file:"},
    {"database", conf_row_int, offsetof(struct conf_store, database), 0, 65535, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

static int conf_transport_parse_redis(const struct conf_row_ctx *r, const struct conf_node *n,
                                      struct conf_transport *transport)
{
    struct transport_draft draft = {.redis.store = conf_store_default(r->arena)};
    if (conf_row_parse_group(r, n, redis_rows, &draft) < 0 ||
        conf_store_resolve(r, &draft.redis) < 0)
        return -1;
    if (draft.kind == CONF_TRANSPORT_NONE)
        return conf_row_error(
            r, n, "required key \"kind\" is missing; add kind = \"redis\", \"sse\" or \"nats\"");
    *transport = (struct conf_transport){.kind = draft.kind, .redis = draft.redis.store};
    return 0;
}

/* ---- sse ---- */

enum { SERVICE_AWAKEN = 1, SERVICE_ETHOS, SERVICE_REASONIX, SERVICE_TURNCAST };

static const struct conf_choice services[] = {{"awaken", SERVICE_AWAKEN},
                                              {"ethos", SERVICE_ETHOS},
                                              {"reasonix", SERVICE_REASONIX},
                                              {"turncast", SERVICE_TURNCAST},
                                              {NULL, 0}};

struct service_draft {
    struct conf_service service; /* first member, which rows fill */
    enum conf_transport_kind kind;
    int agent;
    struct buf *secret; /* limit of header lines */
};

const char *conf_transport_read_secret(const struct conf_row_ctx *r, const struct conf_node *n)
{
    struct tc_err why = {0};
    if (conf_row_check_type(r, n, NODE_STRING) < 0)
        return NULL;
    const char *const text = secret_resolve(n->value.string, r->dir, r->arena, &why);
    if (!text)
        conf_row_error(r, n, "%s", why.text);
    else if (strpbrk(text, "\r\n"))
        conf_row_error(r, n, "must be one line of text; remove the line break");
    else
        return text;
    return NULL;
}

static int conf_transport_read_token(const struct conf_row_ctx *r, const struct conf_node *n,
                                     const struct conf_row *row, void *target)
{
    struct service_draft *const d = target;
    (void)row;
    const char *const token = conf_transport_read_secret(r, n);
    if (!token)
        return -1;
    buf_printf(d->secret, "Authorization: Bearer %s\n", token);
    return 0;
}

static int conf_transport_read_headers(const struct conf_row_ctx *r, const struct conf_node *n,
                                       const struct conf_row *row, void *target)
{
    struct service_draft *const d = target;
    (void)row;
    if (conf_row_check_type(r, n, NODE_GROUP) < 0)
        return -1;
    if (n->n > HEADERS_MAX)
        return conf_row_error(r, n, "too many headers; the limit is %d", HEADERS_MAX);
    for (size_t i = 0; i < n->n; i++) {
        const char *const value = conf_transport_read_secret(r, &n->items[i]);
        if (!value)
            return -1;
        buf_printf(d->secret, "%s: %s\n", n->items[i].name, value);
    }
    return 0;
}

/* The HTTP client checks the rest of the URL when it is used. */
static int conf_transport_read_url(const struct conf_row_ctx *r, const struct conf_node *n,
                                   const struct conf_row *row, void *target)
{
    if (conf_row_string(r, n, row, target) < 0)
        return -1;
    const char *const url = n->value.string;
    const bool known = strncmp(url, "https://", 8) == 0 || strncmp(url, "http://", 7) == 0;
    if (!known || strpbrk(url, "@?# \t"))
        return conf_row_error(r, n,
                              "invalid URL; use https://HOST[:PORT][/PATH], or http: on a loopback "
                              "address, without user, query and fragment");
    return 0;
}

static const struct conf_row service_rows[] = {
    {"kind", conf_row_choice, offsetof(struct service_draft, kind), 0, 0, kinds},
    {"agent", conf_row_choice, offsetof(struct service_draft, agent), 0, 0, services},
    {"url", conf_transport_read_url, SERVICE(url), 0, 0, NULL},
    {"remote_agent", conf_row_string, SERVICE(remote_agent), 0, 0, NULL},
    {"token", conf_transport_read_token, 0, 0, 0, NULL},
    {"headers", conf_transport_read_headers, 0, 0, 0, NULL},
    {"tls", conf_tls_parse, SERVICE(tls), 0, 0, NULL},
    {"outage_s", conf_row_ms, SERVICE(outage_ms), 1, 3600, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

static int conf_transport_check_service(const struct conf_row_ctx *r, const struct conf_node *n,
                                        const struct service_draft *d)
{
    if (!d->agent)
        return conf_row_error(r, n,
                              "required key \"agent\" is missing; add the kind of service, for "
                              "example agent = \"turncast\"");
    if (!d->service.url)
        return conf_row_error(r, n, "required key \"url\" is missing; add url = \"https://HOST\"");
    if (d->agent == SERVICE_AWAKEN && !d->service.remote_agent)
        return conf_row_error(r, n,
                              "required key \"remote_agent\" is missing; add the name of an agent "
                              "of the service");
    if ((d->service.tls.ca || d->service.tls.cert) && strncmp(d->service.url, "https:", 6) != 0)
        return conf_row_error(r, n, "tls has no effect on http:; use https: in url, or remove tls");
    return 0;
}

static int conf_transport_parse_service(const struct conf_row_ctx *r, const struct conf_node *n,
                                        struct conf_transport *transport)
{
    CLEANUP_BUF struct buf secret = {0};
    struct service_draft draft = {.service = {.outage_ms = 30 * 1000}, .secret = &secret};
    if (conf_row_parse_group(r, n, service_rows, &draft) < 0 ||
        conf_transport_check_service(r, n, &draft) < 0)
        return -1;
    for (const struct conf_choice *c = services; c->name; c++)
        if (c->value == draft.agent)
            draft.service.agent = c->name;
    if (secret.len)
        draft.service.secret = arena_strndup(r->arena, secret.p, secret.len);
    *transport = (struct conf_transport){.kind = CONF_TRANSPORT_SSE, .service = draft.service};
    return 0;
}

/* Reads the keys that the kind permits. */
static bool conf_transport_is(const struct conf_node *n, const char *kind)
{
    for (size_t i = 0; n->type == NODE_GROUP && i < n->n; i++)
        if (strcmp(n->items[i].name, "kind") == 0 && n->items[i].type == NODE_STRING)
            return strcmp(n->items[i].value.string, kind) == 0;
    return false;
}

int conf_transport_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                         const struct conf_row *row, void *target)
{
    struct conf_transport *const transport =
        (struct conf_transport *)(void *)((char *)target + row->offset);
    if (conf_transport_is(n, "nats"))
        return conf_transport_nats_parse(r, n, transport);
    return conf_transport_is(n, "sse") ? conf_transport_parse_service(r, n, transport)
                                       : conf_transport_parse_redis(r, n, transport);
}
