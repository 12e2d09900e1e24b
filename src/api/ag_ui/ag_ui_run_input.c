/* SPDX-License-Identifier: MIT
 * Parses and validates a RunAgentInput. */
#include "api/ag_ui/ag_ui_run_input.h"

#include <string.h>

#include "api/shared/api_http.h"

#define ID_BYTES 200 /* longest id or name given by a client */

static bool ag_ui_run_input_is_id(const char *text)
{
    if (!text || strlen(text) > ID_BYTES)
        return false;
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    return true;
}

static bool ag_ui_run_input_refuse(struct ag_ui_error *why, int status, const char *code,
                                   const char *message)
{
    *why = (struct ag_ui_error){status, code, message};
    return false;
}

static const char *ag_ui_run_input_text_of(const json_t *object, const char *key)
{
    const char *const text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void read_context(struct buf *out, const json_t *list)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(list, i, entry) buf_printf(out, "%s[context] %s: %s", out->len ? "\n" : "",
                                                  ag_ui_run_input_text_of(entry, "description"),
                                                  ag_ui_run_input_text_of(entry, "value"));
}

static bool read_follows(const json_t *props, bool *bad)
{
    const char *const word = api_http_get_string(props, "background", bad);
    const bool follows = word && strcmp(word, "follow") == 0;
    *bad |= word && !follows && strcmp(word, "wait") != 0;
    return follows;
}

static bool ag_ui_run_input_read_names(struct ag_ui_run_input *in, const json_t *body,
                                       struct ag_ui_error *why)
{
    bool bad = false;
    in->thread = api_http_get_string(body, "threadId", &bad);
    in->run = api_http_get_string(body, "runId", &bad);
    in->parent = api_http_get_string(body, "parentRunId", &bad);
    in->protocol = api_http_get_string(body, "protocolVersion", &bad);
    const json_t *const props = json_object_get(body, "forwardedProps");
    in->agent = api_http_get_string(props, "agent", &bad);
    in->follows = read_follows(props, &bad);
    if (bad || !ag_ui_run_input_is_id(in->thread) || !ag_ui_run_input_is_id(in->run))
        return ag_ui_run_input_refuse(
            why, 400, "invalid_value",
            "threadId and runId must be strings of at most 200 bytes; parentRunId, "
            "protocolVersion and forwardedProps.agent, if present, must be strings; "
            "forwardedProps.background must be \"wait\" or \"follow\".");
    return true;
}

bool ag_ui_run_input_parse(struct ag_ui_run_input *in, const json_t *body, struct ag_ui_error *why)
{
    *in = (struct ag_ui_run_input){0};
    if (!ag_ui_run_input_read_names(in, body, why))
        return false;
    read_context(&in->context, json_object_get(body, "context"));
    const json_t *const resume = json_object_get(body, "resume");
    in->resume = json_array_size(resume) ? resume : NULL;
    if (resume && !json_is_array(resume) && !json_is_null(resume))
        return ag_ui_run_input_refuse(why, 400, "invalid_value", "resume must be an array.");
    if (in->resume)
        return true;
    const char *const wrong = chat_messages_parse(&in->said, json_object_get(body, "messages"));
    if (wrong)
        return ag_ui_run_input_refuse(why, 400, "invalid_messages", wrong);
    return true;
}

void ag_ui_run_input_fini(struct ag_ui_run_input *in)
{
    chat_messages_fini(&in->said);
    buf_fini(&in->context);
}
