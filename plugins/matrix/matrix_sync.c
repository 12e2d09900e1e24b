/* SPDX-License-Identifier: MIT
 * Receiving: /sync in long polls. The token of a sync is kept when all of its events are on disk. A
 * poll takes several requests when a timeline is limited, whose rest is read page by page, and when
 * a message has a file. The state between them is the cursor of the step, a JSON object:
 * since, the token of the poll, and either next, rooms and from (pages), or room and event (a
 * file). */
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

#define POLL_MS 30000
#define FIRST_TIMEOUT_MS 120000 /* the first sync of a large account takes a homeserver long */
#define TRIES_MAX 3
#define PAGE "100"

#define TYPES "\"types\":[\"m.room.message\",\"m.reaction\",\"m.room.encrypted\",\"m.room.member\"]"

/* Filter: excludes unused data and presence. */
static const char filter[] =
    "{\"presence\":{\"types\":[]},\"account_data\":{\"types\":[]},\"room\":{"
    "\"account_data\":{\"types\":[]},\"ephemeral\":{\"types\":[]},"
    "\"state\":{\"types\":[\"m.room.member\"],\"lazy_load_members\":true},"
    "\"timeline\":{\"limit\":50," TYPES "}}}";
static const char page_filter[] = "{" TYPES "}";

/* ---- requests ---- */

static json_t *step_of(const struct tc_op *op)
{
    return op->step > 0 && op->cursor ? json_loads(op->cursor, 0, NULL) : NULL;
}

static const char *page_url(struct tc_turn *lobby, const json_t *step)
{
    const char *const room = json_string_value(json_array_get(json_object_get(step, "rooms"), 0));
    return tc_sprint(
        lobby, MATRIX_CLIENT "/rooms/%s/messages?dir=f&limit=" PAGE "&from=%s&to=%s&filter=%s",
        tc_quote(lobby, room ? room : ""), tc_quote(lobby, tc_member_text(step, "from")),
        tc_quote(lobby, tc_member_text(step, "next")), tc_quote(lobby, page_filter));
}

int matrix_sync_request(struct tc_turn *lobby, const struct tc_op *op, struct tc_http *http)
{
    json_t *const step = step_of(op);
    const bool first = !op->cursor || !*op->cursor;
    http->method = "GET";
    if (step) {
        http->url = page_url(lobby, step);
    } else if (first) {
        http->url =
            tc_sprint(lobby, MATRIX_CLIENT "/sync?timeout=0&filter=%s", tc_quote(lobby, filter));
        http->timeout_ms = FIRST_TIMEOUT_MS;
    } else {
        http->url = tc_sprint(lobby, MATRIX_CLIENT "/sync?timeout=%d&since=%s&filter=%s", POLL_MS,
                              tc_quote(lobby, op->cursor), tc_quote(lobby, filter));
    }
    json_decref(step);
    return http->url ? 0 : -1;
}

/* ---- results ---- */

static void poll_again(struct tc_turn *lobby, struct tc_result *result, const char *since)
{
    result->kind = TC_RESULT_DONE;
    result->cursor = tc_sprint(lobby, "%s", since);
}

static void matrix_sync_next_step(struct tc_turn *lobby, struct tc_result *result, json_t *step)
{
    char *const text = json_dumps(step, JSON_COMPACT);
    result->kind = TC_RESULT_NEXT_STEP;
    result->cursor = text ? tc_sprint(lobby, "%s", text) : NULL;
    free(text);
    json_decref(step);
}

/* ---- events ---- */

/* Passes on events, starting at `from`. False: `result` is the next step. */
static bool matrix_sync_handle_events(struct tc_turn *lobby, const char *since, const char *room,
                                      const json_t *events, size_t from, struct tc_result *result)
{
    for (size_t i = from; i < json_array_size(events); i++)
        if (!matrix_event_handle(lobby, room, json_array_get(events, i))) {
            poll_again(lobby, result, since);
            return false;
        }
    return true;
}

static bool is_membership(const json_t *event, const char *user, const char *membership)
{
    const char *const type = tc_member_text(event, "type");
    const char *const of = tc_member_text(event, "state_key");
    const char *const is = tc_member_text(json_object_get(event, "content"), "membership");
    return type && of && is && strcmp(type, "m.room.member") == 0 && strcmp(of, user) == 0 &&
           strcmp(is, membership) == 0;
}

/* A change of one's own name is a membership event, too. */
static bool is_new_member(const json_t *event, const char *user)
{
    const json_t *const before =
        json_object_get(json_object_get(event, "unsigned"), "prev_content");
    const char *const was = tc_member_text(before, "membership");
    return is_membership(event, user, "join") && !(was && strcmp(was, "join") == 0);
}

/* The timeline of a newly joined room begins long before. Messages after the invitation count.
 * *joined: the room was just joined. */
static size_t first_event(const json_t *events, const char *user, bool *joined)
{
    size_t first = 0, i;
    bool invited = false;
    const json_t *event;
    *joined = false;
    json_array_foreach(events, i, event)
    {
        *joined |= is_new_member(event, user);
        if (is_membership(event, user, "invite"))
            invited = true;
        else if (!is_new_member(event, user) || invited)
            continue;
        first = i + 1;
    }
    return *joined ? first : 0;
}

static void matrix_sync_handle_invites(struct tc_turn *lobby, const json_t *rooms)
{
    const char *room;
    json_t *invite;
    json_object_foreach(json_object_get(rooms, "invite"), room, invite)
        matrix_room_handle_invite(lobby, room, invite);
}

/* ---- replies ---- */

static void read_first(struct tc_turn *lobby, const json_t *rooms)
{
    const char *room;
    json_t *joined;
    json_object_foreach(json_object_get(rooms, "join"), room, joined)
        matrix_room_record(lobby, room, joined);
    matrix_sync_handle_invites(lobby, rooms);
}

static void read_rooms(struct tc_turn *lobby, const char *since, const char *next,
                       const json_t *rooms, struct tc_result *result)
{
    const struct matrix_conf *const conf = lobby->inst->conf;
    json_t *const gaps = json_array(), *joined;
    const char *room;
    bool all = true;
    matrix_sync_handle_invites(lobby, rooms);
    json_object_foreach(json_object_get(rooms, "join"), room, joined)
    {
        const json_t *const timeline = json_object_get(joined, "timeline");
        const json_t *const events = json_object_get(timeline, "events");
        bool fresh;
        const size_t first = first_event(events, conf->user, &fresh);
        matrix_room_record(lobby, room, joined);
        if (json_is_true(json_object_get(timeline, "limited")) && !fresh)
            json_array_append_new(gaps, json_string(room));
        else if (all)
            all = matrix_sync_handle_events(lobby, since, room, events, first, result);
    }
    if (all && json_array_size(gaps))
        matrix_sync_next_step(lobby, result,
                              json_pack("{s:s, s:s, s:O, s:s}", "since", since, "next", next,
                                        "rooms", gaps, "from", since));
    else if (all)
        poll_again(lobby, result, next);
    json_decref(gaps);
}

/* An unavailable page must not block all other messages for ever. False: it is tried again, or was
 * read. */
static bool matrix_sync_is_abandoned(struct tc_turn *lobby, const struct tc_result *result)
{
    struct matrix *const s = lobby->inst->state;
    const enum tc_result_kind kind = result->kind;
    const bool waits = kind == TC_RESULT_RETRY || kind == TC_RESULT_IN_DOUBT;
    if (kind == TC_RESULT_UNAUTHORIZED || (waits && ++s->tries < TRIES_MAX))
        return false;
    s->tries = 0;
    return kind != TC_RESULT_DONE;
}

/* The rest of a limited timeline, in chronological order. */
static void read_page(struct tc_turn *lobby, json_t *step, const json_t *body,
                      struct tc_result *result)
{
    const char *const since = tc_member_text(step, "since");
    json_t *const rooms = json_object_get(step, "rooms");
    const json_t *const chunk = json_object_get(body, "chunk");
    const char *const end = tc_member_text(body, "end");
    if (matrix_sync_is_abandoned(lobby, result))
        tc_log(lobby->inst, TC_WARN, "messages of room %s are lost: cannot read its history: %s",
               json_string_value(json_array_get(rooms, 0)), result->reason);
    else if (result->kind != TC_RESULT_DONE)
        return;
    if (!matrix_sync_handle_events(lobby, since, json_string_value(json_array_get(rooms, 0)), chunk,
                                   0, result))
        return;
    /* A page may be empty although others follow. */
    const bool more = end && strcmp(end, tc_member_text(step, "from")) != 0;
    if (!more)
        json_array_remove(rooms, 0);
    json_object_set_new(step, "from", json_string(more ? end : since));
    if (json_array_size(rooms))
        matrix_sync_next_step(lobby, result, json_incref(step));
    else
        poll_again(lobby, result, tc_member_text(step, "next"));
}

/* A reinstalled homeserver rejects its old tokens. */
static void matrix_sync_discard_token(struct tc_turn *lobby, const struct tc_reply *reply,
                                      struct tc_result *result)
{
    tc_log(lobby->inst, TC_WARN,
           "the homeserver rejected the sync token (%s); messages since the last sync are lost",
           result->reason ? result->reason : reply->error);
    poll_again(lobby, result, "");
}

void matrix_sync_read(struct tc_turn *lobby, const struct tc_op *op, const struct tc_reply *reply,
                      struct tc_result *result)
{
    json_t *const step = step_of(op);
    json_t *const body = json_loadb(reply->body, reply->body_len, JSON_ALLOW_NUL, NULL);
    const char *const next = tc_member_text(body, "next_batch");
    const json_t *const rooms = json_object_get(body, "rooms");
    if (step)
        read_page(lobby, step, body, result);
    else if (result->kind != TC_RESULT_DONE && reply->status == 400 && op->cursor && *op->cursor)
        matrix_sync_discard_token(lobby, reply, result);
    else if (result->kind == TC_RESULT_DONE && !next)
        result->kind = TC_RESULT_RETRY;
    else if (result->kind == TC_RESULT_DONE && op->cursor && *op->cursor)
        read_rooms(lobby, op->cursor, next, rooms, result);
    else if (result->kind == TC_RESULT_DONE) {
        read_first(lobby, rooms);
        poll_again(lobby, result, next);
    }
    json_decref(step);
    json_decref(body);
}
