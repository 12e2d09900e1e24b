/* SPDX-License-Identifier: MIT
 * Converts targets to and from JSON, and reads members of the engine's JSON. */
#include "chat/operation/chat_target.h"

const char *chat_json_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

int64_t chat_json_int(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

bool chat_json_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

void chat_json_set_text(json_t *object, const char *key, const char *text)
{
    if (text)
        json_object_set_new(object, key, json_string(text));
}

json_t *chat_target_to_json(const struct tc_target *t)
{
    json_t *const json = json_object();
    chat_json_set_text(json, "chat", t->chat);
    chat_json_set_text(json, "thread", t->thread);
    chat_json_set_text(json, "message", t->message);
    chat_json_set_text(json, "user", t->user);
    chat_json_set_text(json, "more", t->more);
    if (t->group)
        json_object_set_new(json, "group", json_true());
    return json;
}

struct tc_target chat_target_from_json(const json_t *json)
{
    if (!chat_json_text(json, "chat"))
        return (struct tc_target){0};
    return (struct tc_target){
        .chat = chat_json_text(json, "chat"),
        .thread = chat_json_text(json, "thread"),
        .message = chat_json_text(json, "message"),
        .user = chat_json_text(json, "user"),
        .more = chat_json_text(json, "more"),
        .group = chat_json_true(json, "group"),
    };
}
