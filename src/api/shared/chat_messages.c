/* SPDX-License-Identifier: MIT
 * Parses a list of messages and flattens it. */
#include "api/shared/chat_messages.h"

#include <string.h>

/* Roles that are passed to the agent. */
static bool chat_messages_is_known_role(const char *role)
{
    static const char *const roles[] = {"user", "assistant", "system", "developer", "tool"};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(role, roles[i]) == 0)
            return true;
    return false;
}

static const char *chat_messages_text_of(const json_t *object, const char *key)
{
    const char *const text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void chat_messages_add_part(struct buf *out, const json_t *part, bool *whole)
{
    const json_t *const text = json_object_get(part, "text");
    if (out->len)
        buf_add_char(out, '\n');
    if (json_is_string(text)) {
        buf_add(out, json_string_value(text), json_string_length(text));
        return;
    }
    *whole = false;
    buf_printf(out, "[%s]", chat_messages_text_of(part, "type"));
}

/* Collects the text parts. False: the content has other parts, of which only the type is passed
 * on. */
static bool chat_messages_add_content(struct buf *out, const json_t *content)
{
    bool whole = true;
    size_t i;
    const json_t *part;
    if (json_is_string(content))
        buf_add(out, json_string_value(content), json_string_length(content));
    json_array_foreach(content, i, part) chat_messages_add_part(out, part, &whole);
    return whole;
}

static void chat_messages_add_line(struct buf *out, const char *role, struct str text)
{
    if (out->len)
        buf_add_char(out, '\n');
    buf_printf(out, "[%s] ", role);
    buf_add(out, text.p, text.len);
}

static void add_earlier(struct buf *out, const json_t *message)
{
    CLEANUP_BUF struct buf text = {0};
    const char *const role = chat_messages_text_of(message, "role");
    chat_messages_add_content(&text, json_object_get(message, "content"));
    if (text.len && chat_messages_is_known_role(role))
        chat_messages_add_line(out, role, (struct str){text.p, text.len});
}

/* Marks that no message of a person was found. */
static size_t chat_messages_find_last(const json_t *list)
{
    const size_t n = json_array_size(list);
    for (size_t i = n; i > 0; i--)
        if (strcmp(chat_messages_text_of(json_array_get(list, i - 1), "role"), "user") == 0)
            return i - 1;
    return n;
}

static bool chat_messages_is_text(const struct buf *b)
{
    return !b->len || strlen(b->p) == b->len;
}

const char *chat_messages_parse(struct chat_messages *m, const json_t *list)
{
    *m = (struct chat_messages){0};
    const size_t last = chat_messages_find_last(list);
    if (last == json_array_size(list))
        return "messages must be an array with at least one message of role \"user\".";
    for (size_t i = 0; i < last; i++)
        add_earlier(&m->earlier, json_array_get(list, i));
    if (!chat_messages_add_content(&m->last,
                                   json_object_get(json_array_get(list, last), "content")))
        return "The last user message has content other than text, which is not supported.";
    if (!chat_messages_is_text(&m->last) || !chat_messages_is_text(&m->earlier))
        return "A message contains a NUL character (\\u0000), which is not supported.";
    if (str_is_blank((struct str){m->last.p, m->last.len}))
        return "The last user message is empty or blank.";
    return NULL;
}

void chat_messages_fini(struct chat_messages *m)
{
    buf_fini(&m->earlier);
    buf_fini(&m->last);
}

void chat_messages_append_prompt(const struct chat_messages *m, struct buf *out, struct str last)
{
    if (!m->earlier.len) {
        buf_add(out, last.p, last.len);
        return;
    }
    buf_add(out, m->earlier.p, m->earlier.len);
    chat_messages_add_line(out, "user", last);
}
