/* SPDX-License-Identifier: MIT
 * Owns how an acp agent says in which mode a session is: as its mode, or as one of its options. */
#include "dialect/acp/acp.h"
#include "event/json/json_reader.h"

static struct str find_option(struct str options)
{
    struct str found = {0};
    struct json j;
    json_start(&j, options.p, options.len);
    if (!options.p || !json_enter_array(&j))
        return found;
    while (json_next_element(&j)) {
        struct str option = {0};
        json_skip(&j, &option);
        if (!found.p && value_is(value_member(option, "category"), "mode"))
            found = option;
    }
    return found;
}

struct acp_mode acp_mode_of(struct str result)
{
    const struct str mode = value_member(value_member(result, "modes"), "currentModeId");
    const struct str option = find_option(value_member(result, "configOptions"));
    const struct str id = value_member(option, "id");
    if (value_string(mode).p || !value_string(id).p)
        return (struct acp_mode){.current = value_string(mode).p ? mode : (struct str){0}};
    const struct str now = value_member(option, "currentValue");
    return (struct acp_mode){.option = id, .current = value_string(now).p ? now : (struct str){0}};
}
