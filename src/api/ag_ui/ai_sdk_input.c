/* SPDX-License-Identifier: MIT
 * Parses UI messages of the AI SDK. */
#include "api/ag_ui/ai_sdk_input.h"

#include <stdbool.h>
#include <string.h>

#include "base/sys/uuid.h"

static const char *ai_sdk_input_type(const json_t *part)
{
    const char *const type = json_string_value(json_object_get(part, "type"));
    return type ? type : "";
}

/* Keeps text parts, and files of a user's message so that ag_ui_run_input refuses them. */
static json_t *ai_sdk_input_convert_parts(const json_t *parts, bool is_user)
{
    json_t *const content = json_array();
    size_t i;
    json_t *part;
    json_array_foreach(parts, i, part)
    {
        const char *const type = ai_sdk_input_type(part);
        if (strcmp(type, "text") == 0 || (is_user && strcmp(type, "file") == 0))
            json_array_append(content, part);
    }
    return content;
}

static json_t *ai_sdk_input_convert_message(const json_t *message)
{
    json_t *const role = json_object_get(message, "role");
    const char *const name = json_string_value(role);
    return json_pack("{s:O?, s:o}", "role", role, "content",
                     ai_sdk_input_convert_parts(json_object_get(message, "parts"),
                                                name && strcmp(name, "user") == 0));
}

json_t *ai_sdk_input_convert(const json_t *body)
{
    char fresh[37];
    json_t *const run = json_object_get(body, "runId"), *const messages = json_array();
    size_t i;
    json_t *message;
    uuid_make(fresh);
    json_array_foreach(json_object_get(body, "messages"), i, message)
        json_array_append_new(messages, ai_sdk_input_convert_message(message));
    return json_pack("{s:O?, s:o, s:o, s:{s:O?, s:O?}}", "threadId", json_object_get(body, "id"),
                     "runId", run ? json_incref(run) : json_string(fresh), "messages", messages,
                     "forwardedProps", "agent", json_object_get(body, "agent"), "background",
                     json_object_get(body, "background"));
}
