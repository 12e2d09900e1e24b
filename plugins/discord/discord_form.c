/* SPDX-License-Identifier: MIT
 * The questions of a card as a modal, and what was filled in. */
#include "discord.h"

#define TITLE_CHARS 45
#define OPTION_CHARS 100
#define OPTIONS_MAX 25
#define WRITE_MAX 4000

enum { SELECT = 3, TEXT_INPUT = 4, LABEL = 18, MULTIPLE_LINES = 2 };

static json_t *form_select(struct tc_turn *lobby, const struct tc_form_input *in)
{
    json_t *const options = json_array();
    for (size_t i = 0; i < in->option_count; i++)
        json_array_append_new(options,
                              json_pack("{s:s, s:s, s:s*}", "label",
                                        tc_fit(lobby, in->options[i].label, OPTION_CHARS), "value",
                                        tc_sprint(lobby, "%zu", i), "description",
                                        tc_fit(lobby, in->options[i].about, OPTION_CHARS)));
    return json_pack("{s:i, s:s, s:o, s:i, s:i, s:b}", "type", SELECT, "custom_id", in->id,
                     "options", options, "min_values", in->required, "max_values",
                     in->multi ? (int)in->option_count : 1, "required", in->required);
}

static json_t *form_writing(const struct tc_form_input *in)
{
    return json_pack("{s:i, s:s, s:i, s:i, s:b}", "type", TEXT_INPUT, "custom_id", in->id, "style",
                     MULTIPLE_LINES, "max_length", WRITE_MAX, "required", in->required);
}

const char *discord_form_open(struct tc_turn *lobby, const char *data,
                              const struct tc_field *fields, size_t count)
{
    size_t n = 0;
    const struct tc_form_input *const inputs =
        tc_chat_inputs(lobby, fields, count, DISCORD_FORM_INPUTS, OPTIONS_MAX, &n);
    json_t *const labels = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(labels,
                              json_pack("{s:i, s:s, s:o}", "type", LABEL, "label",
                                        tc_fit(lobby, inputs[i].label, TITLE_CHARS), "component",
                                        inputs[i].option_count ? form_select(lobby, &inputs[i])
                                                               : form_writing(&inputs[i])));
    return tc_json(lobby, "{s:i, s:{s:s, s:s, s:o}}", "type", 9, "data", "custom_id", data, "title",
                   tc_say(lobby, "Question", NULL), "components", labels);
}

const char *discord_form_read(struct tc_turn *lobby, const json_t *data)
{
    json_t *const filled = json_object();
    size_t i;
    const json_t *label;
    json_array_foreach(json_object_get(data, "components"), i, label)
    {
        const json_t *const input = json_object_get(label, "component");
        const char *const id = tc_member_text(input, "custom_id");
        json_t *const values = json_object_get(input, "values");
        if (id)
            json_object_set(filled, id, values ? values : json_object_get(input, "value"));
    }
    return tc_json(lobby, "o", filled);
}
