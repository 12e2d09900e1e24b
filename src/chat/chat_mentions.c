/* SPDX-License-Identifier: MIT
 * Mentions in the text of a message: a service marks people by their ids, the agent reads names. */
#include <string.h>

#include "base/bytes/buf.h"
#include "chat/chat_internal.h"

#define MENTIONS_MAX 64
#define BLANKS " \t\r\n"

/* The mention whose mark is there, or NULL. */
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

/* "@bot: do it" is "do it". */
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
