/* SPDX-License-Identifier: MIT
 * Messages that were sent during an interruption of the event feed (a gap, see tc_feed_ready): they
 * are read from the service's history of the chats in which the bot was addressed most recently.
 * Owns, for each of these chats, the id of the newest processed message; the most recently used
 * chat is the last one. All of this is stored on disk. A gap is closed when every message of it is
 * on disk, so that an interrupted history is read again. Runs on the thread of the instance. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/log.h"
#include "chat/chat_internal.h"
#include "chat/operation/chat_target.h"

#define GAP_KEY "chat.gap"
#define GAP_CHATS_MAX 50

void chat_gap_free(struct chat *c)
{
    json_decref(c->gap.chats);
    json_decref(c->gap.asked);
}

void chat_gap_begin(struct chat *c)
{
    chat_gap_free(c); /* an instance may begin more than once */
    const char *const text = tc_load(c->inst, GAP_KEY);
    json_t *const stored = text ? json_loads(text, 0, NULL) : NULL;
    json_t *const chats = json_object_get(stored, "chats");
    c->gap.chats = json_is_object(chats) ? json_incref(chats) : json_object();
    c->gap.is_open = json_is_true(json_object_get(stored, "open"));
    c->gap.asked = json_object();
    json_decref(stored);
}

static void gap_store(struct chat *c)
{
    const char *const text =
        tc_json(c->inst->lobby, "{s:b, s:O}", "open", (int)c->gap.is_open, "chats", c->gap.chats);
    if (text)
        tc_store(c->inst, GAP_KEY, text);
}

/* ---- which messages were taken ---- */

/* Compares ids, which are increasing numbers, or increasing times with the same number of
 * digits. */
static bool chat_gap_is_later_id(const char *id, const char *than)
{
    const size_t a = strlen(id), b = strlen(than);
    return a != b ? a > b : strcmp(id, than) > 0;
}

/* thread NULL: the chat itself. */
static void gap_record_place(struct chat *c, const struct tc_target *to, const char *thread)
{
    json_t *const chats = c->gap.chats;
    const struct tc_target place = {
        .chat = to->chat, .thread = thread, .more = to->more, .group = to->group};
    const char *const key =
        arena_sprintf(&c->scratch, "%s%s%s", to->chat, thread ? ":" : "", thread ? thread : "");
    const char *const last =
        json_string_value(json_object_get(json_object_get(chats, key), "last"));
    if (last && !chat_gap_is_later_id(to->message, last))
        return;
    json_object_del(chats, key);
    if (json_object_size(chats) >= GAP_CHATS_MAX)
        json_object_del(chats, json_object_iter_key(json_object_iter(chats)));
    json_object_set_new(
        chats, key,
        json_pack("{s:s, s:o}", "last", to->message, "to", chat_target_to_json(&place)));
}

/* A message that begins a thread belongs to the history of the chat, not of the thread. */
void chat_gap_record_message(struct chat *c, const struct tc_chat_message *m)
{
    const bool begins = m->topic && m->target.message && strcmp(m->topic, m->target.message) == 0;
    if (!c->table.feed || !c->table.feed->page || !m->target.message)
        return;
    if (m->topic)
        gap_record_place(c, &m->target, m->topic);
    if (!m->topic || begins)
        gap_record_place(c, &m->target, NULL);
    gap_store(c);
}

/* ---- reading ---- */

static void gap_request_page(struct chat *c, const char *key, const char *after)
{
    const json_t *const one = json_object_get(c->gap.chats, key);
    const struct tc_target where = chat_target_from_json(json_object_get(one, "to"));
    if (where.chat && c->table.feed->page(c->inst->lobby, &where, after, key) == 0)
        json_object_set_new(c->gap.asked, key, json_true());
}

void chat_gap_read(struct chat *c, bool gap)
{
    struct chat_gap *const g = &c->gap;
    const char *key;
    json_t *one;
    if (!c->table.feed->page || (!gap && !g->is_open) || json_object_size(g->asked))
        return;
    g->is_open = g->is_reading = json_object_size(g->chats) > 0;
    json_object_foreach(g->chats, key, one)
        gap_request_page(c, key, json_string_value(json_object_get(one, "last")));
    if (g->is_open)
        gap_store(c);
}

void chat_gap_stop(struct chat *c)
{
    c->gap.is_reading = false;
    json_object_clear(c->gap.asked);
}

void chat_gap_end(struct chat *c)
{
    struct chat_gap *const g = &c->gap;
    if (!g->is_reading || json_object_size(g->asked))
        return;
    g->is_reading = g->is_open = false;
    gap_store(c);
}

/* False: an event was not stored. The gap stays open, and its messages are read again. */
static bool gap_add(struct chat *c, const char *key, const char *events)
{
    json_t *const where = json_incref(json_object_get(json_object_get(c->gap.chats, key), "to"));
    json_t *const list = events ? json_loads(events, 0, NULL) : NULL;
    bool is_kept = true;
    for (size_t i = 0; is_kept && i < json_array_size(list); i++) {
        char *const event = json_dumps(json_array_get(list, i), JSON_COMPACT | JSON_ENCODE_ANY);
        is_kept = chat_feed_add_of(c, event, where, NULL);
        free(event);
    }
    json_decref(list);
    json_decref(where);
    return is_kept;
}

void chat_gap_handle_page(struct chat *c, const char *key, const struct tc_reply *reply,
                          const char *events, const char *next)
{
    if (!json_object_get(c->gap.asked, key))
        return; /* requested before the history was to be read again */
    if (reply->outcome != TC_OK)
        tc_log(c->inst, TC_WARN,
               "cannot read the messages of chat %s that came during the interruption: %s", key,
               reply->error);
    else if (!gap_add(c, key, events))
        return;
    json_object_del(c->gap.asked, key);
    if (next && reply->outcome == TC_OK)
        gap_request_page(c, key, next);
    chat_feed_go(c);
}
