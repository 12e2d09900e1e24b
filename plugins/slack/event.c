/* SPDX-License-Identifier: MIT
 * Events of Slack: messages of people, and presses of buttons. Whether an event came over Socket
 * Mode or over a route only matters for its acknowledgement. */
#include <string.h>

#include "decide.h"
#include "event.h"
#include "inbound.h"
#include "message.h"
#include "route.h"
#include "slack.h"

static const char *event_text_at(const json_t *json, const char *key)
{
    return json_string_value(json_object_get(json, key));
}

/* A person stops the turn; the host says whether that person may. */
static void cancel(struct tc_turn *lobby, const char *turn, const char *user, const char *channel,
                   const char *thread)
{
    struct tc_receipt receipt = {0};
    const enum tc_accepted done = tc_cancel(lobby, turn, user, &receipt);
    if (done != TC_COMMAND || !channel)
        return;
    const struct route to = {
        .channel = channel, .thread = thread, .lane = route_lane(lobby, channel, thread)};
    message_tell(lobby, &to, receipt.answer);
}

/* The Stop button that Slack itself shows while a session is processing. */
static void session_stopped(struct tc_turn *lobby, const json_t *payload)
{
    const json_t *event = json_object_get(payload, "event");
    const char *id = event_text_at(payload, "event_id");
    const char *channel = event_text_at(event, "channel"),
               *thread = event_text_at(event, "thread_ts"), *user = event_text_at(event, "user");
    /* A second stop kills the turn: it must not be the same one. */
    if (!channel || !thread || !user || (id && fetch_seen(lobby, id)))
        return;
    const char *turn = talk_turn(&state_of(lobby)->talks, route_lane(lobby, channel, thread));
    if (turn)
        cancel(lobby, turn, user, channel, thread);
}

enum event_taken event_take(struct tc_turn *lobby, const json_t *payload,
                            const struct event_source *source)
{
    const json_t *event = json_object_get(payload, "event");
    const char *outer = event_text_at(payload, "type"), *type = event_text_at(event, "type");
    if (outer && strcmp(outer, "app_rate_limited") == 0)
        tc_log(lobby->inst, TC_WARN,
               "app_rate_limited: Slack is dropping events (more than 30000 per hour)");
    if (!type)
        return EVENT_TAKEN;
    if (strcmp(type, "message") == 0 || strcmp(type, "app_mention") == 0)
        return inbound_take(lobby, payload, source);
    if (strcmp(type, "agent_session_stopped") == 0)
        session_stopped(lobby, payload);
    return EVENT_TAKEN;
}

/* Delivered again it is the same press: the time of an action is its own. */
static void press_stop(struct tc_turn *lobby, const json_t *action, const char *turn,
                       const struct route *at)
{
    const char *when = event_text_at(action, "action_ts");
    const char *key = when ? tc_sprint(lobby, "stop:%s:%s", when, at->user) : NULL;
    if (!key || !fetch_seen(lobby, key))
        cancel(lobby, turn, at->user, at->channel, at->thread);
}

/* The button does not exist in any message of this instance, so the press is forged. */
static void tell_forged(struct tc_turn *lobby, const char *user)
{
    if (!state_of(lobby)->forged)
        tc_log(lobby->inst, TC_WARN,
               "ignored a button press from user %.40s: the button was not created by this "
               "instance; further ones are not logged",
               user);
    state_of(lobby)->forged = true;
}

void event_take_action(struct tc_turn *lobby, const json_t *payload)
{
    const json_t *container = json_object_get(payload, "container");
    const char *type = event_text_at(payload, "type"),
               *user = event_text_at(json_object_get(payload, "user"), "id"),
               *channel = event_text_at(json_object_get(payload, "channel"), "id"),
               *thread = event_text_at(container, "thread_ts");
    size_t i;
    const json_t *action;
    if (!type || strcmp(type, "block_actions") != 0 || !user)
        return;
    json_array_foreach(json_object_get(payload, "actions"), i, action)
    {
        const char *id = event_text_at(action, "action_id"), *turn = event_text_at(action, "value");
        if (id && turn && strcmp(id, "turncast_stop") == 0)
            press_stop(lobby, action, turn, &(struct route){channel, thread, .user = user});
        else if (!decide_press(lobby, payload, action))
            tell_forged(lobby, user);
    }
}
