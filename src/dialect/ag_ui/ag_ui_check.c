/* SPDX-License-Identifier: MIT
 * Checks the types of AG-UI values. */
#include "dialect/ag_ui/ag_ui_check.h"

#include "dialect/reader/value.h"
#include "event/json/json_reader.h"

#define INTEGER_MAX 9007199254740991LL

struct str ag_ui_get_raw(struct str object, const char *key)
{
    struct json j;
    struct str name, value = {0};
    json_reader_open_object(&j, object);
    while (json_reader_next_key(&j, &name))
        json_reader_skip(&j, json_reader_string_is(name, key) ? &value : NULL);
    return value;
}

bool ag_ui_is_object(struct str value)
{
    return value.p && *value.p == '{';
}

bool ag_ui_is_integer(struct str value)
{
    const int64_t n = value_int(value, INT64_MIN);
    return n >= -INTEGER_MAX && n <= INTEGER_MAX;
}

static bool is_string(struct str value)
{
    return value_string(value).p;
}

static bool has_string(struct str object, const char *key)
{
    return is_string(ag_ui_get_raw(object, key));
}

/* Accepts an absent value, or a string. */
static bool may_have_string(struct str object, const char *key)
{
    const struct str value = ag_ui_get_raw(object, key);
    return !value.p || is_string(value);
}

static bool may_have_object(struct str object, const char *key)
{
    const struct str value = ag_ui_get_raw(object, key);
    return !value.p || ag_ui_is_object(value);
}

static bool is_one_of(struct str value, const char *const *names)
{
    while (*names && !value_equals(value, *names))
        names++;
    return *names;
}

bool ag_ui_is_array_of(struct str value, bool (*passes)(struct str))
{
    struct json j;
    struct str element;
    bool good = true;
    if (!json_reader_open_array(&j, value))
        return false;
    while (json_reader_next_value(&j, &element))
        good = good && passes(element);
    return good;
}

static bool is_free_array(struct str object, const char *key, bool (*passes)(struct str))
{
    const struct str value = ag_ui_get_raw(object, key);
    return !value.p || ag_ui_is_array_of(value, passes);
}

/* RFC 6901: empty, or segments that begin with a slash; a tilde only as ~0 or ~1. */
static bool is_pointer(struct str value)
{
    const struct str raw = value_string(value);
    if (!raw.p || (raw.len && raw.p[0] != '/'))
        return false;
    for (size_t i = 0; i < raw.len; i++)
        if (raw.p[i] == '~' && (i + 1 == raw.len || (raw.p[i + 1] != '0' && raw.p[i + 1] != '1')))
            return false;
    return !memchr(raw.p, '\\', raw.len) || !memmem(raw.p, raw.len, "\\u", 2);
}

static bool is_operation(struct str op)
{
    static const char *const plain[] = {"remove", NULL}, *const valued[] = {"add", "replace",
                                                                            "test", NULL};
    static const char *const two[] = {"move", "copy", NULL};
    const struct str kind = ag_ui_get_raw(op, "op");
    if (!is_pointer(ag_ui_get_raw(op, "path")))
        return false;
    if (is_one_of(kind, valued))
        return ag_ui_get_raw(op, "value").p;
    return is_one_of(kind, plain) ||
           (is_one_of(kind, two) && is_pointer(ag_ui_get_raw(op, "from")));
}

bool ag_ui_is_patch(struct str value)
{
    return ag_ui_is_array_of(value, is_operation);
}

static bool is_source(struct str source)
{
    static const char *const types[] = {"url", "file", NULL};
    const struct str type = ag_ui_get_raw(source, "type");
    if (!ag_ui_is_object(source) || !has_string(source, "value"))
        return false;
    if (value_equals(type, "data"))
        return has_string(source, "mimeType");
    return is_one_of(type, types) && may_have_string(source, "mimeType") &&
           may_have_string(source, "provider");
}

static bool is_part(struct str part)
{
    static const char *const media[] = {"image", "audio", "video", "document", NULL};
    const struct str type = ag_ui_get_raw(part, "type");
    if (!may_have_string(part, "id") || str_is(ag_ui_get_raw(part, "metadata"), "null"))
        return false;
    return value_equals(type, "text")
               ? has_string(part, "text")
               : is_one_of(type, media) && is_source(ag_ui_get_raw(part, "source"));
}

bool ag_ui_is_parts(struct str value)
{
    return ag_ui_is_array_of(value, is_part);
}

static bool is_tool_call(struct str call)
{
    const struct str function = ag_ui_get_raw(call, "function");
    return has_string(call, "id") && value_equals(ag_ui_get_raw(call, "type"), "function") &&
           ag_ui_is_object(function) && has_string(function, "name") &&
           has_string(function, "arguments") && may_have_string(call, "encryptedValue") &&
           may_have_object(call, "metadata");
}

/* Checks the content for the role. */
static bool is_said(struct str message, struct str role)
{
    static const char *const plain[] = {"developer", "system", "reasoning", NULL};
    const struct str content = ag_ui_get_raw(message, "content");
    if (is_one_of(role, plain))
        return is_string(content);
    if (value_equals(role, "assistant"))
        return (!content.p || is_string(content)) &&
               is_free_array(message, "toolCalls", is_tool_call);
    if (value_equals(role, "user"))
        return is_string(content) || ag_ui_is_parts(content);
    if (value_equals(role, "tool"))
        return is_string(content) && has_string(message, "toolCallId") &&
               may_have_string(message, "error");
    return value_equals(role, "activity") && ag_ui_is_object(content) &&
           has_string(message, "activityType");
}

static bool is_message(struct str message)
{
    return has_string(message, "id") && is_said(message, ag_ui_get_raw(message, "role")) &&
           may_have_string(message, "name") && may_have_string(message, "encryptedValue") &&
           may_have_string(message, "subagentRunId") && may_have_object(message, "metadata");
}

bool ag_ui_is_messages(struct str value)
{
    return ag_ui_is_array_of(value, is_message);
}

static bool is_tool(struct str tool)
{
    return has_string(tool, "name") && has_string(tool, "description") &&
           may_have_object(tool, "parameters") && may_have_object(tool, "metadata");
}

static bool is_context(struct str context)
{
    return has_string(context, "description") && has_string(context, "value");
}

/* Requires all members that 0.x requires. */
bool ag_ui_is_input(struct str value)
{
    return ag_ui_is_object(value) && has_string(value, "threadId") && has_string(value, "runId") &&
           may_have_string(value, "parentRunId") && may_have_string(value, "protocolVersion") &&
           ag_ui_is_messages(ag_ui_get_raw(value, "messages")) &&
           ag_ui_is_array_of(ag_ui_get_raw(value, "tools"), is_tool) &&
           ag_ui_is_array_of(ag_ui_get_raw(value, "context"), is_context) &&
           ag_ui_is_object(ag_ui_get_raw(value, "state")) &&
           ag_ui_is_object(ag_ui_get_raw(value, "forwardedProps")) &&
           !ag_ui_get_raw(value, "resume").p;
}

bool ag_ui_is_custom_event(struct str event)
{
    const struct str timestamp = ag_ui_get_raw(event, "timestamp");
    const struct str type = ag_ui_get_raw(event, "type");
    if (!ag_ui_is_object(event) || (timestamp.p && !ag_ui_is_integer(timestamp)) ||
        str_is(ag_ui_get_raw(event, "rawEvent"), "null") || !may_have_object(event, "metadata") ||
        !may_have_string(event, "subagentRunId"))
        return false;
    if (value_equals(type, "RAW"))
        return ag_ui_get_raw(event, "event").p && may_have_string(event, "source");
    return value_equals(type, "CUSTOM") && has_string(event, "name") &&
           ag_ui_get_raw(event, "value").p;
}
