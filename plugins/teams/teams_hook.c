/* SPDX-License-Identifier: MIT
 * Requests of Teams to the route of the instance. The host has checked that the service signed
 * them; what the signature has to say about their content is checked here. */
#include <string.h>

#include "teams.h"

static bool hook_is_endorsed(const json_t *key, const char *channel)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(key, "endorsements"), i, one)
    {
        if (json_is_string(one) && strcmp(json_string_value(one), channel) == 0)
            return true;
    }
    return false;
}

/* Why the claims do not permit this activity, or NULL. */
static const char *hook_find_fault(const struct tc_turn *lobby, const json_t *claims,
                                   const json_t *key, const json_t *activity)
{
    const char *const channel = teams_text(activity, "channelId"),
                      *const service = teams_text(activity, "serviceUrl"),
                      *const claimed = teams_text(claims, "serviceurl");
    if (!channel || strcmp(channel, "msteams") != 0)
        return "the activity is not of the channel msteams";
    if (!hook_is_endorsed(key, channel))
        return "its key is not endorsed for the channel";
    if (!service || !claimed || strcmp(service, claimed) != 0)
        return "it is of another service (serviceurl)";
    if (!teams_url_is_service(lobby, service))
        return "the serviceUrl of the activity is not one of Microsoft Teams";
    return NULL;
}

int teams_hook_take(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer)
{
    json_t *const activity = json_loadb(hit->body, hit->body_len, JSON_REJECT_DUPLICATES, NULL);
    json_t *const claims = json_loads(hit->claims, JSON_REJECT_DUPLICATES, NULL);
    json_t *const key = json_loads(hit->key, 0, NULL);
    const char *const why = activity ? hook_find_fault(lobby, claims, key, activity) : NULL;
    if (strcmp(hit->method, "POST") != 0) {
        answer->status = 405;
    } else if (!activity) {
        answer->status = 400;
    } else if (why) {
        answer->status = 401;
        tc_log(lobby->inst, TC_WARN, "refused a request to the route /messages: the token: %s",
               why);
    } else {
        teams_activity_take(lobby, activity, answer);
    }
    json_decref(key);
    json_decref(claims);
    json_decref(activity);
    return 0;
}
