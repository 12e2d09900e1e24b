/* SPDX-License-Identifier: MIT
 * Implements chat_said.h. */
#include "chat/stream/chat_said.h"

#include <string.h>

#include "text/markdown/markdown.h"

void chat_said_fini(struct chat_said *s)
{
    buf_fini(&s->text);
}

void chat_said_begin(struct chat_said *s, const char *message_id)
{
    buf_reset(&s->text);
    s->told = s->sending = s->confirmed = 0;
    s->over = s->shown = s->gone = false;
    chat_view_clip(s->message_id, sizeof s->message_id, message_id ? message_id : "");
}

bool chat_said_is_of_message(const struct chat_said *s, const char *message_id)
{
    char id[sizeof s->message_id];
    if (!message_id)
        return false;
    chat_view_clip(id, sizeof id, message_id);
    return strcmp(id, s->message_id) == 0;
}

bool chat_said_continues(const struct chat_said *s, const char *message_id)
{
    return !s->over && (!message_id || chat_said_is_of_message(s, message_id));
}

bool chat_said_add(struct chat_said *s, const char *text, size_t len)
{
    if (len > MARKDOWN_BYTES_MAX - s->text.len)
        return false;
    buf_add(&s->text, text, len);
    return true;
}

struct str chat_said_read_new(struct chat_said *s, bool all)
{
    const struct str rest = {s->text.p + s->told, s->text.len - s->told};
    const size_t n = !rest.len ? 0 : all ? rest.len : markdown_stable_length(rest);
    s->told += n;
    return (struct str){rest.p, n};
}

static const char *chat_said_skip_blanks(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

const char *chat_said_rest_of_answer(const struct chat_said *s, const char *answer)
{
    const bool counts = s->told > 0 && !s->over;
    const char *const from = chat_said_skip_blanks(answer);
    if (!counts)
        return from;
    const char *const said = chat_said_skip_blanks(s->text.p);
    const char *const end = s->text.p + s->told;
    const size_t n = said < end ? (size_t)(end - said) : 0;
    if (n > 0 && s->gone)
        return NULL;
    if (strncmp(from, said, n) == 0)
        return from + n;
    /* the answer may lack white space at the end of the told text */
    size_t m = n;
    while (m > 0 && strchr(" \t\r\n", said[m - 1]))
        m--;
    return strlen(from) == m && strncmp(from, said, m) == 0 ? from + m : NULL;
}
