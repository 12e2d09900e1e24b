/* SPDX-License-Identifier: MIT
 * Sections `conversations` and `http`. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf_internal.h"

#define CONVERSATIONS(member) offsetof(struct conf_conversations, member)
#define HTTP(member) offsetof(struct conf_http, member)

static const struct conf_row conversation_rows[] = {
    {"queue", conf_row_int, CONVERSATIONS(queue), 1, 1000, NULL},
    {"debounce_ms", conf_row_int, CONVERSATIONS(debounce_ms), 0, 60000, NULL},
    {"max_warm", conf_row_int, CONVERSATIONS(max_warm), 0, 1000, NULL},
    {"max_warm_mb", conf_row_int, CONVERSATIONS(max_warm_mb), 0, 1 << 20, NULL},
    {"max_turns", conf_row_int, CONVERSATIONS(max_turns), 1, 10000, NULL},
    {"per_user", conf_row_int, CONVERSATIONS(per_user), 1, 10000, NULL},
    {"drain_s", conf_row_ms, CONVERSATIONS(drain_ms), 0, 3600, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

int serve_read_conversations(const struct conf_row_ctx *r, const struct conf_node *n,
                             const struct conf_row *row, void *target)
{
    return conf_row_parse_group(r, n, conversation_rows, (char *)target + row->offset);
}

static int read_listen(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target);
static int read_hosts(const struct conf_row_ctx *r, const struct conf_node *n,
                      const struct conf_row *row, void *target);
static int read_origins(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target);
static int read_either(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target);

/* Two words that stand for false and true. */
static const char *const sees[] = {"agent", "all"}, *const leaves[] = {"cancel", "continue"},
                         *const tells[] = {"once", "repeated"};

static const struct conf_row http_rows[] = {
    {"listen", read_listen, HTTP(listen), 0, 0, NULL},
    {"allow_remote", conf_row_bool, HTTP(allow_remote), 0, 0, NULL},
    {"hosts", read_hosts, HTTP(hosts), 0, 100, NULL},
    {"origins", read_origins, HTTP(origins), 0, 100, NULL},
    {"keys", conf_http_key_parse_all, 0, 0, 0, NULL},
    {"visibility", read_either, HTTP(sees_all), 0, 0, sees},
    {"on_disconnect", read_either, HTTP(continue_disconnected), 0, 0, leaves},
    {"final_text", read_either, HTTP(repeats_final), 0, 0, tells},
    {"disconnect_grace_s", conf_row_ms, HTTP(disconnect_grace_ms), 0, 3600, NULL},
    {"max_body", conf_row_int, HTTP(max_body), 64 << 10, 64 << 20, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

/* Accepts "127.0.0.1:8089" or "[::1]:8089": an address and not a name, because names would have to
 * be resolved. */
static bool conf_serve_take_address(const char *text, char *host, size_t size, bool *loopback)
{
    const char *const colon = strrchr(text, ':');
    const bool v6 = *text == '[' && colon && colon > text && colon[-1] == ']';
    const char *const from = text + v6;
    const size_t len = colon ? (size_t)(colon - from) - v6 : size;
    char *end = NULL;
    const long port = colon && colon[1] ? strtol(colon + 1, &end, 10) : -1;
    if (len >= size || port < 0 || port > 65535 || *end || colon[1] == '+')
        return false;
    memcpy(host, from, len);
    host[len] = 0;
    struct in_addr a4;
    struct in6_addr a6;
    if (v6 ? inet_pton(AF_INET6, host, &a6) != 1 : inet_pton(AF_INET, host, &a4) != 1)
        return false;
    *loopback = v6 ? IN6_IS_ADDR_LOOPBACK(&a6) : ntohl(a4.s_addr) >> 24 == 127;
    return true;
}

static int read_listen(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target)
{
    char host[64];
    bool loopback;
    if (conf_row_check_type(r, n, NODE_STRING) < 0)
        return -1;
    if (!conf_serve_take_address(n->value.string, host, sizeof host, &loopback))
        return conf_row_error(
            r, n,
            "invalid address \"%s\"; use ADDRESS:PORT, for example 127.0.0.1:8089 or [::1]:8089",
            n->value.string);
    ((struct conf_http *)target)->remote = !loopback;
    return conf_row_string(r, n, row, target);
}

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"

/* Accepts a host as in a Host header, without the port. */
static bool is_host(const char *text)
{
    const size_t len = strlen(text);
    if (*text == '[')
        return len > 2 && strspn(text + 1, "0123456789abcdefABCDEF:.") == len - 2 &&
               text[len - 1] == ']';
    return len && strspn(text, NAME_CHARS) == len;
}

static int read_hosts(const struct conf_row_ctx *r, const struct conf_node *n,
                      const struct conf_row *row, void *target)
{
    if (conf_row_strings(r, n, row, target) < 0)
        return -1;
    for (size_t i = 0; i < n->n; i++)
        if (!is_host(n->items[i].value.string) && strcmp(n->items[i].value.string, "*") != 0)
            return conf_row_error(
                r, &n->items[i],
                "invalid host name \"%s\"; use a name without a port, for example bot.example.org",
                n->items[i].value.string);
    return 0;
}

/* Accepts an origin in the form that browsers send: lower case, without a path. */
static bool is_origin(const char *text)
{
    const char *const host = strncmp(text, "https://", 8) == 0  ? text + 8
                             : strncmp(text, "http://", 7) == 0 ? text + 7
                                                                : "";
    return *host && host[strcspn(host, "/?#@*\\ ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == 0;
}

static int read_origins(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target)
{
    if (conf_row_strings(r, n, row, target) < 0)
        return -1;
    for (size_t i = 0; i < n->n; i++)
        if (!is_origin(n->items[i].value.string))
            return conf_row_error(r, &n->items[i],
                                  "invalid origin \"%s\"; use SCHEME://HOST[:PORT], for example "
                                  "https://bot.example.org",
                                  n->items[i].value.string);
    return 0;
}

/* Reads a bool that is written as one of two words. */
static int read_either(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target)
{
    const char *const *const words = row->extra;
    const struct conf_choice choices[] = {{words[0], false}, {words[1], true}, {NULL, 0}};
    int value;
    if (conf_row_choice(r, n, &(struct conf_row){.extra = choices}, &value) < 0)
        return -1;
    ((char *)target)[row->offset] = (char)value;
    return 0;
}

int serve_read_http(const struct conf_row_ctx *r, const struct conf_node *n,
                    const struct conf_row *row, void *target)
{
    struct conf_http *const http = (struct conf_http *)(void *)((char *)target + row->offset);
    if (conf_row_parse_group(r, n, http_rows, http) < 0)
        return -1;
    if (http->remote && !http->allow_remote)
        return conf_row_error(
            r, n,
            "%s is reachable from other machines; set http.allow_remote = true to permit this",
            http->listen);
    if (http->remote && !http->n_keys)
        return conf_row_error(
            r, n, "%s is reachable from other machines; define at least one key in http.keys",
            http->listen);
    return 0;
}
