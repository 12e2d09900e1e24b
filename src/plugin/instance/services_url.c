/* SPDX-License-Identifier: MIT
 * Checks the destination of a URL from an external source: a connector may download only from its
 * own service, and must not send its token elsewhere. */
#include <string.h>
#include <strings.h>

#include "base/bytes/buf.h"
#include "plugin/instance/services_internal.h"

static const char https[] = "https://";

size_t services_url_origin_length(const char *url)
{
    const char *const host = url ? strstr(url, "://") : NULL;
    const size_t scheme = host ? (size_t)(host - url) + 3 : 0;
    const size_t n = scheme ? strcspn(url + scheme, "/?#\\@") : 0;
    const char end = n ? url[scheme + n] : '\0';
    return n && end != '@' && end != '\\' ? scheme + n : 0;
}

static bool is_origin_of(const char *url, size_t n, const char *base)
{
    return n && base && n == services_url_origin_length(base) && strncasecmp(url, base, n) == 0;
}

/* Whether the list contains the host, or a domain of the host. A host with a port does not
 * match. */
static bool lists_host(const char *hosts, struct str host)
{
    for (const char *p = hosts + strspn(hosts, " "); *p; p += strspn(p, " ")) {
        const size_t n = strcspn(p, " ");
        const bool fits = *p == '.' ? host.len > n : host.len == n;
        if ((n == 1 && *p == '*') || (fits && strncasecmp(host.p + host.len - n, p, n) == 0))
            return true;
        p += n;
    }
    return false;
}

/* Escapes braces, which would begin a placeholder. */
static char *without_placeholders(struct arena *arena, const char *begin, const char *rest)
{
    CLEANUP_BUF struct buf out = {0};
    buf_add_str(&out, begin);
    for (; *rest; rest++)
        if (*rest == '{')
            buf_add_str(&out, "%7B");
        else
            buf_add_char(&out, *rest);
    return arena_strdup(arena, out.p ? out.p : "");
}

char *service_url_at(struct tc_turn *turn, const char *url, const char *option, const char *hosts)
{
    const size_t n = services_url_origin_length(url);
    struct arena *const arena = services_get_scratch(turn, n ? strlen(url) : 0, "tc_url_at");
    if (!arena || !n)
        return NULL;
    const char *const own =
        option ? instance_chat_read_option(instance_check(turn->inst), option) : NULL;
    if (is_origin_of(url, n, own))
        return without_placeholders(arena, arena_sprintf(arena, "{origin:%s}", option), url + n);
    const size_t scheme = strlen(https);
    if (!hosts || n <= scheme || strncasecmp(url, https, scheme) != 0 ||
        !lists_host(hosts, (struct str){url + scheme, n - scheme}))
        return NULL;
    return without_placeholders(arena, "", url);
}
