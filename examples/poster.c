/* SPDX-License-Identifier: MIT
 * Posts each answer, or why there is none, to an address; no outage and no restart loses one. What
 * comes twice, after a crash, has the same turn. */
#include <turncast/plugin.h>

struct conf {
    const char *url, *token;
};
static const struct tc_option options[] = {
    TC_OPTION(struct conf, url, NULL, TC_REQUIRED | TC_SECRET, "where to post"),
    TC_OPTION(struct conf, token, NULL, TC_SECRET, "bearer token"),
    {0},
};
static const struct tc_rate rates[] = {{.count = 5, .burst = 5, .interval_ms = 1000}, {0}};

static int post(struct tc_turn *turn, const char *kind, const char *text)
{
    const struct conf *conf = turn->inst->conf;
    const struct tc_header bearer = {"Authorization", "Bearer {option:token}"};
    const char *body =
        tc_json(turn, "{s:s, s:s, s:s}", "turn", turn->id, "kind", kind, "text", text);
    if (!body)
        return -1;
    return tc_http(turn, TC_HTTP(.url = "{option:url}", .headers = &bearer,
                                 .header_count = conf->token ? 1 : 0, .body = body, .lane = "hook",
                                 .rates = 1, .flags = TC_DURABLE | TC_IDEMPOTENT));
}

static int on_final(struct tc_turn *turn, const struct tc_final *ev)
{
    return post(turn, "final", ev->text);
}

static int on_error(struct tc_turn *turn, const struct tc_error *ev)
{
    return post(turn, "error", ev->message);
}

TURNCAST_PLUGIN(.name = "poster", .version = "1.0", .summary = "answers to an address",
                .flags = TC_DELIVERS, .conf_size = sizeof(struct conf), .options = options,
                .rates = rates, .sink = TC_SINK(.on_final = on_final, .on_error = on_error));
