/* SPDX-License-Identifier: MIT
 * Where a turn is shown: the thread of the question, fixed as the question came in. */
#include "route.h"

static const char *part(struct tc_turn *turn, const json_t *json, const char *key)
{
    const char *value = json_string_value(json_object_get(json, key));
    return value && *value ? tc_keep(turn, value) : NULL;
}

const char *route_lane(struct tc_turn *turn, const char *channel, const char *thread)
{
    return tc_sprint(turn, "%s:%s", channel, thread ? thread : "");
}

json_t *route_pack(const char *channel, const char *thread, const char *ts, const char *user,
                   const char *team)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "channel", channel, "thread", thread, "ts", ts,
                     "user", user, "team", team ? team : "");
}

const struct route *route_of(struct tc_turn *turn)
{
    struct route *r = &cast_of(turn)->route;
    const struct slack_conf *conf = turn->inst->conf;
    if (r->channel)
        return r;
    json_auto_t *json = turn->route ? json_loads(turn->route, 0, NULL) : NULL;
    *r = (struct route){.channel = json ? part(turn, json, "channel") : conf->channel,
                        .thread = part(turn, json, "thread"),
                        .ts = part(turn, json, "ts"),
                        .user = part(turn, json, "user"),
                        .team = part(turn, json, "team")};
    if (r->channel)
        r->lane = tc_keep(turn, route_lane(turn, r->channel, r->thread));
    return r;
}
