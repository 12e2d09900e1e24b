/* SPDX-License-Identifier: MIT
 * Checks addresses. */
#include "text/link_url.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool link_url_is_unsafe(unsigned char c)
{
    return c <= 0x20 || c == 0x7f || strchr("\"<>\\^`{|}", c) != NULL;
}

void link_url_append_clean(struct buf *out, struct str raw)
{
    for (size_t i = 0; i < raw.len; i++) {
        const unsigned char c = (unsigned char)raw.p[i];
        if (link_url_is_unsafe(c))
            buf_printf(out, "%%%02X", c);
        else
            buf_add_char(out, (char)c);
    }
}

/* The text behind the prefix, or NULL. */
static const char *link_url_after(const char *url, const char *prefix)
{
    const size_t n = strlen(prefix);
    return strncasecmp(url, prefix, n) == 0 ? url + n : NULL;
}

static const char *link_url_after_web_scheme(const char *url)
{
    const char *rest = link_url_after(url, "https://");
    return rest ? rest : link_url_after(url, "http://");
}

static bool is_host_char(unsigned char c)
{
    return isalnum(c) || c == '-' || c == '_' || c >= 0x80;
}

static bool link_url_is_port(const char *p, size_t n)
{
    if (n == 0)
        return true;
    if (*p != ':' || n < 2 || n > 6)
        return false;
    for (size_t i = 1; i < n; i++)
        if (!isdigit((unsigned char)p[i]))
            return false;
    return true;
}

static bool is_bracketed(const char *p, size_t n)
{
    const size_t inner = strspn(p + 1, "0123456789abcdefABCDEF:.");
    return inner >= 2 && inner + 2 <= n && p[inner + 1] == ']' &&
           link_url_is_port(p + inner + 2, n - inner - 2);
}

/* Accepts at least two non-empty labels, the last one with at least two characters. */
static bool link_url_is_dotted_host(const char *p, size_t n)
{
    size_t at = 0, label = 0, dots = 0;
    for (; at < n && p[at] != ':'; at++) {
        if (p[at] == '.' ? label == 0 : !is_host_char((unsigned char)p[at]))
            return false;
        dots += p[at] == '.';
        label = p[at] == '.' ? 0 : label + 1;
    }
    return dots > 0 && label > 0 && link_url_is_port(p + at, n - at);
}

static bool has_public_host(const char *rest)
{
    const size_t n = strcspn(rest, "/?#");
    return n > 0 && n < 256 &&
           (*rest == '[' ? is_bracketed(rest, n) : link_url_is_dotted_host(rest, n));
}

bool link_url_is_telegram_safe(const char *url)
{
    const char *rest = link_url_after_web_scheme(url);
    if (rest)
        return has_public_host(rest);
    rest = link_url_after(url, "tg://");
    if (rest)
        return *rest && !link_url_after(rest, "user");
    return link_url_after(url, "ton://") || link_url_after(url, "tonsite://");
}

bool link_url_is_web(const char *url)
{
    const char *rest = link_url_after_web_scheme(url);
    return rest && *rest;
}

bool link_url_is_web_or_mail(const char *url)
{
    return link_url_is_web(url) || link_url_after(url, "mailto:");
}

static bool link_url_is_text(const char *s, struct str label)
{
    return s && strlen(s) == label.len && memcmp(s, label.p, label.len) == 0;
}

bool link_url_equals_label(const char *url, struct str label)
{
    return link_url_is_text(url, label) ||
           link_url_is_text(link_url_after_web_scheme(url), label) ||
           link_url_is_text(link_url_after(url, "mailto:"), label);
}
