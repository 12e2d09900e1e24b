/* SPDX-License-Identifier: MIT
 * Owns the keys of what turncast serve is asked for: conversations, and the HTTP server. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "conf/parts.h"

#define CONVERSATIONS(member) offsetof(struct conf_conversations, member)
#define HTTP(member) offsetof(struct conf_http, member)

static const struct row conversation_rows[] = {
    {"queue", read_int, CONVERSATIONS(queue), 1, 1000, NULL},
    {"debounce_ms", read_int, CONVERSATIONS(debounce_ms), 0, 60000, NULL},
    {"max_turns", read_int, CONVERSATIONS(max_turns), 1, 10000, NULL},
    {"per_user", read_int, CONVERSATIONS(per_user), 1, 10000, NULL},
    {"drain_s", read_ms, CONVERSATIONS(drain_ms), 0, 3600, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

int serve_read_conversations(const struct reader *r, const struct node *n, const struct row *row,
                             void *target)
{
    return read_rows(r, n, conversation_rows, (char *)target + row->offset);
}

static int read_listen(const struct reader *r, const struct node *n, const struct row *row,
                       void *target);

static const struct row http_rows[] = {
    {"listen", read_listen, HTTP(listen), 0, 0, NULL},
    {"allow_remote", read_bool, HTTP(allow_remote), 0, 0, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

/* "127.0.0.1:8089" or "[::1]:8089": an address, no name, so that nothing is looked up. */
static bool take_address(const char *text, char *host, size_t size, bool *loopback)
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

static int read_listen(const struct reader *r, const struct node *n, const struct row *row,
                       void *target)
{
    char host[64];
    bool loopback;
    if (read_expect(r, n, NODE_STRING) < 0)
        return -1;
    if (!take_address(n->value.string, host, sizeof host, &loopback))
        return read_fail(r, n, "\"%s\" is not ADDRESS:PORT, as 127.0.0.1:8089 or [::1]:8089",
                         n->value.string);
    ((struct conf_http *)target)->remote = !loopback;
    return read_string(r, n, row, target);
}

int serve_read_http(const struct reader *r, const struct node *n, const struct row *row,
                    void *target)
{
    struct conf_http *const http = (struct conf_http *)(void *)((char *)target + row->offset);
    if (read_rows(r, n, http_rows, http) < 0)
        return -1;
    if (http->remote && !http->allow_remote)
        return read_fail(r, n, "others could reach %s: say allow_remote = true if they shall",
                         http->listen);
    return 0;
}
