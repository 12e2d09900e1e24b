/* SPDX-License-Identifier: MIT
 * Decides which services get the token, and builds URLs of conversations. */
#include <string.h>

#include "teams.h"

#define SERVICES "smba.trafficmanager.net .botframework.com"

bool teams_url_is_service(struct tc_turn *turn, const char *url)
{
    return tc_url_at(turn, url, "service_url", SERVICES) != NULL;
}

const char *teams_url_of_file(struct tc_turn *turn, const char *url)
{
    return tc_url_at(turn, url, "service_url", "*");
}

/* Length without trailing slashes. */
static size_t url_trimmed(const char *url)
{
    size_t n = strlen(url);
    while (n > 0 && url[n - 1] == '/')
        n--;
    return n;
}

const char *teams_url(struct tc_turn *turn, const struct tc_op *op, const char *id)
{
    const struct tc_target *const to = op->target;
    const char *const given = to->more ? tc_json_get(turn, to->more, "/service") : NULL;
    const char *const service = given ? given : teams_conf(turn)->service_url;
    const char *const base = tc_url_at(turn, service, "service_url", SERVICES);
    const bool threaded = to->thread && !(op->omit & TC_OMIT_THREAD);
    if (!base)
        return NULL;
    const char *const chat =
        threaded ? tc_sprint(turn, "%s;messageid=%s", to->chat, to->thread) : to->chat;
    return tc_sprint(turn, "%.*s/v3/conversations/%s/activities%s%s", (int)url_trimmed(base), base,
                     tc_quote(turn, chat), id ? "/" : "", id ? tc_quote(turn, id) : "");
}
