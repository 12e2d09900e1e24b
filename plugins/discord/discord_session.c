/* SPDX-License-Identifier: MIT
 * The gateway session, as it is on disk: a restarted host resumes it and misses no event. A JSON
 * object: id and url of the session, seq of the last event that was admitted, gap if messages of an
 * earlier time have to be read from the history, and channels, see discord_history.c. Beside it the
 * number of sessions that were begun on a day: at 1000 Discord resets the token. */
#include <stdlib.h>
#include <time.h>

#include "discord.h"

#define KEY "session"
#define STARTS "starts"
#define DAY_S 86400

int discord_session_load(struct tc_instance *inst)
{
    struct discord *const s = inst->state;
    const char *const text = tc_load(inst, KEY);
    s->session = text ? json_loads(text, 0, NULL) : NULL;
    if (!json_is_object(s->session)) {
        json_decref(s->session);
        s->session = json_object();
    }
    const json_t *const seq = json_object_get(s->session, "seq");
    s->seq = json_is_integer(seq) ? json_integer_value(seq) : -1;
    return s->session ? 0 : -1;
}

void discord_session_store(struct tc_turn *lobby)
{
    struct discord *const s = discord_state(lobby);
    char *const text = s->is_changed ? json_dumps(s->session, JSON_COMPACT) : NULL;
    if (text)
        tc_store(lobby->inst, KEY, text);
    s->is_changed = false;
    free(text);
}

bool discord_session_exists(const struct tc_turn *lobby)
{
    return discord_text(discord_state(lobby)->session, "id") != NULL;
}

void discord_session_begin(struct tc_turn *lobby, const json_t *ready)
{
    struct discord *const s = discord_state(lobby);
    json_object_set(s->session, "id", json_object_get(ready, "session_id"));
    json_object_set(s->session, "url", json_object_get(ready, "resume_gateway_url"));
    if (json_object_size(json_object_get(s->session, "channels")))
        json_object_set_new(s->session, "gap", json_true());
    s->is_changed = true;
}

void discord_session_admit(struct tc_turn *lobby)
{
    struct discord *const s = discord_state(lobby);
    if (s->seq < 0 || json_array_size(s->queue) ||
        json_integer_value(json_object_get(s->session, "seq")) == s->seq)
        return;
    json_object_set_new(s->session, "seq", json_integer(s->seq));
    s->is_changed = true;
}

/* ---- sessions of a day ---- */

static json_t *starts_load(struct tc_instance *inst)
{
    const char *const text = tc_load(inst, STARTS);
    json_t *const starts = text ? json_loads(text, 0, NULL) : NULL;
    const json_int_t age =
        (json_int_t)time(NULL) - json_integer_value(json_object_get(starts, "since"));
    if (age >= 0 && age < DAY_S)
        return starts;
    json_decref(starts);
    return json_pack("{s:I, s:i}", "since", (json_int_t)time(NULL), "count", 0);
}

int64_t discord_session_starts(const struct tc_turn *lobby)
{
    json_t *const starts = starts_load(lobby->inst);
    const int64_t count = json_integer_value(json_object_get(starts, "count"));
    json_decref(starts);
    return count;
}

void discord_session_count_start(struct tc_turn *lobby)
{
    json_t *const starts = starts_load(lobby->inst);
    const json_int_t count = json_integer_value(json_object_get(starts, "count"));
    json_object_set_new(starts, "count", json_integer(count + 1));
    const char *const text = tc_json(lobby, "o", starts);
    if (text)
        tc_store(lobby->inst, STARTS, text);
}

/* ---- the end of a session ---- */

void discord_session_drop(struct tc_turn *lobby)
{
    struct discord *const s = discord_state(lobby);
    json_object_del(s->session, "id");
    json_object_del(s->session, "url");
    json_object_del(s->session, "seq");
    s->seq = -1;
    s->resumes = 0;
    s->is_changed = true;
    discord_session_store(lobby);
}
