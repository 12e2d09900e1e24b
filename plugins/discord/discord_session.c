/* SPDX-License-Identifier: MIT
 * The gateway session, as it is on disk: a restarted host resumes it and misses no event. A JSON
 * object: id and url of the session, seq of the last event that was admitted, gap if messages of an
 * earlier time have to be read from the history, channels, see discord_history.c, and starts: the
 * number of sessions that were begun within a day, because Discord resets the token at 1000. */
#include <stdio.h>
#include <time.h>

#include "discord.h"

#define KEY "session"
#define DAY_S 86400

int discord_session_load(struct tc_instance *inst)
{
    struct discord *const s = inst->state;
    const char *const text = tc_load(inst, KEY);
    s->session = text ? json_loads(text, 0, NULL) : NULL;
    if (!s->session)
        s->session = json_object();
    s->seq = -1;
    return s->session ? 0 : -1;
}

void discord_session_store(struct tc_turn *lobby)
{
    const char *const text = tc_json(lobby, "o", json_incref(discord_state(lobby)->session));
    if (text)
        tc_store(lobby->inst, KEY, text);
}

void discord_session_begin(struct tc_turn *lobby, const json_t *ready)
{
    struct discord *const s = discord_state(lobby);
    const char *const user = discord_text(json_object_get(ready, "user"), "id");
    if (user)
        snprintf(s->user, sizeof s->user, "%s", user);
    json_object_set(s->session, "id", json_object_get(ready, "session_id"));
    json_object_set(s->session, "url", json_object_get(ready, "resume_gateway_url"));
    if (json_object_size(json_object_get(s->session, "channels")))
        json_object_set_new(s->session, "gap", json_true());
}

void discord_session_admit(struct tc_turn *lobby)
{
    const struct discord *const s = discord_state(lobby);
    if (s->seq >= 0 && json_array_size(s->queue) == 0)
        json_object_set_new(s->session, "seq", json_integer(s->seq));
}

int64_t discord_session_starts(struct tc_turn *lobby, int more)
{
    json_t *const session = discord_state(lobby)->session;
    const json_t *const starts = json_object_get(session, "starts");
    const json_int_t now = (json_int_t)time(NULL), since = discord_number(starts, "since");
    const bool of_today = now >= since && now - since < DAY_S;
    const json_int_t count = (of_today ? discord_number(starts, "count") : 0) + more;
    json_object_set_new(session, "starts",
                        json_pack("{s:I, s:I}", "since", of_today ? since : now, "count", count));
    discord_session_store(lobby);
    return count;
}

void discord_session_drop(struct tc_turn *lobby)
{
    struct discord *const s = discord_state(lobby);
    json_object_del(s->session, "id");
    json_object_del(s->session, "url");
    json_object_del(s->session, "seq");
    s->seq = -1;
    s->resumes = 0;
    discord_session_store(lobby);
}
