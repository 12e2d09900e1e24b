/* SPDX-License-Identifier: MIT
 * What AG-UI has no event for: text that is taken back. The custom event that says so names
 * messages that the reader has got. (The rules of AG-UI's own events are ag_ui_rules.) */
#include <string.h>

#include "dialect/conform.h"

static void check_retraction(struct conform *c, size_t i, const json_t *value,
                             const json_t *started)
{
    const char *const first = conform_text(c, i, value, "message_id");
    const json_t *const ids = json_object_get(value, "message_ids");
    size_t k;
    json_t *id;
    if (!json_array_size(ids) || strcmp(json_string_value(json_array_get(ids, 0)), first) != 0)
        conform_fail(c, i, "message_ids do not begin with message_id");
    json_array_foreach(ids, k, id)
    {
        if (!json_object_get(started, json_string_value(id)))
            conform_fail(c, i, "message %s was not told", json_string_value(id));
    }
}

void conform_ag_ui(struct conform *c)
{
    json_t *const started = json_object();
    size_t i, retracted = 0;
    json_t *line;
    json_array_foreach(c->lines, i, line)
    {
        const char *const type = conform_text(c, i, line, "type");
        const json_t *const value = json_object_get(line, "value");
        const char *const code = json_string_value(json_object_get(value, "code"));
        if (strcmp(type, "TEXT_MESSAGE_START") == 0 || strcmp(type, "REASONING_MESSAGE_START") == 0)
            json_object_set_new(started, conform_text(c, i, line, "messageId"), json_true());
        if (strcmp(type, "CUSTOM") != 0 || !code || strcmp(code, "retracted") != 0)
            continue;
        check_retraction(c, i, value, started);
        retracted++;
    }
    if (c->turn->retracts && !retracted)
        conform_fail(c, i, "what was taken back is not told");
    json_decref(started);
}
