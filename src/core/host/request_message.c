/* SPDX-License-Identifier: MIT
 * Owns the names of the members. */
#include "core/host/request_message.h"

#include <stddef.h>
#include <string.h>

#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

#define MEMBER(name) offsetof(struct journal_moving, name)
static const struct {
    const char *name;
    size_t offset;
    bool is_optional;
} texts[] = {
    {"instance", MEMBER(conn), false}, {"lane", MEMBER(lane), false},
    {"turn", MEMBER(turn), false},     {"memory", MEMBER(memory), true},
    {"agent", MEMBER(agent), true},    {"conversation", MEMBER(conversation), true},
    {"source", MEMBER(source), true},  {"route", MEMBER(route), true},
};
static const struct {
    const char *name;
    size_t offset;
} numbers[] = {
    {"priority", MEMBER(priority)}, {"attempts", MEMBER(attempts)}, {"crashes", MEMBER(crashes)},
    {"age_ms", MEMBER(age_ms)},     {"left_ms", MEMBER(left_ms)},
};
#define TEXTS (sizeof texts / sizeof *texts)
#define NUMBERS (sizeof numbers / sizeof *numbers)

static const char **request_message_text(struct journal_moving *m, size_t i)
{
    return (const char **)(void *)((char *)m + texts[i].offset);
}

static int64_t *request_message_number(struct journal_moving *m, size_t i)
{
    return (int64_t *)(void *)((char *)m + numbers[i].offset);
}

void request_message_write(struct buf *out, const char *id, const struct journal_moving *m)
{
    struct journal_moving copy = *m;
    buf_add_char(out, '{');
    jsonw_member_str(out, "id", id);
    for (size_t i = 0; i < TEXTS; i++)
        jsonw_member_str(out, texts[i].name, *request_message_text(&copy, i));
    for (size_t i = 0; i < NUMBERS; i++)
        jsonw_member_int(out, numbers[i].name, *request_message_number(&copy, i));
    jsonw_member_bool(out, "in_doubt", m->in_doubt);
    buf_add_str(out, "}\n");
    buf_add(out, m->body.p, m->body.len);
}

static const char *request_message_read_text(struct json *j, struct arena *a)
{
    struct str raw;
    size_t len;
    return json_reader_read_string(j, &raw) ? json_reader_unescape(a, raw, &len) : NULL;
}

static void request_message_read_member(struct json *j, struct str key, struct arena *a,
                                        const char **id, struct journal_moving *m)
{
    size_t text = 0, number = 0;
    while (text < TEXTS && !str_is(key, texts[text].name))
        text++;
    while (number < NUMBERS && !str_is(key, numbers[number].name))
        number++;
    if (str_is(key, "in_doubt"))
        json_reader_read_bool(j, &m->in_doubt);
    else if (number < NUMBERS)
        json_reader_read_int(j, request_message_number(m, number));
    else if (text < TEXTS || str_is(key, "id"))
        *(text < TEXTS ? request_message_text(m, text) : id) = request_message_read_text(j, a);
    else
        json_reader_skip(j, NULL);
}

static bool request_message_is_complete(const char *id, struct journal_moving *m)
{
    bool is_complete = id != NULL && m->body.len > 0;
    for (size_t i = 0; i < TEXTS; i++)
        is_complete &= texts[i].is_optional || *request_message_text(m, i);
    for (size_t i = 0; i < NUMBERS; i++) /* left_ms alone may be negative: it is about to expire */
        is_complete &= numbers[i].offset == MEMBER(left_ms) || *request_message_number(m, i) >= 0;
    return is_complete && (!m->agent || (m->conversation && m->source));
}

int request_message_read(struct str message, struct arena *a, const char **id,
                         struct journal_moving *m)
{
    struct json j;
    struct str key;
    const char *const end = message.len ? memchr(message.p, '\n', message.len) : NULL;
    const size_t head = end ? (size_t)(end - message.p) : 0;
    *id = NULL;
    *m = (struct journal_moving){0};
    if (!end || !json_reader_open_object(&j, (struct str){message.p, head}))
        return -1;
    while (json_reader_next_key(&j, &key))
        request_message_read_member(&j, key, a, id, m);
    if (json_reader_finish(&j) < 0)
        return -1;
    m->body = (struct str){end + 1, message.len - head - 1};
    return request_message_is_complete(*id, m) ? 0 : -1;
}
