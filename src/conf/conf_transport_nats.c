/* SPDX-License-Identifier: MIT
 * Group `transport` of an agent that is run through NATS. */
#include <string.h>

#include "conf/conf_internal.h"

#define NATS(member) offsetof(struct conf_nats_draft, nats.member)
#define SERVERS(member) offsetof(struct conf_bus, member)
#define SUBJECT_MAX 255 /* bytes */

struct conf_nats_draft {
    struct conf_nats nats; /* first member: rows of the servers fill it */
    int kind;
};

/* Accepts a subject without wildcards, because requests are published to it. */
static int conf_transport_nats_read_subject(const struct conf_row_ctx *r, const struct conf_node *n,
                                            const struct conf_row *row, void *target)
{
    if (conf_row_string(r, n, row, target) < 0)
        return -1;
    const char *const text = n->value.string;
    const size_t len = strlen(text);
    if (len <= SUBJECT_MAX && len && *text != '.' && text[len - 1] != '.' && !strstr(text, "..") &&
        !strpbrk(text, "*> \t"))
        return 0;
    return conf_row_error(r, n,
                          "invalid subject \"%s\"; use words with dots between them, no "
                          "wildcards",
                          text);
}

static const struct conf_choice kinds[] = {{"nats", CONF_TRANSPORT_NATS}, {NULL, 0}};

static const struct conf_row rows[] = {
    {"kind", conf_row_choice, offsetof(struct conf_nats_draft, kind), 0, 0, kinds},
    {"url", conf_bus_read_urls, SERVERS(urls), 1, 16, NULL},
    {"subject", conf_transport_nats_read_subject, NATS(subject), 0, 0, NULL},
    {"agent", conf_row_string, NATS(agent), 0, 0, NULL},
    {"credentials", conf_bus_read_credentials, SERVERS(credentials), 0, 0, NULL},
    {"token", conf_bus_read_token, SERVERS(token), 0, 0, NULL},
    {"credentials_file", conf_bus_read_creds_file, SERVERS(creds_file), 0, 0, NULL},
    {"tls", conf_tls_parse, SERVERS(tls), 0, 0, NULL},
    {"insecure", conf_row_bool, SERVERS(insecure), 0, 0, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

int conf_transport_nats_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                              struct conf_transport *transport)
{
    struct conf_nats_draft draft = {.nats.subject = "agentos.ag-ui.runs"};
    if (conf_row_parse_group(r, n, rows, &draft) < 0 ||
        conf_bus_finish_servers(r, n, &draft.nats.servers) < 0)
        return -1;
    struct conf_nats *const nats = arena_alloc(r->arena, sizeof *nats);
    *nats = draft.nats;
    *transport = (struct conf_transport){.kind = CONF_TRANSPORT_NATS, .nats = nats};
    return 0;
}
