/* SPDX-License-Identifier: MIT
 * Owns a text with entities as it is put together, and how texts are cut for display. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "telegram.h"

void message_init(struct message *m, struct tc_turn *turn)
{
    *m = (struct message){.turn = turn, .text = "", .entities = json_array()};
}

void message_fini(struct message *m)
{
    json_decref(m->entities);
}

/* UTF-16 units of valid UTF-8. */
static size_t units_of(const char *text, size_t len)
{
    size_t units = 0;
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)text[i];
        units += (c & 0xc0) != 0x80;
        units += c >= 0xf0;
    }
    return units;
}

static void append(struct message *m, const char *text, size_t len)
{
    const char *const grown = tc_sprint(m->turn, "%s%.*s", m->text, (int)len, text);
    if (!grown)
        return;
    m->text = grown;
    m->len += len;
    m->units += units_of(text, len);
}

void message_add(struct message *m, const char *text)
{
    append(m, text, strlen(text));
}

void message_mark(struct message *m, const char *type, const char *text)
{
    const size_t from = m->units;
    message_add(m, text);
    if (m->units > from)
        json_array_append_new(m->entities,
                              json_pack("{s:s, s:I, s:I}", "type", type, "offset", (json_int_t)from,
                                        "length", (json_int_t)(m->units - from)));
}

void message_piece(struct message *m, const struct tc_piece *p)
{
    json_t *const list = p->entities ? json_loads(p->entities, 0, NULL) : NULL;
    size_t i;
    json_t *entity;
    json_array_foreach(list, i, entity)
    {
        const int64_t offset = call_int(entity, "offset") + (int64_t)m->units;
        json_object_set_new(entity, "offset", json_integer(offset));
        json_array_append(m->entities, entity);
    }
    json_decref(list);
    append(m, p->text, p->len);
}

void message_put(const struct message *m, json_t *body, bool plain)
{
    json_object_set_new(body, "text", json_stringn(m->text, m->len));
    if (!plain && json_array_size(m->entities) > 0)
        json_object_set(body, "entities", m->entities);
}

void message_clip(char *out, size_t cap, const char *text)
{
    static const char ellipsis[] = "…";
    const size_t len = strlen(text);
    size_t n = len;
    if (len >= cap) {
        n = cap - sizeof ellipsis;
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
            n--;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i];
    out[n] = '\0';
    if (n < len)
        memcpy(out + n, ellipsis, sizeof ellipsis);
}

void message_time(char *out, size_t cap, int64_t ms)
{
    const int64_t s = ms / 1000;
    if (s < 60)
        snprintf(out, cap, "%" PRId64 "s", s);
    else if (s < 3600)
        snprintf(out, cap, "%" PRId64 "m %02" PRId64 "s", s / 60, s % 60);
    else
        snprintf(out, cap, "%" PRId64 "h %02" PRId64 "m", s / 3600, s / 60 % 60);
}
