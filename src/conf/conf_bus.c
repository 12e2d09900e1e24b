/* SPDX-License-Identifier: MIT
 * Sections `host` and `bus`: the name of this host, and the NATS servers that several hosts of
 * turncast share. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf_internal.h"
#include "conf/parse/secret.h"

#define BUS(member) offsetof(struct conf_bus, member)
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
#define CREDS_BEGIN "-----BEGIN NATS USER JWT-----"

const struct conf_bus conf_bus_default = {.prefix = "tc",
                                          .replicas = 1,
                                          .is_gateway = true,
                                          .is_runner = true,
                                          .lost_after_ms = 120 * 1000,
                                          .move_after_ms = 60 * 1000,
                                          .runs = {.ag_ui = true, .ai_sdk = true, .max = 64}};

/* ---- the name of the host ---- */

static bool conf_bus_is_name(const char *text, size_t max)
{
    const size_t len = strlen(text);
    return len > 0 && len <= max && strspn(text, NAME_CHARACTERS) == len;
}

static int conf_bus_read_host(const struct conf_row_ctx *r, const struct conf_node *n,
                              const struct conf_row *row, void *target)
{
    if (conf_row_check_type(r, n, NODE_STRING) < 0)
        return -1;
    if (!conf_bus_is_name(n->value.string, CONF_HOST_NAME_MAX))
        return conf_row_error(r, n, "invalid name \"%s\"; use at most %d letters, digits, - and _",
                              n->value.string, CONF_HOST_NAME_MAX);
    return conf_row_string(r, n, row, target);
}

int conf_bus_read_names(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target)
{
    if (conf_row_strings(r, n, row, target) < 0)
        return -1;
    for (size_t i = 0; i < n->n; i++)
        if (!conf_bus_is_name(n->items[i].value.string, CONF_HOST_NAME_MAX))
            return conf_row_error(r, &n->items[i],
                                  "invalid name \"%s\"; use at most %d letters, digits, - and _",
                                  n->items[i].value.string, CONF_HOST_NAME_MAX);
    return 0;
}

static const struct conf_row host_rows[] = {
    {"name", conf_bus_read_host, 0, 0, 0, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const struct conf_row sessions_rows[] = {
    {"shared", conf_row_path, 0, 0, 0, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

int conf_bus_parse_sessions(const struct conf_row_ctx *r, const struct conf_node *n,
                            const struct conf_row *row, void *target)
{
    return conf_row_parse_group(r, n, sessions_rows, (char *)target + row->offset);
}

int conf_bus_parse_host(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target)
{
    return conf_row_parse_group(r, n, host_rows, (char *)target + row->offset);
}

/* The first label of the system's host name; NULL: not a valid name of a host. */
static char *conf_bus_system_name(struct arena *a)
{
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) < 0)
        return NULL;
    name[strcspn(name, ".")] = '\0';
    return conf_bus_is_name(name, CONF_HOST_NAME_MAX) ? arena_strdup(a, name) : NULL;
}

/* ---- servers ---- */

static const char *const schemes[] = {"nats://", "tls://", NULL};

/* The text behind the scheme; NULL: another scheme. */
static const char *conf_bus_authority(const char *url)
{
    for (size_t i = 0; schemes[i]; i++)
        if (strncmp(url, schemes[i], strlen(schemes[i])) == 0)
            return url + strlen(schemes[i]);
    return NULL;
}

/* Accepts only "HOST:PORT" or "[ADDRESS]:PORT": a password in the URL would not be handled as a
 * secret. */
static bool conf_bus_is_authority(const char *text)
{
    const bool v6 = *text == '[';
    const size_t len = v6 ? strcspn(text, "]") + 1 : strcspn(text, ":");
    const size_t known = v6 ? 1 + strspn(text + 1, "0123456789abcdefABCDEF:.") + 1
                            : strspn(text, NAME_CHARACTERS ".");
    char *end;
    if (len <= (v6 ? 2 : 0) || known != len || text[len] != ':' || text[len + 1] < '0' ||
        text[len + 1] > '9')
        return false;
    const long port = strtol(text + len + 1, &end, 10);
    return !*end && port >= 1 && port <= 65535;
}

static bool conf_bus_is_loopback(const char *authority)
{
    return strncmp(authority, "localhost:", 10) == 0 || strncmp(authority, "127.", 4) == 0 ||
           strncmp(authority, "[::1]:", 6) == 0;
}

static int conf_bus_check_url(const struct conf_row_ctx *r, const struct conf_node *n)
{
    const char *const authority = conf_bus_authority(n->value.string);
    if (authority && conf_bus_is_authority(authority))
        return 0;
    return conf_row_error(r, n, /* The message leaves out the value, which may contain a
                                 * password. */
                          "invalid URL; use nats://HOST:PORT or tls://HOST:PORT; set a user and "
                          "password in credentials");
}

int conf_bus_read_urls(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target)
{
    if (conf_row_strings(r, n, row, target) < 0)
        return -1;
    for (size_t i = 0; i < n->n; i++)
        if (conf_bus_check_url(r, &n->items[i]) < 0)
            return -1;
    return 0;
}

/* ---- names on the servers ---- */

/* The prefix is part of subjects and buckets, and, in upper case, of names of streams. */
static int conf_bus_read_prefix(const struct conf_row_ctx *r, const struct conf_node *n,
                                const struct conf_row *row, void *target)
{
    if (conf_row_string(r, n, row, target) < 0)
        return -1;
    const size_t len = strlen(n->value.string);
    if (len <= 16 && strspn(n->value.string, "abcdefghijklmnopqrstuvwxyz0123456789_") == len)
        return 0;
    return conf_row_error(r, n,
                          "invalid prefix \"%s\"; use at most 16 lower-case letters, digits "
                          "and _",
                          n->value.string);
}

static int conf_bus_read_replicas(const struct conf_row_ctx *r, const struct conf_node *n,
                                  const struct conf_row *row, void *target)
{
    if (conf_row_int(r, n, row, target) < 0)
        return -1;
    return n->value.integer % 2 ? 0 : conf_row_error(r, n, "invalid value; valid values: 1, 3, 5");
}

/* ---- credentials of this host ---- */

int conf_bus_read_creds_file(const struct conf_row_ctx *r, const struct conf_node *n,
                             const struct conf_row *row, void *target)
{
    const char *const first = conf_tls_read_private_file(r, n, row, target);
    if (!first)
        return -1;
    if (strcmp(first, CREDS_BEGIN) != 0)
        return conf_row_error(r, n,
                              "no NATS credentials file: its first line must be \"" CREDS_BEGIN
                              "\"; set a user and password in credentials");
    return 0;
}

/* libnats puts the text into its JSON unchanged, so the server could not read these characters. */
static int conf_bus_check_text(const struct conf_row_ctx *r, const struct conf_node *n,
                               const char *secret)
{
    for (const char *p = secret; *p; p++)
        if (*p == '"' || *p == '\\' || (unsigned char)*p < ' ')
            return conf_row_error(
                r, n,
                "contains a quotation mark, a backslash or a control character, but the NATS "
                "library cannot send these; choose another one");
    return 0;
}

int conf_bus_read_credentials(const struct conf_row_ctx *r, const struct conf_node *n,
                              const struct conf_row *row, void *target)
{
    const char *secret;
    if (conf_proxy_read_credentials(r, n, row, target) < 0)
        return -1;
    memcpy(&secret, (char *)target + row->offset, sizeof secret);
    return conf_bus_check_text(r, n, secret);
}

int conf_bus_read_token(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target)
{
    const char *const token = conf_transport_read_secret(r, n);
    if (!token || conf_bus_check_text(r, n, token) < 0)
        return -1;
    memcpy((char *)target + row->offset, &token, sizeof token);
    return 0;
}

/* ---- roles of this host ---- */

static int conf_bus_read_roles(const struct conf_row_ctx *r, const struct conf_node *n,
                               const struct conf_row *row, void *target)
{
    struct conf_bus *const bus = target;
    char **roles = NULL;
    const struct conf_row list = {row->key, conf_row_strings, 0, row->min, row->max, NULL};
    if (conf_row_strings(r, n, &list, &roles) < 0)
        return -1;
    bus->is_gateway = bus->is_runner = false;
    for (size_t i = 0; i < n->n; i++)
        if (strcmp(roles[i], "gateway") == 0)
            bus->is_gateway = true;
        else if (strcmp(roles[i], "runner") == 0)
            bus->is_runner = true;
        else
            return conf_row_error(r, &n->items[i],
                                  "unknown role \"%s\"; valid roles: gateway, runner", roles[i]);
    return 0;
}

static const struct conf_choice losses[] = {
    {"finish", CONF_LOSS_FINISH}, {"kill", CONF_LOSS_KILL}, {NULL, 0}};

static const struct conf_row rows[] = {
    {"url", conf_bus_read_urls, BUS(urls), 1, 16, NULL},
    {"prefix", conf_bus_read_prefix, BUS(prefix), 0, 0, NULL},
    {"replicas", conf_bus_read_replicas, BUS(replicas), 1, 5, NULL},
    {"credentials", conf_bus_read_credentials, BUS(credentials), 0, 0, NULL},
    {"token", conf_bus_read_token, BUS(token), 0, 0, NULL},
    {"credentials_file", conf_bus_read_creds_file, BUS(creds_file), 0, 0, NULL},
    {"tls", conf_tls_parse, BUS(tls), 0, 0, NULL},
    {"insecure", conf_row_bool, BUS(insecure), 0, 0, NULL},
    {"roles", conf_bus_read_roles, 0, 1, 2, NULL},
    {"lost_after_s", conf_row_ms, BUS(lost_after_ms), 1, 86400, NULL},
    {"move_after_s", conf_row_ms, BUS(move_after_ms), 1, 86400, NULL},
    {"on_loss", conf_row_choice, BUS(on_loss), 0, 0, losses},
    {"runs", conf_bus_runs_parse, BUS(runs), 0, 0, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

/* ---- the group ---- */

/* Without an explicit setting, prompts and answers must not cross a network unencrypted. */
static int conf_bus_check_tls(const struct conf_row_ctx *r, const struct conf_node *n,
                              const struct conf_bus *bus)
{
    for (char **url = bus->urls; *url; url++)
        if (!bus->is_encrypted && !bus->insecure && !conf_bus_is_loopback(conf_bus_authority(*url)))
            return conf_row_error(r, n,
                                  "%s is not on this machine, and the connection would not be "
                                  "encrypted; use tls://, set tls.ca, or set insecure = true",
                                  *url);
    return 0;
}

static bool conf_bus_wants_tls(const struct conf_bus *bus)
{
    bool is_tls = bus->tls.ca || bus->tls.cert;
    for (char **url = bus->urls; *url; url++)
        is_tls |= strncmp(*url, "tls:", 4) == 0;
    return is_tls;
}

int conf_bus_finish_servers(const struct conf_row_ctx *r, const struct conf_node *n,
                            struct conf_bus *bus)
{
    if (!bus->urls)
        return conf_row_error(
            r, n, "required key \"url\" is missing; for example [\"nats://127.0.0.1:4222\"]");
    if (!!bus->credentials + !!bus->token + !!bus->creds_file > 1)
        return conf_row_error(
            r, n,
            "credentials, token and credentials_file exclude one another; remove all but one");
    bus->is_encrypted = conf_bus_wants_tls(bus);
    return conf_bus_check_tls(r, n, bus);
}

int conf_bus_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                   const struct conf_row *row, void *target)
{
    struct conf_bus *const bus = (struct conf_bus *)(void *)((char *)target + row->offset);
    struct conf_bus draft = *bus;
    if (conf_row_parse_group(r, n, rows, &draft) < 0 || conf_bus_finish_servers(r, n, &draft) < 0 ||
        conf_bus_runs_check_replies(r, n, &draft) < 0)
        return -1;
    draft.file = n->file;
    draft.line = n->line;
    *bus = draft;
    return 0;
}

static bool conf_bus_names(char *const *hosts, const char *name)
{
    for (; *hosts; hosts++)
        if (strcmp(*hosts, name) == 0)
            return true;
    return false;
}

bool conf_agent_runs_here(const struct conf *c, const struct conf_agent *agent)
{
    if (!c->bus.urls || !agent->runners.hosts[0])
        return true;
    return c->bus.is_runner && c->host_name && conf_bus_names(agent->runners.hosts, c->host_name);
}

bool conf_agent_is_shared(const struct conf *c, const struct conf_agent *agent)
{
    char *const *const hosts = agent->runners.hosts;
    if (!c->bus.urls || !c->bus.is_gateway || !c->host_name || !hosts[0])
        return false;
    return hosts[1] || strcmp(hosts[0], c->host_name) != 0;
}

/* Warns about an agent for which this configuration names no host that can run it. */
static void conf_bus_check_agent(const struct conf_row_ctx *r, const struct conf *c,
                                 const struct conf_agent *agent)
{
    const struct conf_node at = {.name = agent->name, .file = agent->file, .line = agent->line};
    if (agent->runners.hosts[0] && !c->bus.urls)
        conf_row_error(r, &at, "agents.%s.hosts requires the group bus; add it, or remove hosts",
                       agent->name);
    else if (c->host_name && !conf_agent_runs_here(c, agent) && !conf_agent_is_shared(c, agent))
        conf_row_error(r, &at,
                       "agents.%s.hosts does not let this host (%s) run the agent, and bus.roles "
                       "does not let it give turns to others; change one of them",
                       agent->name, c->host_name);
}

static void conf_bus_find_name(const struct conf_row_ctx *r, struct conf *c)
{
    const struct conf_node at = {.file = c->bus.file, .line = c->bus.line};
    conf_bus_runs_check(r, c);
    if (!c->bus.urls || c->host_name)
        return;
    c->host_name = conf_bus_system_name(r->arena);
    if (!c->host_name)
        conf_row_error(r, &at,
                       "bus: the host name of this machine is no valid name for a host of "
                       "turncast; set host.name");
}

void conf_bus_check(const struct conf_row_ctx *r, struct conf *c)
{
    conf_bus_find_name(r, c);
    for (size_t i = 0; i < c->n_agents; i++)
        conf_bus_check_agent(r, c, &c->agents[i]);
}
