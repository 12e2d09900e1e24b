/* SPDX-License-Identifier: MIT
 * Whether a turn runs, as Slack shows it beside the messages: the status of an agent's session, or
 * of an assistant's thread, or a reaction to the question. */
#include <string.h>

#include "call.h"
#include "fault.h"
#include "pulse.h"
#include "route.h"
#include "slack.h"
#include "text.h"

#define END_MAX_AGE_MS (10 * 60 * 1000)

static const char reaction[] = "hourglass_flowing_sand";

static json_t *session_body(struct tc_turn *turn, enum status_now now)
{
    static const char *const words[] = {[STATUS_UNSET] = "active",
                                        [STATUS_PROCESSING] = "processing",
                                        [STATUS_SUSPENDED] = "suspended",
                                        [STATUS_ACTIVE] = "active"};
    const struct route *r = route_of(turn);
    json_t *body = json_pack("{s:s, s:s, s:s}", "channel_id", r->channel, "thread_ts", r->thread,
                             "status", words[now]);
    if (r->user)
        json_object_set_new(body, "initiator_user_id", json_string(r->user));
    return body;
}

static const char *thread_words(struct tc_turn *turn, enum status_now now)
{
    char elapsed[32];
    const int64_t ms = pulse_now() - cast_of(turn)->begin_ms;
    if (now == STATUS_SUSPENDED)
        return "is waiting for an answer\xe2\x80\xa6"; /* … */
    if (now != STATUS_PROCESSING)
        return "";
    text_elapsed(elapsed, ms);
    return ms < PULSE_BEAT_MS ? "is working\xe2\x80\xa6"
                              : tc_sprint(turn, "is working\xe2\x80\xa6 (%s)", elapsed);
}

static json_t *thread_body(struct tc_turn *turn, enum status_now now)
{
    const struct route *r = route_of(turn);
    return json_pack("{s:s, s:s, s:s}", "channel_id", r->channel, "thread_ts", r->thread, "status",
                     thread_words(turn, now));
}

static json_t *reaction_body(const char *channel, const char *ts, const char *name)
{
    return json_pack("{s:s, s:s, s:s}", "channel", channel, "timestamp", ts, "name", name);
}

static void status_send(struct tc_turn *turn, enum status_now now)
{
    const struct route *r = route_of(turn);
    const bool end = now == STATUS_ACTIVE;
    const struct slack_call how = {.tag = "status",
                                   .lane = tc_sprint(turn, "status:%s", r->lane),
                                   .priority = TC_P_LIVE,
                                   .key = "status", /* only the last one matters */
                                   .flags = TC_IDEMPOTENT,
                                   .max_age_ms = end ? END_MAX_AGE_MS : 0};
    switch (state_of(turn)->status_way) {
    case STATUS_SESSION:
        call_json(turn, SET_SESSION_STATUS, session_body(turn, now), &how);
        return;
    case STATUS_THREAD:
        call_json(turn, SET_THREAD_STATUS, thread_body(turn, now), &how);
        return;
    case STATUS_REACTION:
        if (r->ts)
            call_json(turn, end ? REMOVE_REACTION : ADD_REACTION,
                      reaction_body(r->channel, r->ts, reaction), &how);
        return;
    case STATUS_NONE:
        return;
    }
}

void status_set(struct tc_turn *turn, enum status_now now)
{
    struct status *s = &cast_of(turn)->status;
    if (!route_of(turn)->thread || s->now == now)
        return;
    s->now = now;
    status_send(turn, now);
}

void status_refresh(struct tc_turn *turn)
{
    const struct status *s = &cast_of(turn)->status;
    if (state_of(turn)->status_way == STATUS_THREAD && route_of(turn)->thread &&
        (s->now == STATUS_PROCESSING || s->now == STATUS_SUSPENDED))
        status_send(turn, s->now);
}

/* If a way to show the status has never worked, all turns use the next one. */
static void try_next_way(struct tc_turn *turn, const struct fault *f)
{
    struct slack_state *s = state_of(turn);
    if (s->status_way == STATUS_NONE || s->status_proven)
        return;
    s->status_way++;
    tc_log(turn->inst, TC_INFO, "cannot show the thread status: %s; using a fallback", f->error);
    status_send(turn, cast_of(turn)->status.now);
}

/* The way this request was made, which others may have left meanwhile. */
static enum status_way way_of(const struct tc_reply *r)
{
    if (strstr(r->http->url, "agents.sessions"))
        return STATUS_SESSION;
    return strstr(r->http->url, "assistant.threads") ? STATUS_THREAD : STATUS_REACTION;
}

int status_on_set(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    struct slack_state *s = state_of(turn);
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    fault_judge(turn, &f, r, true, v);
    if (!fault_is_end(v) || f.kind == FAULT_DROPPED || f.kind == FAULT_DOUBT)
        return 0;
    if (f.kind == FAULT_NONE)
        s->status_proven |= way_of(r) == s->status_way;
    else if (way_of(r) == s->status_way)
        try_next_way(turn, &f);
    else
        status_send(turn, cast_of(turn)->status.now);
    return 0;
}

bool status_react(struct tc_turn *lobby, const char *channel, const char *ts, const char *name)
{
    if (state_of(lobby)->off.reaction)
        return false;
    const struct slack_call how = {.tag = "react",
                                   .lane = tc_sprint(lobby, "react:%s:%s", channel, ts),
                                   .priority = TC_P_NOTICE,
                                   .flags = TC_IDEMPOTENT,
                                   .max_age_ms = 60000};
    call_json(lobby, ADD_REACTION, reaction_body(channel, ts, name), &how);
    return true;
}

int status_on_react(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v)
{
    struct slack_state *s = state_of(lobby);
    FAULT_CLEANUP struct fault f = fault_read(lobby, r);
    fault_judge(lobby, &f, r, true, v);
    if (f.kind != FAULT_SCOPE || s->off.reaction)
        return 0;
    s->off.reaction = true;
    tc_log(lobby->inst, TC_INFO, "cannot add reactions: %s (scope reactions:write?)", f.error);
    return 0;
}
