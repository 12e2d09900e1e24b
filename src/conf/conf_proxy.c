/* SPDX-License-Identifier: MIT
 * Group `proxy`: the proxy for outbound connections. */
#include <stdlib.h>
#include <string.h>

#include "conf/conf_internal.h"
#include "conf/parse/secret.h"

#define PROXY(member) offsetof(struct conf_proxy, member)

/* Accepts the text behind the host: nothing, or a colon and a port. */
static bool conf_proxy_is_port(const char *text)
{
    if (!*text)
        return true;
    char *end;
    if (*text != ':' || text[1] < '0' || text[1] > '9')
        return false;
    const long port = strtol(text + 1, &end, 10);
    return !*end && port >= 1 && port <= 65535;
}

/* Accepts only "SCHEME://HOST:PORT": a password in the URL would not be handled as a secret. */
static bool is_proxy(const char *url)
{
    static const char *const schemes[] = {"http://", "https://", "socks5://", "socks5h://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        const size_t n = strlen(schemes[i]);
        if (strncmp(url, schemes[i], n) != 0)
            continue;
        const char *const host = url + n;
        const bool v6 = *host == '[';
        const size_t len = v6 ? strcspn(host, "]") + 1 : strcspn(host, ":");
        const size_t known = v6 ? 1 + strspn(host + 1, "0123456789abcdefABCDEF:.") + 1
                                : strspn(host, "abcdefghijklmnopqrstuvwxyz"
                                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_");
        return len > (v6 ? 2 : 0) && known == len && conf_proxy_is_port(host + len);
    }
    return false;
}

static int read_url(const struct conf_row_ctx *r, const struct conf_node *n,
                    const struct conf_row *row, void *target)
{
    if (conf_row_check_type(r, n, NODE_STRING) < 0)
        return -1;
    if (!is_proxy(n->value.string)) /* the value may contain a password */
        return conf_row_error(
            r, n,
            "invalid proxy URL; use SCHEME://HOST:PORT, where SCHEME is http, https, socks5 or "
            "socks5h; set a user and password in proxy.credentials");
    return conf_row_string(r, n, row, target);
}

int conf_proxy_read_credentials(const struct conf_row_ctx *r, const struct conf_node *n,
                                const struct conf_row *row, void *target)
{
    struct tc_err why = {0};
    if (conf_row_check_type(r, n, NODE_STRING) < 0)
        return -1;
    const char *const secret = secret_resolve(n->value.string, r->dir, r->arena, &why);
    if (!secret)
        return conf_row_error(r, n, "%s", why.text);
    if (!strchr(secret, ':') || *secret == ':')
        return conf_row_error(r, n, "invalid credentials; use USER:PASSWORD");
    memcpy((char *)target + row->offset, &secret, sizeof secret);
    return 0;
}

/* Joins the elements with commas. */
static int read_exempt(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target)
{
    if (conf_row_strings(r, n, row, target) < 0)
        return -1;
    for (size_t i = 0; i < n->n; i++)
        if (!*n->items[i].value.string || strpbrk(n->items[i].value.string, ", /:@"))
            return conf_row_error(r, &n->items[i],
                                  "invalid host \"%s\"; use the name of a host or domain, for "
                                  "example example.org, or an address, without a port",
                                  n->items[i].value.string);
    return 0;
}

static const struct conf_row rows[] = {
    {"url", read_url, PROXY(url), 0, 0, NULL},
    {"credentials", conf_proxy_read_credentials, PROXY(credentials), 0, 0, NULL},
    {"no_proxy", read_exempt, PROXY(no_proxy), 0, 100, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

int proxy_read(const struct conf_row_ctx *r, const struct conf_node *n, const struct conf_row *row,
               void *target)
{
    struct conf_proxy *const proxy = (struct conf_proxy *)(void *)((char *)target + row->offset);
    if (conf_row_parse_group(r, n, rows, proxy) < 0)
        return -1;
    if (!proxy->url)
        return conf_row_error(
            r, n, "required key \"url\" is missing; for example http://proxy.example.org:3128");
    return 0;
}
