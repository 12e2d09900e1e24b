/* SPDX-License-Identifier: MIT
 * Owns where a turn is shown: chat, topic and question, carried in its route and never taken from
 * anywhere else; and the chats that got other ids. */
#include <stdlib.h>
#include <string.h>

#include "telegram.h"

#define GENERAL 1 /* the topic that no message names */

struct moved {
    struct moved *next;
    int64_t from, to;
};

struct target route_read(const struct tc_turn *turn)
{
    const int64_t chat = conf_of(turn)->chat;
    json_t *const o = turn->route ? json_loads(turn->route, 0, NULL) : NULL;
    struct target to = {.chat = chat, .group = chat < 0};
    if (o)
        to = (struct target){.chat = call_int(o, "chat"),
                             .thread = call_int(o, "thread"),
                             .message = call_int(o, "message"),
                             .group = json_is_true(json_object_get(o, "group")),
                             .general = json_is_true(json_object_get(o, "general"))};
    json_decref(o);
    return to;
}

json_t *route_write(const json_t *message)
{
    const json_t *const chat = json_object_get(message, "chat");
    const char *const type = call_str(chat, "type");
    const int64_t thread = call_int(message, "message_thread_id");
    const bool topic = json_is_true(json_object_get(message, "is_topic_message"));
    json_t *const route =
        json_pack("{s:I, s:I, s:I, s:b}", "chat", (json_int_t)call_int(chat, "id"), "message",
                  (json_int_t)call_int(message, "message_id"), "user",
                  (json_int_t)call_int(json_object_get(message, "from"), "id"), "group",
                  !type || strcmp(type, "private") != 0);
    if (route && topic && thread != GENERAL)
        json_object_set_new(route, "thread", json_integer(thread));
    if (route && topic && thread == GENERAL)
        json_object_set_new(route, "general", json_true());
    return route;
}

int64_t route_chat_now(const struct telegram *s, int64_t chat)
{
    for (const struct moved *m = s->moved; m; m = m->next)
        if (m->from == chat)
            return m->to;
    return chat;
}

void route_moved(struct telegram *s, int64_t from, int64_t to)
{
    if (!from || !to || from == to || route_chat_now(s, from) == to)
        return;
    struct moved *const m = malloc(sizeof *m);
    if (!m)
        return;
    *m = (struct moved){s->moved, from, to};
    s->moved = m;
}

void route_free(struct telegram *s)
{
    while (s->moved) {
        struct moved *const m = s->moved;
        s->moved = m->next;
        free(m);
    }
}
