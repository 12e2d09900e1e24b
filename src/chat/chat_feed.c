/* SPDX-License-Identifier: MIT
 * Event feed (tc_feed): events that a service pushes and can send again from a position. Events are
 * processed one after the other; an event that waits delays the later ones. The position is stored
 * when all events before it are on disk, so that a restarted connector misses none. Owns the queue
 * and the position. Runs on the thread of the instance. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "chat/chat_internal.h"
#include "chat/operation/chat_target.h"

#define FEED_POSITION_KEY "chat.position"
#define FEED_QUEUE_MAX 1000
/* Interval between stored positions after events that are not relevant. */
#define FEED_STORE_MS 30000

static void feed_set_position(struct chat_feed *f, const char *position)
{
    free(f->position);
    f->position = position ? xstrdup(position) : NULL;
}

/* Handles an event that was not stored: drops the later events, because they must not be processed
 * before the service has sent this event again. */
static void feed_rewind(struct chat *c)
{
    json_array_clear(c->feed.queue);
    feed_set_position(&c->feed, NULL);
    c->feed.is_rewound = true;
    chat_gap_stop(c);
    c->table.feed->rewind(c->inst->lobby);
}

static void feed_store_position(struct chat_feed *f, struct tc_instance *inst)
{
    const int64_t now_ms = clock_mono_ms();
    if (!f->position || (!f->is_urgent && f->stored_ms && now_ms - f->stored_ms < FEED_STORE_MS))
        return;
    tc_store(inst, FEED_POSITION_KEY, f->position);
    f->stored_ms = now_ms;
    f->is_urgent = false;
}

/* False: the event waits, or was not stored. */
static bool chat_feed_process_first(struct chat *c)
{
    json_t *const event = json_incref(json_array_get(c->feed.queue, 0));
    const struct tc_target where = chat_target_from_json(json_object_get(event, "where"));
    c->feed.is_taking = true;
    const enum tc_feed_step step = c->table.feed->take(
        c->inst->lobby, chat_json_text(event, "text"), where.chat ? &where : NULL);
    c->feed.is_taking = false;
    json_decref(event);
    if (step == TC_FEED_NOT_KEPT)
        feed_rewind(c);
    if (step != TC_FEED_DONE)
        return false;
    json_array_remove(c->feed.queue, 0);
    c->feed.is_urgent = true;
    return true;
}

void chat_feed_go(struct chat *c)
{
    if (c->feed.is_taking)
        return; /* take has added an event */
    while (json_array_size(c->feed.queue))
        if (!chat_feed_process_first(c))
            return;
    chat_gap_end(c);
    feed_store_position(&c->feed, c->inst);
}

bool chat_feed_add_of(struct chat *c, const char *event, const json_t *where, const char *position)
{
    c->feed.is_rewound = false;
    if (event && json_array_size(c->feed.queue) >= FEED_QUEUE_MAX) {
        feed_rewind(c);
        return false;
    }
    if (event)
        json_array_append_new(c->feed.queue, json_pack("{s:o, s:O*}", "text",
                                                       json_string_nocheck(event), "where", where));
    if (position)
        feed_set_position(&c->feed, position);
    chat_feed_go(c);
    return !c->feed.is_rewound;
}

bool chat_feed_add(struct chat *c, const char *event, const char *position)
{
    return chat_feed_add_of(c, event, NULL, position);
}

const char *chat_feed_position(struct chat *c)
{
    return tc_load(c->inst, FEED_POSITION_KEY);
}

void chat_feed_ready(struct chat *c, bool gap)
{
    c->feed.is_urgent = true;
    chat_gap_read(c, gap);
    chat_feed_go(c);
}

bool chat_has_feed(const struct chat *c)
{
    return c->table.feed != NULL;
}

void chat_feed_free(struct chat *c)
{
    json_decref(c->feed.queue);
    free(c->feed.position);
}
