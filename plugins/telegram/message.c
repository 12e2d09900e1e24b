/* SPDX-License-Identifier: MIT
 * Owns a text with entities as it is put together, and how texts are cut for display. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Bytes of the character that is not shown as it is, or 0; *code: which. */
static size_t unseen(const char *p, unsigned *code)
{
    const unsigned char *const c = (const unsigned char *)p;
    *code = c[0];
    if (c[0] < ' ' || c[0] == 0x7f)
        return c[0] != '\n' && c[0] != '\t';
    if ((c[0] & 0xf0) == 0xc0 || (c[0] & 0xf0) == 0xd0)
        *code = (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu);
    else if ((c[0] & 0xf0) == 0xe0)
        *code = (c[0] & 0xfu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
    if ((*code >= 0x80 && *code < 0xa0) || *code == 0xad || *code == 0x61c)
        return 2;
    return (*code >= 0x200b && *code <= 0x200f) || (*code >= 0x2028 && *code <= 0x202e) ||
                   (*code >= 0x2060 && *code <= 0x206f) || *code == 0xfeff
               ? 3
               : 0;
}

char *message_spell(const char *text, size_t most, size_t *cut)
{
    char *out = NULL;
    size_t size = 0, units = 0;
    unsigned code;
    FILE *const to = open_memstream(&out, &size);
    *cut = 0;
    if (!to)
        return NULL;
    while (*text && units < most) {
        const size_t hidden = unseen(text, &code);
        size_t n = hidden ? hidden : 1;
        while (!hidden && ((unsigned char)text[n] & 0xc0) == 0x80)
            n++;
        if (hidden)
            units += (size_t)fprintf(to, "<U+%04X>", code);
        else
            units += fwrite(text, 1, n, to) == 4 ? 2 : 1;
        text += n;
    }
    for (; *text; text++)
        *cut += ((unsigned char)*text & 0xc0) != 0x80;
    fclose(to);
    return out;
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
