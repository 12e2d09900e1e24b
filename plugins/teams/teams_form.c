/* SPDX-License-Identifier: MIT
 * The questions of a card as inputs, and the decoding of answers. A choice is returned as the
 * number of its option; the button returns the labels. */
#include <stdlib.h>
#include <string.h>

#include "teams.h"

#define LISTED_BYTES 400
#define WRITE_MAX 3000

/* Prefix of an input's id; the id of the field follows. */
#define PICK "p."
#define PICK_MULTI "q."
#define WRITE "w."
#define WRITE_MULTI "m."

/* ---- inputs ---- */

static void form_add_choices(struct tc_turn *turn, json_t *elements, const struct tc_field *f,
                             const char *label)
{
    json_t *const choices = json_array();
    for (size_t i = 0; i < f->option_count; i++) {
        const struct tc_field_option *const o = &f->options[i];
        const bool about = o->about && *o->about;
        json_array_append_new(
            choices, json_pack("{s:s, s:s}", "title",
                               tc_sprint(turn, "%s%s%s", tc_cut(turn, o->label, LISTED_BYTES),
                                         about ? " — " : "",
                                         about ? tc_cut(turn, o->about, LISTED_BYTES) : ""),
                               "value", tc_sprint(turn, "%zu", i)));
    }
    json_array_append_new(
        elements,
        json_pack("{s:s, s:s, s:s, s:b, s:b, s:s, s:o}", "type", "Input.ChoiceSet", "id",
                  tc_sprint(turn, "%s%s", f->multi ? PICK_MULTI : PICK, f->id), "label", label,
                  "isMultiSelect", f->multi, "wrap", 1, "style", "expanded", "choices", choices));
}

static void form_add_writing(struct tc_turn *turn, json_t *elements, const struct tc_field *f,
                             const char *label)
{
    json_array_append_new(elements,
                          json_pack("{s:s, s:s, s:s, s:b, s:i}", "type", "Input.Text", "id",
                                    tc_sprint(turn, "%s%s", f->multi ? WRITE_MULTI : WRITE, f->id),
                                    "label", label, "isMultiline", 1, "maxLength", WRITE_MAX));
}

void teams_form_add(struct tc_turn *turn, json_t *elements, const struct tc_op *op)
{
    for (size_t i = 0; i < op->field_count; i++) {
        const struct tc_field *const f = &op->fields[i];
        const char *const label =
            f->label && *f->label ? f->label : tc_say(turn, "Your answer", NULL);
        const char *const own = tc_say(turn, "Or type your own answer", NULL);
        if (f->option_count > 0)
            form_add_choices(turn, elements, f, label);
        form_add_writing(turn, elements, f, f->option_count > 0 ? own : label);
    }
}

json_t *teams_form_labels(const struct tc_op *op)
{
    json_t *const labels = op->field_count ? json_object() : NULL;
    for (size_t i = 0; i < op->field_count; i++) {
        json_t *const list = json_array();
        for (size_t k = 0; k < op->fields[i].option_count; k++)
            json_array_append_new(list, json_string(op->fields[i].options[k].label));
        json_object_set_new(labels, op->fields[i].id, list);
    }
    return labels;
}

/* ---- answers ---- */

static bool form_begins(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* Converts numbers separated by commas to labels. */
static json_t *form_picked(const json_t *labels, const char *numbers)
{
    json_t *const list = json_array();
    for (const char *p = numbers; *p; p += strspn(p, ",")) {
        char *end;
        const unsigned long n = strtoul(p, &end, 10);
        if (end != p)
            json_array_append(list, json_array_get(labels, n));
        p += strcspn(p, ",");
    }
    return list;
}

static void form_take_choice(json_t *answers, const char *input, const json_t *data,
                             const char *numbers)
{
    const char *const id = input + strlen(PICK);
    json_t *const list = form_picked(json_object_get(json_object_get(data, "labels"), id), numbers);
    if (json_array_size(list) > 0)
        json_object_set(answers, id, form_begins(input, PICK) ? json_array_get(list, 0) : list);
    json_decref(list);
}

/* A text replaces selected options, or (several) is added to them. */
static void form_take_text(json_t *answers, const char *input, const char *text)
{
    const char *const id = input + strlen(WRITE);
    json_t *const known = json_object_get(answers, id);
    if (!text[strspn(text, " \t\r\n")])
        return;
    if (!form_begins(input, WRITE_MULTI))
        json_object_set_new(answers, id, json_string(text));
    else if (json_is_array(known))
        json_array_append_new(known, json_string(text));
    else
        json_object_set_new(answers, id, json_pack("[s]", text));
}

static void form_take_all(json_t *answers, const json_t *data, bool texts)
{
    const char *input;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)data, input, value)
    {
        const char *const text = json_string_value(value);
        const bool picks = form_begins(input, PICK) || form_begins(input, PICK_MULTI);
        const bool writes = form_begins(input, WRITE) || form_begins(input, WRITE_MULTI);
        if (text && picks && !texts)
            form_take_choice(answers, input, data, text);
        else if (text && writes && texts)
            form_take_text(answers, input, text);
    }
}

json_t *teams_form_read(const json_t *data)
{
    json_t *const answers = json_object();
    form_take_all(answers, data, false);
    form_take_all(answers, data, true);
    return answers;
}
