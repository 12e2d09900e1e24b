/* SPDX-License-Identifier: MIT
 * Reads the session mode from the setup response, from `modes` or from `configOptions`. */
#include "dialect/acp/acp.h"
#include "event/json/json_reader.h"

static struct str find_option(struct str options)
{
    struct str found = {0};
    struct json j;
    struct str option;
    json_reader_open_array(&j, options);
    while (json_reader_next_value(&j, &option)) {
        if (!found.p && value_equals(value_get_last(option, "category"), "mode"))
            found = option;
    }
    return found;
}

struct acp_mode acp_mode_parse(struct str result)
{
    const struct str mode = value_get_last(value_get_last(result, "modes"), "currentModeId");
    const struct str option = find_option(value_get_last(result, "configOptions"));
    const struct str id = value_get_last(option, "id");
    if (value_string(mode).p || !value_string(id).p)
        return (struct acp_mode){.current = value_string(mode).p ? mode : (struct str){0}};
    const struct str now = value_get_last(option, "currentValue");
    return (struct acp_mode){.option = id, .current = value_string(now).p ? now : (struct str){0}};
}
