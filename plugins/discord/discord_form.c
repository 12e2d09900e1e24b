/* SPDX-License-Identifier: MIT
 * The questions of a card as a modal, and what was filled in. The ids of the inputs and the values
 * of the options are numbers, because ids and labels may be longer than Discord takes. */
#include <stdlib.h>
#include <string.h>

#include "discord.h"

#define TITLE_CHARS 45
#define OPTION_CHARS 100
#define OPTIONS_MAX 25
#define WRITE_MAX 4000

enum { SELECT = 3, TEXT_INPUT = 4, LABEL = 18 };

/* How the id of an input begins; the number of the field follows. */
#define PICK "p"
#define WRITE "w"

static json_t *form_label(struct tc_turn *lobby, const char *label, json_t *input)
{
    return json_pack("{s:i, s:s, s:o}", "type", LABEL, "label",
                     discord_fit(lobby, label, TITLE_CHARS), "component", input);
}

static json_t *form_select(struct tc_turn *lobby, const struct tc_field *f, size_t i, bool required)
{
    json_t *const options = json_array();
    for (size_t k = 0; k < f->option_count; k++) {
        const struct tc_field_option *const o = &f->options[k];
        const bool about = o->about && *o->about;
        json_array_append_new(options,
                              json_pack("{s:s, s:s, s:s*}", "label",
                                        discord_fit(lobby, o->label, OPTION_CHARS), "value",
                                        tc_sprint(lobby, "%zu", k), "description",
                                        about ? discord_fit(lobby, o->about, OPTION_CHARS) : NULL));
    }
    return json_pack("{s:i, s:s, s:o, s:i, s:i, s:b}", "type", SELECT, "custom_id",
                     tc_sprint(lobby, PICK "%zu", i), "options", options, "min_values", required,
                     "max_values", f->multi ? (int)f->option_count : 1, "required", required);
}

/* Style 2: of several lines. */
static json_t *form_writing(struct tc_turn *lobby, size_t i, bool required)
{
    return json_pack("{s:i, s:s, s:i, s:i, s:b}", "type", TEXT_INPUT, "custom_id",
                     tc_sprint(lobby, WRITE "%zu", i), "style", 2, "max_length", WRITE_MAX,
                     "required", required);
}

/* Beside options, an answer in words has room only when the form has one or two questions. */
const char *discord_form_open(struct tc_turn *lobby, const char *data,
                              const struct tc_field *fields, size_t count)
{
    const bool own = 2 * count <= DISCORD_FORM_INPUTS;
    json_t *const inputs = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct tc_field *const f = &fields[i];
        const char *const label = f->label ? f->label : tc_say(lobby, "Your answer", NULL);
        const bool picks = f->option_count > 0 && f->option_count <= OPTIONS_MAX;
        if (picks)
            json_array_append_new(inputs, form_label(lobby, label, form_select(lobby, f, i, !own)));
        if (!picks || own)
            json_array_append_new(
                inputs,
                form_label(lobby, picks ? tc_say(lobby, "Or type your own answer", NULL) : label,
                           form_writing(lobby, i, !picks)));
    }
    return tc_json(lobby, "{s:i, s:{s:s, s:s, s:o}}", "type", 9, "data", "custom_id", data, "title",
                   tc_say(lobby, "Question", NULL), "components", inputs);
}

/* ---- what was filled in ---- */

/* A text, which comes behind what was picked, takes its place, or (several) stands beside it. */
static void form_add(json_t *answers, const struct tc_field *f, const char *text)
{
    json_t *const known = f->multi ? json_object_get(answers, f->id) : NULL;
    if (known)
        json_array_append_new(known, json_string(text));
    else
        json_object_set_new(answers, f->id, f->multi ? json_pack("[s]", text) : json_string(text));
}

static void form_take(json_t *answers, const struct tc_field *f, const json_t *input)
{
    const char *const text = discord_text(input, "value");
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(input, "values"), i, one)
    {
        const size_t k = strtoul(json_string_value(one), NULL, 10);
        if (k < f->option_count)
            form_add(answers, f, f->options[k].label);
    }
    if (text && text[strspn(text, " \t\r\n")])
        form_add(answers, f, text);
}

const char *discord_form_read(struct tc_turn *lobby, const json_t *data,
                              const struct tc_field *fields, size_t count)
{
    json_t *const answers = json_object();
    size_t i;
    const json_t *label;
    json_array_foreach(json_object_get(data, "components"), i, label)
    {
        const json_t *const input = json_object_get(label, "component");
        const char *const id = discord_text(input, "custom_id");
        const size_t n = id && *id ? strtoul(id + 1, NULL, 10) : count;
        if (n < count)
            form_take(answers, &fields[n], input);
    }
    return tc_json(lobby, "o", answers);
}
