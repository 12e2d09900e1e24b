/* SPDX-License-Identifier: MIT
 * Matches hosts against the list of exceptions. */
#include "io/http/proxy.h"

#include <string.h>
#include <strings.h>

/* `entry` is a name or an address; a leading dot is ignored. */
static bool proxy_is_of(const char *entry, size_t len, const char *host)
{
    const size_t n = strlen(host);
    if (len && *entry == '.') {
        entry++;
        len--;
    }
    if (len == 1 && *entry == '*')
        return true;
    if (!len || n < len || strncasecmp(host + n - len, entry, len) != 0)
        return false;
    return n == len || host[n - len - 1] == '.';
}

bool proxy_is_exempt(const char *no_proxy, const char *host)
{
    for (const char *p = no_proxy; p && *p;) {
        p += strspn(p, ", ");
        const size_t len = strcspn(p, ", ");
        if (proxy_is_of(p, len, host))
            return true;
        p += len;
    }
    return false;
}
