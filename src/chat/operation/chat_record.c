/* SPDX-License-Identifier: MIT
 * Reads and writes records as text: a mark, which distinguishes them from tags of a plugin, and
 * JSON. */
#include "chat/operation/chat_record.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "chat/operation/chat_target.h"

#define TAG_MARK "chat:"

#define MEMBER(key, member)                                                                        \
    {                                                                                              \
        key, offsetof(struct chat_record, member)                                                  \
    }

static const struct {
    const char *key;
    size_t offset;
} texts[] =
    {
        MEMBER("s", slot),       MEMBER("m", message),   MEMBER("l", live),
        MEMBER("t", text),       MEMBER("e", entities),  MEMBER("pl", plain),
        MEMBER("c", cursor),     MEMBER("a", action),    MEMBER("fn", file.name),
        MEMBER("ft", file.type), MEMBER("sum", summary), MEMBER("fr", file.ref),
},
  numbers[] = {MEMBER("p", part),         MEMBER("g", generation), MEMBER("st", step),
               MEMBER("d", tried.doubts), MEMBER("h", tried.cuts), MEMBER("x", omit),
               MEMBER("er", tried.errors)},
  flags[] = {MEMBER("k", tried.marked),     MEMBER("z", last),
             MEMBER("q", silent),           MEMBER("off", off),
             MEMBER("cf", beside.edits),    MEMBER("mv", tried.moved),
             MEMBER("em", tried.was_empty), MEMBER("ba", tried.bare),
             MEMBER("ap", beside.append)};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- to text ---- */

static void chat_record_write_members(json_t *json, const struct chat_record *r)
{
    const char *const base = (const char *)r;
    for (size_t i = 0; i < COUNT(texts); i++)
        chat_json_set_text(json, texts[i].key,
                           *(const char *const *)(const void *)(base + texts[i].offset));
    for (size_t i = 0; i < COUNT(numbers); i++) {
        const unsigned n = *(const unsigned *)(const void *)(base + numbers[i].offset);
        if (n)
            json_object_set_new(json, numbers[i].key, json_integer(n));
    }
    for (size_t i = 0; i < COUNT(flags); i++)
        if (*(const bool *)(base + flags[i].offset))
            json_object_set_new(json, flags[i].key, json_true());
}

char *chat_record_write(const struct chat_record *r)
{
    json_t *const json =
        json_pack("{s:i, s:i, s:i}", "o", (int)r->op, "ro", (int)r->role, "ds", (int)r->state);
    chat_record_write_members(json, r);
    if (r->target.chat)
        json_object_set_new(json, "to", chat_target_to_json(&r->target));
    if (r->buttons)
        json_object_set(json, "b", r->buttons);
    if (r->fields)
        json_object_set(json, "fl", r->fields);
    if (r->reaction)
        json_object_set_new(json, "re", json_integer((json_int_t)r->reaction));
    if (r->since_ms)
        json_object_set_new(json, "i", json_integer(r->since_ms));
    if (r->until_ms)
        json_object_set_new(json, "u", json_integer(r->until_ms));
    char *const text = alloc_check(json_dumps(json, JSON_COMPACT), 1);
    char *const tag = xasprintf(TAG_MARK "%s", text);
    json_decref(json);
    free(text);
    return tag;
}

/* ---- from text ---- */

static void read_members(struct chat_record *r, const json_t *json)
{
    char *const base = (char *)r;
    for (size_t i = 0; i < COUNT(texts); i++)
        *(const char **)(void *)(base + texts[i].offset) = chat_json_text(json, texts[i].key);
    for (size_t i = 0; i < COUNT(numbers); i++)
        *(unsigned *)(void *)(base + numbers[i].offset) =
            (unsigned)chat_json_int(json, numbers[i].key);
    for (size_t i = 0; i < COUNT(flags); i++)
        *(bool *)(base + flags[i].offset) = chat_json_true(json, flags[i].key);
}

static bool chat_record_is_number_below(const json_t *json, const char *key, int64_t count)
{
    const int64_t n = chat_json_int(json, key);
    return n >= 0 && n < count;
}

/* Checks conditions of the delivery: a file is delivered as a file, and an edit has a message. */
static bool chat_record_is_state_valid(const json_t *json)
{
    const bool is_file = chat_json_text(json, "fn") != NULL;
    if (chat_json_int(json, "o") == TC_OP_FETCH)
        return true;
    switch ((int)chat_json_int(json, "ds")) {
    case CHAT_POSTING:
        return !is_file;
    case CHAT_EDITING:
        return !is_file && chat_json_text(json, "m");
    case CHAT_FILING:
        return is_file;
    case CHAT_ENDING:
        return strcmp(chat_json_text(json, "s"), CHAT_SLOT_STREAMED) == 0;
    default:
        return true;
    }
}

/* Checks the end of a stream: it names the stream, and an end with the answer also has the text,
 * from which ordinary messages can be made. */
static bool chat_record_is_stream_valid(const json_t *json)
{
    const bool answers = strcmp(chat_json_text(json, "s"), CHAT_SLOT_STREAMED) == 0;
    const bool ends = chat_json_int(json, "o") == TC_OP_STREAM_END;
    return (!ends || chat_json_text(json, "m")) &&
           (!answers || (chat_json_text(json, "m") && chat_json_text(json, "t") &&
                         !chat_json_text(json, "fn")));
}

static bool chat_record_is_valid(const json_t *json)
{
    return json_is_object(json) && chat_json_text(json, "s") &&
           chat_record_is_number_below(json, "o", TC_OPS) &&
           chat_record_is_number_below(json, "ro", TC_ROLES) &&
           chat_record_is_number_below(json, "ds", CHAT_DELIVERY_STATES) &&
           chat_record_is_number_below(json, "re", TC_REACTION_INTERRUPT + 1) &&
           chat_record_is_state_valid(json) && chat_record_is_stream_valid(json);
}

bool chat_record_read(struct chat_record *r, const char *tag)
{
    const size_t n = strlen(TAG_MARK);
    json_t *const json =
        tag && strncmp(tag, TAG_MARK, n) == 0 ? json_loads(tag + n, 0, NULL) : NULL;
    if (!chat_record_is_valid(json)) {
        json_decref(json);
        return false;
    }
    *r = (struct chat_record){
        .op = (enum tc_op_kind)chat_json_int(json, "o"),
        .role = (enum tc_role)chat_json_int(json, "ro"),
        .state = (enum chat_delivery_state)chat_json_int(json, "ds"),
        .target = chat_target_from_json(json_object_get(json, "to")),
        .buttons = json_object_get(json, "b"),
        .fields = json_object_get(json, "fl"),
        .reaction = (enum tc_reaction)chat_json_int(json, "re"),
        .since_ms = chat_json_int(json, "i"),
        .until_ms = chat_json_int(json, "u"),
        .owner = json,
    };
    read_members(r, json);
    return true;
}

void chat_record_fini(struct chat_record *r)
{
    json_decref(r->owner);
    *r = (struct chat_record){0};
}

bool chat_record_is_slot(const struct chat_record *r, const char *slot)
{
    const size_t n = strlen(slot);
    return strncmp(r->slot, slot, n) == 0 && (!r->slot[n] || r->slot[n] == ':');
}
