/* SPDX-License-Identifier: MIT
 * Group `runs` of the bus: runs that other programs ask for through NATS. */
#include <string.h>

#include "conf/conf_internal.h"

#define RUNS(member) offsetof(struct conf_bus_runs, member)
#define REPLY_MAX 200 /* bytes */
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

/* The client of a request chooses the reply subject, so a client must not be able to name a subject
 * reserved for this host, such as those of JetStream and of other hosts. */
static bool conf_bus_runs_is_reply(const char *text)
{
    const size_t len = strlen(text);
    const char *const tail = len > 2 ? text + len - 2 : "";
    return len <= REPLY_MAX && strcmp(tail, ".>") == 0 && *text != '$' && *text != '.' &&
           strspn(text, NAME_CHARACTERS "$.") == len - 1 && !strstr(text, "..");
}

static int conf_bus_runs_read_replies(const struct conf_row_ctx *r, const struct conf_node *n,
                                      const struct conf_row *row, void *target)
{
    if (conf_row_strings(r, n, row, target) < 0)
        return -1;
    for (size_t i = 0; i < n->n; i++)
        if (!conf_bus_runs_is_reply(n->items[i].value.string))
            return conf_row_error(r, &n->items[i],
                                  "invalid subject \"%s\"; use a prefix and .>, for example "
                                  "_INBOX.>; subjects that begin with $ are those of the servers",
                                  n->items[i].value.string);
    return 0;
}

static const struct conf_row runs_rows[] = {
    {"key", conf_row_string, RUNS(key), 0, 0, NULL},
    {"ag_ui", conf_row_bool, RUNS(ag_ui), 0, 0, NULL},
    {"ai_sdk", conf_row_bool, RUNS(ai_sdk), 0, 0, NULL},
    {"max", conf_row_int, RUNS(max), 1, 10000, NULL},
    {"replies", conf_bus_runs_read_replies, RUNS(replies), 1, 16, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

static char **conf_bus_runs_default_replies(struct arena *a)
{
    char **const list = arena_alloc(a, 2 * sizeof *list);
    list[0] = arena_strdup(a, "_INBOX.>");
    list[1] = NULL;
    return list;
}

int conf_bus_runs_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target)
{
    struct conf_bus_runs *const runs =
        (struct conf_bus_runs *)(void *)((char *)target + row->offset);
    if (conf_row_parse_group(r, n, runs_rows, runs) < 0)
        return -1;
    if (!runs->key)
        return conf_row_error(
            r, n, "required key \"key\" is missing; add the name of a key of http.keys");
    if (!runs->replies)
        runs->replies = conf_bus_runs_default_replies(r->arena);
    runs->file = n->file;
    runs->line = n->line;
    return 0;
}

int conf_bus_runs_check_replies(const struct conf_row_ctx *r, const struct conf_node *n,
                                const struct conf_bus *bus)
{
    const size_t len = strlen(bus->prefix);
    for (char **reply = bus->runs.replies; reply && *reply; reply++)
        if (strncmp(*reply, bus->prefix, len) == 0 && (*reply)[len] == '.')
            return conf_row_error(
                r, n, "bus.runs.replies: %s has subjects of the bus itself; use another prefix",
                *reply);
    return 0;
}

void conf_bus_runs_check(const struct conf_row_ctx *r, const struct conf *c)
{
    const struct conf_bus_runs *const runs = &c->bus.runs;
    const struct conf_node at = {.file = runs->file, .line = runs->line};
    const struct conf_http_key *key = NULL;
    for (size_t i = 0; i < c->http.n_keys && runs->key && !key; i++)
        if (strcmp(c->http.keys[i].name, runs->key) == 0)
            key = &c->http.keys[i];
    if (runs->key && !c->http.listen)
        conf_row_error(r, &at, "bus.runs requires http.listen, whose routes take the runs; set it");
    else if (runs->key && !key)
        conf_row_error(r, &at, "bus.runs.key: unknown key \"%s\"; define http.keys.%s", runs->key,
                       runs->key);
    else if (runs->key && !(key->grants & CONF_SUBMIT))
        conf_row_error(r, &at, "bus.runs.key: http.keys.%s lacks the grant \"submit\"; add it",
                       runs->key);
}
