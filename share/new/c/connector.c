/* SPDX-License-Identifier: MIT
 * The connector @NAME@: posts answers to a service, and takes messages from the service's webhook.
 * turncast-plugin(3) describes all callbacks and services. */
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include <turncast/plugin.h>

struct conf {
    const char *url, *token, *secret, *chat;
};
static const struct tc_option options[] = {
    TC_OPTION(struct conf, url, NULL, TC_REQUIRED, "where answers are posted"),
    TC_OPTION(struct conf, token, NULL, TC_SECRET, "bearer token for the service"),
    TC_OPTION(struct conf, secret, NULL, TC_SECRET, "X-Secret of the service's requests"),
    TC_OPTION(struct conf, chat, NULL, 0, "chat for turns that began elsewhere"),
    {0},
};
static const struct tc_rate rates[] = {{.count = 5, .burst = 5, .interval_ms = 1000}, {0}};

/* ---- out ---- */

/* Durable: kept on disk until the service has accepted it, across outages and restarts. */
static int post(struct tc_turn *turn, const char *text)
{
    const struct conf *conf = turn->inst->conf;
    const struct tc_header bearer = {"Authorization", "Bearer {option:token}"};
    const char *chat = turn->route ? tc_json_get(turn, turn->route, "/chat") : conf->chat;
    if (!chat)
        return 0;
    const char *body = tc_json(turn, "{s:s, s:s, s:s}", "id", turn->id, "chat", chat, "text", text);
    if (!body)
        return -1;
    return tc_http(turn, TC_HTTP(.url = "{option:url}", .headers = &bearer,
                                 .header_count = conf->token ? 1 : 0, .body = body, .lane = chat,
                                 .rates = 1, .flags = TC_DURABLE));
}

static int on_final(struct tc_turn *turn, const struct tc_final *ev)
{
    return post(turn, ev->text);
}

static int on_error(struct tc_turn *turn, const struct tc_error *ev)
{
    return post(turn, ev->message);
}

/* ---- in ---- */

static bool is_from_service(const struct conf *conf, const struct tc_hit *hit)
{
    for (size_t i = 0; conf->secret && i < hit->header_count; i++)
        if (strcasecmp(hit->headers[i].name, "X-Secret") == 0)
            return strcmp(hit->headers[i].value, conf->secret) == 0;
    return false;
}

/* The service posts {"id", "chat", "user", "text"} to /hooks/@NAME@/message. */
static int on_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer)
{
    struct tc_receipt receipt;
    if (!is_from_service(lobby->inst->conf, hit)) {
        answer->status = 403;
        return 0;
    }
    const char *id = tc_json_get(lobby, hit->body, "/id");
    const char *chat = tc_json_get(lobby, hit->body, "/chat");
    const char *user = tc_json_get(lobby, hit->body, "/user");
    const char *text = tc_json_get(lobby, hit->body, "/text");
    if (!id || !chat || !user || !text) {
        answer->status = 400;
        return 0;
    }
    const enum tc_accepted accepted =
        tc_submit(lobby,
                  TC_INBOUND(.id = id, .chat = chat, .user = user, .text = text,
                             .route = tc_json(lobby, "{s:s}", "chat", chat)),
                  &receipt);
    /* what is not on disk is delivered again by the service */
    answer->status = accepted == TC_NOT_KEPT ? 503 : 200;
    answer->body = receipt.answer;
    return 0;
}

static int init(struct tc_instance *inst)
{
    const struct conf *conf = inst->conf;
    return conf->secret ? tc_route(inst, "/message") : 0;
}

TURNCAST_PLUGIN(.name = "@NAME@", .version = "0.1", .summary = "answers and messages of a service",
                .flags = TC_DELIVERS, .conf_size = sizeof(struct conf), .options = options,
                .init = init, .rates = rates,
                .sink = TC_SINK(.on_final = on_final, .on_error = on_error, .on_hit = on_hit));
