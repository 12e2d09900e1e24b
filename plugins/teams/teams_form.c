/* SPDX-License-Identifier: MIT
 * The questions of a card as inputs. */
#include <string.h>

#include "teams.h"

#define LISTED_CHARS 200
#define WRITE_MAX 3000

static json_t *form_choices(struct tc_turn *turn, const struct tc_form_input *in)
{
    json_t *const choices = json_array();
    for (size_t i = 0; i < in->option_count; i++) {
        const struct tc_field_option *const o = &in->options[i];
        json_array_append_new(
            choices, json_pack("{s:s, s:s}", "title",
                               tc_sprint(turn, "%s%s%s", tc_fit(turn, o->label, LISTED_CHARS),
                                         o->about ? " — " : "",
                                         o->about ? tc_fit(turn, o->about, LISTED_CHARS) : ""),
                               "value", tc_sprint(turn, "%zu", i)));
    }
    return json_pack("{s:s, s:s, s:s, s:b, s:b, s:s, s:o}", "type", "Input.ChoiceSet", "id", in->id,
                     "label", in->label, "isMultiSelect", in->multi, "wrap", 1, "style", "expanded",
                     "choices", choices);
}

static json_t *form_writing(const struct tc_form_input *in)
{
    return json_pack("{s:s, s:s, s:s, s:b, s:i}", "type", "Input.Text", "id", in->id, "label",
                     in->label, "isMultiline", 1, "maxLength", WRITE_MAX);
}

void teams_form_add(struct tc_turn *turn, json_t *elements, const struct tc_op *op)
{
    size_t n = 0;
    const struct tc_form_input *const inputs =
        tc_chat_inputs(turn, op->fields, op->field_count, 0, 0, &n);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(elements, inputs[i].option_count ? form_choices(turn, &inputs[i])
                                                               : form_writing(&inputs[i]));
}
