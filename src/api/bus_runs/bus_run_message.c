/* SPDX-License-Identifier: MIT
 * Encodes and decodes requests for runs and their events. */
#include "api/bus_runs/bus_run_message.h"

#include <stdlib.h>
#include <string.h>

#include "event/json/json_writer.h"

#define SUBJECT_MAX 255 /* longest reply subject */

/* ---- requests ---- */

json_t *bus_run_message_parse(struct str data, struct buf *why)
{
    json_error_t error;
    json_t *const message =
        json_loadb(data.p, data.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (message && json_is_object(message))
        return message;
    json_decref(message);
    if (message)
        buf_add_str(why, "The message must be a JSON object.");
    else
        buf_printf(why, "Invalid JSON in the message: line %d: %s.", error.line, error.text);
    return NULL;
}

const char *bus_run_message_reply(const json_t *message, const char *reply)
{
    return reply && *reply ? reply : json_string_value(json_object_get(message, "replySubject"));
}

static bool bus_run_message_is_subject(const char *subject)
{
    const size_t len = strlen(subject);
    for (const char *p = subject; *p; p++)
        if (*p <= ' ' || *p > '~' || *p == '*' || *p == '>')
            return false;
    return len && len <= SUBJECT_MAX && *subject != '.' && subject[len - 1] != '.' &&
           !strstr(subject, "..");
}

bool bus_run_message_may_reply(const struct conf_bus_runs *conf, const char *subject)
{
    if (!bus_run_message_is_subject(subject))
        return false;
    for (char **permitted = conf->replies; *permitted; permitted++)
        if (strncmp(*permitted, subject, strlen(*permitted) - 1) == 0)
            return true;
    return false;
}

/* ---- AG-UI ---- */

/* No agent has a name with other characters; without agentId, the default agent runs. */
static const char *bus_run_message_add_path(struct buf *path, const char *route,
                                            const json_t *message)
{
    const json_t *const agent = json_object_get(message, "agentId");
    const char *const name = json_string_value(agent);
    if (agent && !json_is_null(agent) && !(name && *name))
        return "agentId must be the name of an agent.";
    buf_printf(path, "%s%s%s", route, name ? "/" : "", name ? name : "");
    return NULL;
}

static void bus_run_message_add_json(struct buf *out, const json_t *value)
{
    char *const text = json_dumps(value, JSON_COMPACT);
    buf_add_str(out, text ? text : "");
    free(text);
}

/* {"agentId", "request": RunAgentInput} */
static const char *bus_run_message_read_ag_ui(const json_t *message, struct buf *path,
                                              struct buf *body)
{
    const json_t *const request = json_object_get(message, "request");
    if (!json_is_object(request))
        return "request must be an object: the input of the run.";
    bus_run_message_add_json(body, request);
    return bus_run_message_add_path(path, "/ag-ui", message);
}

static void bus_run_message_add_member(struct buf *out, const char *name, const char *text)
{
    buf_printf(out, ",\"%s\":", name);
    jsonw_string(out, text, strlen(text));
}

static void bus_run_message_error_ag_ui(struct buf *out, const char *code, const char *message)
{
    buf_add_str(out, "{\"type\":\"RUN_ERROR\"");
    bus_run_message_add_member(out, "message", message);
    bus_run_message_add_member(out, "code", code);
    buf_add_char(out, '}');
}

const struct bus_run_protocol bus_run_ag_ui = {
    .subject = "agentos.ag-ui.runs",
    .read = bus_run_message_read_ag_ui,
    .error = bus_run_message_error_ag_ui,
};

/* ---- AI SDK ---- */

/* {"agentId", "sessionId", "input", "runId"} */
static const char *bus_run_message_read_ai_sdk(const json_t *message, struct buf *path,
                                               struct buf *body)
{
    json_t *const session = json_object_get(message, "sessionId");
    json_t *const input = json_object_get(message, "input");
    json_t *const run = json_object_get(message, "runId");
    if (!json_is_string(session) || !json_is_string(input))
        return "sessionId and input must be strings.";
    json_t *const request =
        json_pack("{s:O, s:O*, s:[{s:s, s:[{s:s, s:O}]}]}", "id", session, "runId", run, "messages",
                  "role", "user", "parts", "type", "text", "text", input);
    bus_run_message_add_json(body, request);
    json_decref(request);
    return bus_run_message_add_path(path, "/ai-sdk", message);
}

static void bus_run_message_error_ai_sdk(struct buf *out, const char *code, const char *message)
{
    (void)code;
    buf_add_str(out, "{\"type\":\"error\"");
    bus_run_message_add_member(out, "errorText", message);
    buf_add_char(out, '}');
}

const struct bus_run_protocol bus_run_ai_sdk = {
    .subject = "agentos.ai-sdk.runs",
    .read = bus_run_message_read_ai_sdk,
    .error = bus_run_message_error_ai_sdk,
};

/* ---- output of routes ---- */

#define DATA "data: "

bool bus_run_message_next(struct str *frames, struct str *event)
{
    while (frames->len) {
        const char *const end = memmem(frames->p, frames->len, "\n\n", 2);
        const size_t len = end ? (size_t)(end - frames->p) : frames->len;
        const struct str frame = {frames->p, len};
        frames->p += end ? len + 2 : len;
        frames->len -= end ? len + 2 : len;
        if (str_has_prefix(frame, STR(DATA)) && !str_equal(frame, STR(DATA "[DONE]"))) {
            *event = (struct str){frame.p + sizeof DATA - 1, frame.len - (sizeof DATA - 1)};
            return true;
        }
    }
    return false;
}

void bus_run_message_error(struct buf *out, const struct bus_run_protocol *protocol,
                           struct str body)
{
    json_t *const root = json_loadb(body.p, body.len, 0, NULL);
    const json_t *const error = json_object_get(root, "error");
    const char *const code = json_string_value(json_object_get(error, "code"));
    const char *const message = json_string_value(json_object_get(error, "message"));
    protocol->error(out, code ? code : "internal_error", message ? message : "The run failed.");
    json_decref(root);
}
