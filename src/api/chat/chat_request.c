/* SPDX-License-Identifier: MIT
 * Parses a chat completion request: the members of the body, and the headers in which front ends
 * name the conversation and the person. */
#include "api/chat/chat_request.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define NAME_BYTES 200 /* longest id or name given by a client */

/* ---- names ---- */

/* The first of the headers that is present. */
static const char *chat_request_first_header(const struct httpd_request *r,
                                             const char *const *names)
{
    const char *value = NULL;
    for (; *names && !value; names++)
        value = httpd_find_header(r, *names);
    return value;
}

/* The text of a member; "" if it is not a string. */
static const char *chat_request_member(const json_t *object, const char *key)
{
    const char *const text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static bool chat_request_is_uuid(const char *text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    for (size_t i = 0; i < sizeof form; i++)
        if (form[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != form[i])
            return false;
    return true;
}

/* NULL for an empty text. */
static char *chat_request_copy_name(const char *name)
{
    return name && *name ? xstrdup(name) : NULL;
}

static bool chat_request_is_name(const char *name)
{
    if (!name)
        return true;
    for (const char *p = name; *p; p++)
        if (iscntrl((unsigned char)*p))
            return false;
    return strlen(name) <= NAME_BYTES;
}

static const char *find_conversation(const struct httpd_request *r, const json_t *body)
{
    static const char *const names[] = {"X-Conversation-Id", "X-Librechat-Conversation-Id",
                                        "X-Openwebui-Chat-Id", NULL};
    const char *const header = chat_request_first_header(r, names);
    const char *const said =
        chat_request_member(json_object_get(body, "metadata"), "conversation_id");
    const char *const user = chat_request_member(body, "user");
    return header && *header ? header : *said ? said : chat_request_is_uuid(user) ? user : NULL;
}

static const char *find_user(const struct httpd_request *r, const json_t *body)
{
    static const char *const names[] = {"X-User-Id", "X-Openwebui-User-Id", NULL};
    const char *const header = chat_request_first_header(r, names);
    return header ? header : chat_request_member(body, "user");
}

static const char *chat_request_read_names(struct chat_request *ask, const struct httpd_request *r,
                                           const json_t *body)
{
    static const char *const ids[] = {"Idempotency-Key", "X-Request-Id", NULL};
    ask->conversation = chat_request_copy_name(find_conversation(r, body));
    ask->user = chat_request_copy_name(find_user(r, body));
    ask->id = chat_request_first_header(r, ids);
    if (!chat_request_is_name(ask->conversation) || !chat_request_is_name(ask->user) ||
        !chat_request_is_name(ask->id))
        return "The ID of the conversation, the user or the request is longer than 200 bytes or "
               "contains a control character.";
    return NULL;
}

/* ---- the form of the answer ---- */

/* False: the member is neither absent nor a boolean. */
static bool chat_request_read_flag(const json_t *object, const char *key, bool *on)
{
    const json_t *const value = json_object_get(object, key);
    *on = json_is_true(value);
    return !value || json_is_null(value) || json_is_boolean(value);
}

static const char *chat_request_read_form(struct chat_request *ask, const json_t *body)
{
    const json_t *const model = json_object_get(body, "model"), *const n =
                                                                    json_object_get(body, "n");
    if (model && !json_is_string(model) && !json_is_null(model))
        return "model must be a string.";
    if (n && !json_is_null(n) && json_integer_value(n) != 1)
        return "n must be 1: a turn has one answer.";
    if (!chat_request_read_flag(body, "stream", &ask->streams) ||
        !chat_request_read_flag(json_object_get(body, "stream_options"), "include_usage",
                                &ask->wants_usage))
        return "stream and stream_options.include_usage must be booleans.";
    ask->model = json_string_value(model);
    return NULL;
}

const char *chat_request_parse(struct chat_request *ask, const struct httpd_request *r,
                               const json_t *body)
{
    *ask = (struct chat_request){0};
    if (!json_object_get(body, "messages"))
        return "messages is missing.";
    const char *why = chat_messages_parse(&ask->said, json_object_get(body, "messages"));
    if (!why)
        why = chat_request_read_form(ask, body);
    return why ? why : chat_request_read_names(ask, r, body);
}

void chat_request_fini(struct chat_request *ask)
{
    chat_messages_fini(&ask->said);
    free(ask->user);
    free(ask->conversation);
}
