/* SPDX-License-Identifier: MIT
 * Replaces mentions in the text of a message: a service marks people by their ids, the agent gets
 * their names. */
#include <string.h>

#include "base/bytes/buf.h"
#include "chat/chat_internal.h"

#define MENTIONS_MAX 64
#define BLANKS " \t\r\n"

/* Returns the mention whose mark is at this position, or NULL. */
static const struct tc_mention *find_mention(const char *at, const struct tc_mention *mentions,
                                             size_t count)
{
    for (size_t i = 0; i < count && i < MENTIONS_MAX; i++)
        if (mentions[i].mark && *mentions[i].mark &&
            strncmp(at, mentions[i].mark, strlen(mentions[i].mark)) == 0)
            return &mentions[i];
    return NULL;
}

static const char *chat_mentions_trim(struct chat *c, const char *text)
{
    text += strspn(text, BLANKS);
    size_t len = strlen(text);
    while (len && strchr(BLANKS, text[len - 1]))
        len--;
    return arena_strndup(&c->scratch, text, len);
}

/* Adds the marks of a person; the forms are separated by spaces. */
static size_t mentions_add_person(struct chat *c, const json_t *person, struct tc_mention *out,
                                  size_t room)
{
    const struct tc_mention_map *const map = &c->table.mentions;
    const char *const id = json_string_value(json_object_get(person, map->id));
    const char *const name = json_string_value(json_object_get(person, map->name));
    const bool is_bot = id && c->receiving.self && strcmp(id, c->receiving.self) == 0;
    const char *shown = is_bot ? NULL : arena_strdup(&c->scratch, name ? name : id ? id : "");
    size_t n = 0;
    for (const char *form = map->marks; id && form && *form && n < room; n++) {
        const size_t before = strcspn(form, "*"), all = strcspn(form, " ");
        out[n] = (struct tc_mention){arena_sprintf(&c->scratch, "%.*s%s%.*s", (int)before, form, id,
                                                   (int)(all - before - 1), form + before + 1),
                                     shown};
        form += all + strspn(form + all, " ");
    }
    return n;
}

const struct tc_mention *chat_mentions_read(struct chat *c, const char *list, size_t *count)
{
    struct tc_mention *const all = arena_alloc(&c->scratch, MENTIONS_MAX * sizeof *all);
    json_t *const people = json_loads(list, 0, NULL);
    const json_t *one;
    size_t i;
    *count = 0;
    json_array_foreach(people, i, one) *count +=
        mentions_add_person(c, one, all + *count, MENTIONS_MAX - *count);
    json_decref(people);
    return all;
}

/* "@bot: do it" becomes "do it". */
const char *chat_mentions_replace(struct chat *c, const char *text,
                                  const struct tc_mention *mentions, size_t count)
{
    CLEANUP_BUF struct buf out = {0};
    if (!count)
        return text;
    for (const char *p = text + strspn(text, BLANKS); *p;) {
        const struct tc_mention *const m = find_mention(p, mentions, count);
        if (!m) {
            buf_add_char(&out, *p++);
            continue;
        }
        p += strlen(m->mark);
        if (m->name)
            buf_printf(&out, "@%s", m->name);
        else if (!out.len)
            p += strspn(p, ":, ");
    }
    return chat_mentions_trim(c, out.p ? out.p : "");
}
