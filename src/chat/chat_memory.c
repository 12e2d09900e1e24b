/* SPDX-License-Identifier: MIT
 * State of a turn for the next process: its progress message or native stream, and its open cards
 * with their places, so that their buttons can be removed. Stored with tc_remember. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "chat/chat_internal.h"
#include "chat/operation/chat_target.h"

void chat_memory_write(struct chat_turn *t)
{
    const struct chat_live *const l = &t->live;
    json_t *const memory = json_object();
    if (!l->used && l->message[0])
        chat_json_set_text(memory, "live", l->message);
    if (!l->used && l->creates)
        json_object_set_new(memory, "creates", json_integer(l->creates));
    if (!l->used && l->uncertain)
        json_object_update_new(
            memory, json_pack("{s:b, s:I}", "uncertain", 1, "made", (json_int_t)l->made_ms));
    if (t->stream.message[0])
        chat_json_set_text(memory, "stream", t->stream.message);
    json_t *const cards = chat_cards_write(&t->chat->cards, t->turn->id);
    if (json_array_size(cards) > 0)
        json_object_set(memory, "cards", cards);
    json_decref(cards);
    char *const text = alloc_check(json_dumps(memory, JSON_COMPACT), 1);
    tc_remember(t->turn, json_object_size(memory) ? text : NULL);
    json_decref(memory);
    free(text);
}

void chat_memory_read(struct chat_turn *t)
{
    json_t *const memory = t->turn->memory ? json_loads(t->turn->memory, 0, NULL) : NULL;
    const char *const live = chat_json_text(memory, "live");
    const char *const stream = chat_json_text(memory, "stream");
    const int64_t creates = chat_json_int(memory, "creates");
    if (live && strlen(live) < CHAT_ID_MAX)
        memcpy(t->live.message, live, strlen(live) + 1);
    if (stream && strlen(stream) < CHAT_ID_MAX)
        memcpy(t->stream.message, stream, strlen(stream) + 1);
    t->live.creates = creates > 0 && creates < 1000 ? (unsigned)creates : t->live.message[0] != 0;
    t->live.uncertain = chat_json_true(memory, "uncertain");
    t->live.made_ms = chat_json_int(memory, "made");
    chat_cards_read(&t->chat->cards, t->turn->id, json_object_get(memory, "cards"));
    json_decref(memory);
}
