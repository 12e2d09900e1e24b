/* SPDX-License-Identifier: MIT
 * Decides which services get the token, and builds URLs of conversations. */
#include <string.h>
#include <strings.h>

#include "teams.h"

static const char https[] = "https://";

/* Length without trailing slashes. */
static size_t url_trimmed(const char *url)
{
    size_t n = strlen(url);
    while (n > 0 && url[n - 1] == '/')
        n--;
    return n;
}

/* Whether the URL is that of the option service_url, or below it. */
static bool url_is_own(const struct tc_turn *turn, const char *url)
{
    const char *const own = teams_conf(turn)->service_url;
    const size_t n = url_trimmed(own);
    return strncmp(url, own, n) == 0 && (!url[n] || url[n] == '/');
}

static bool url_has_host_of_teams(const char *url)
{
    static const char exact[] = "smba.trafficmanager.net", below[] = ".botframework.com";
    if (strncasecmp(url, https, strlen(https)) != 0)
        return false;
    const char *const host = url + strlen(https);
    const size_t n = strcspn(host, "/?#\\@:");
    if (host[n] && host[n] != '/')
        return false;
    return (n == strlen(exact) && strncasecmp(host, exact, n) == 0) ||
           (n > strlen(below) && strncasecmp(host + n - strlen(below), below, strlen(below)) == 0);
}

bool teams_url_is_service(const struct tc_turn *turn, const char *url)
{
    return url_is_own(turn, url) || url_has_host_of_teams(url);
}

/* In the form for tc_http: a service on loopback may use http:. */
static const char *url_below_service(struct tc_turn *turn, const char *url)
{
    const size_t n = url_trimmed(teams_conf(turn)->service_url);
    if (url_is_own(turn, url))
        return tc_sprint(turn, "{option:service_url}%s", url + n);
    return tc_sprint(turn, "%s", url);
}

const char *teams_url_of_file(struct tc_turn *turn, const char *url)
{
    const bool good = url_is_own(turn, url) || strncasecmp(url, https, strlen(https)) == 0;
    return good ? url_below_service(turn, url) : NULL;
}

const char *teams_url(struct tc_turn *turn, const struct tc_op *op, const char *id)
{
    const struct tc_target *const to = op->target;
    const char *const given = to->more ? tc_json_get(turn, to->more, "/service") : NULL;
    const char *const service = given ? given : teams_conf(turn)->service_url;
    const bool threaded = to->thread && !(op->omit & TC_OMIT_THREAD);
    if (!teams_url_is_service(turn, service))
        return NULL;
    const char *const base = tc_sprint(turn, "%.*s", (int)url_trimmed(service), service);
    const char *const chat =
        threaded ? tc_sprint(turn, "%s;messageid=%s", to->chat, to->thread) : to->chat;
    return tc_sprint(turn, "%s/v3/conversations/%s/activities%s%s", url_below_service(turn, base),
                     tc_quote(turn, chat), id ? "/" : "", id ? tc_quote(turn, id) : "");
}
