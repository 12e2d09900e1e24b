/* SPDX-License-Identifier: MIT
 * Owns the names of the members. */
#include "core/host/outcome_message.h"

#include <stddef.h>

#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

#define MEMBER(name) offsetof(struct outcome_message, name)
static const struct {
    const char *name;
    size_t offset;
    bool is_optional;
} members[] = {
    {"instance", MEMBER(instance), false}, {"turn", MEMBER(turn), false},
    {"agent", MEMBER(agent), false},       {"conversation", MEMBER(conversation), false},
    {"source", MEMBER(source), false},     {"route", MEMBER(route), true},
    {"memory", MEMBER(memory), true},      {"outcome", MEMBER(line), false},
};
#define MEMBERS (sizeof members / sizeof *members)

static const char **outcome_message_at(struct outcome_message *m, size_t i)
{
    return (const char **)(void *)((char *)m + members[i].offset);
}

void outcome_message_write(struct buf *out, const struct outcome_message *m)
{
    struct outcome_message copy = *m;
    buf_add_char(out, '{');
    for (size_t i = 0; i < MEMBERS; i++)
        jsonw_member_str(out, members[i].name, *outcome_message_at(&copy, i));
    buf_add_char(out, '}');
}

static void outcome_message_read_member(struct json *j, struct str key, struct arena *a,
                                        struct outcome_message *m)
{
    struct str raw;
    size_t i = 0, len;
    while (i < MEMBERS && !str_is(key, members[i].name))
        i++;
    if (i < MEMBERS && json_reader_peek(j) == JSON_AT_STRING && json_reader_read_string(j, &raw))
        *outcome_message_at(m, i) = json_reader_unescape(a, raw, &len);
    else
        json_reader_skip(j, NULL);
}

int outcome_message_read(struct str body, struct arena *a, struct outcome_message *m)
{
    struct json j;
    struct str key;
    *m = (struct outcome_message){0};
    json_init(&j, body.p, body.len);
    if (!json_reader_enter_object(&j))
        return -1;
    while (json_reader_next_key(&j, &key))
        outcome_message_read_member(&j, key, a, m);
    if (json_reader_finish(&j) < 0)
        return -1;
    for (size_t i = 0; i < MEMBERS; i++)
        if (!members[i].is_optional && !*outcome_message_at(m, i))
            return -1;
    return 0;
}
