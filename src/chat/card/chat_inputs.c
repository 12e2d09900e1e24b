/* SPDX-License-Identifier: MIT
 * Inputs of forms: converts fields to the inputs that a service shows, and the values of inputs to
 * answers. Inputs are numbered, because the ids of questions and the labels of options may be
 * longer than the limits of a service. */
#include <stdlib.h>
#include <string.h>

#include "chat/card/chat_card.h"
#include "text/sentence/texts.h"

#define PICK 'p'
#define WRITE 'w'
#define BLANKS " \t\r\n"

/* ---- what is shown ---- */

static struct tc_form_input make_input(struct arena *arena, char kind, size_t i,
                                       const struct tc_field *f, const char *label)
{
    const bool picks = kind == PICK;
    return (struct tc_form_input){.id = arena_sprintf(arena, "%c%zu", kind, i),
                                  .label = label,
                                  .options = picks ? f->options : NULL,
                                  .option_count = picks ? f->option_count : 0,
                                  .multi = picks && f->multi};
}

const struct tc_form_input *chat_inputs_make(struct arena *arena, const struct tc_field *fields,
                                             size_t count, size_t inputs_max, size_t options_max,
                                             size_t *n)
{
    const bool own = !inputs_max || 2 * count <= inputs_max;
    struct tc_form_input *const inputs = arena_alloc(arena, (2 * count + 1) * sizeof *inputs);
    *n = 0;
    for (size_t i = 0; i < count; i++) {
        const struct tc_field *const f = &fields[i];
        const char *const label = f->label && *f->label ? f->label : texts_get(TEXT_SAY_ANSWER);
        const bool picks = f->option_count && (!options_max || f->option_count <= options_max);
        if (picks)
            inputs[(*n)++] = make_input(arena, PICK, i, f, label);
        if (!picks || own)
            inputs[(*n)++] =
                make_input(arena, WRITE, i, f, picks ? texts_get(TEXT_SAY_OWN_ANSWER) : label);
        inputs[*n - 1].required = !picks || !own;
    }
    return inputs;
}

json_t *chat_inputs_pack(const json_t *fields)
{
    json_t *const form = json_array();
    size_t i, k;
    const json_t *field, *option;
    json_array_foreach(fields, i, field)
    {
        json_t *const labels = json_array();
        json_array_foreach(json_array_get(field, 3), k, option)
            json_array_append_new(labels, json_pack("[O]", json_array_get(option, 0)));
        json_array_append_new(form, json_pack("[O, n, O, o]", json_array_get(field, 0),
                                              json_array_get(field, 2), labels));
    }
    return form;
}

/* ---- what was filled in ---- */

/* Returns the field of an input of that kind; NULL: the id is unknown. */
static const json_t *inputs_find_field(const json_t *form, const char *id, char kind)
{
    char *end = NULL;
    const unsigned long n =
        *id == kind && id[1] >= '0' && id[1] <= '9' ? strtoul(id + 1, &end, 10) : 0;
    return end && !*end ? json_array_get(form, n) : NULL;
}

/* Adds an answer to a field with several answers, or replaces the answer of another field. */
static void inputs_add_answer(json_t *answers, const json_t *field, json_t *text)
{
    const char *const id = json_string_value(json_array_get(field, 0));
    const bool multi = json_is_true(json_array_get(field, 2));
    json_t *const known = multi && id ? json_object_get(answers, id) : NULL;
    if (!id || !json_is_string(text))
        return;
    if (known)
        json_array_append(known, text);
    else
        json_object_set_new(answers, id, multi ? json_pack("[O]", text) : json_incref(text));
}

/* Adds the options with these numbers as answers. */
static void chat_inputs_add_numbered(json_t *answers, const json_t *field, const char *numbers)
{
    for (const char *p = numbers; p && *p; p += strspn(p, ",")) {
        char *end;
        const unsigned long n = strtoul(p, &end, 10);
        if (end != p)
            inputs_add_answer(answers, field,
                              json_array_get(json_array_get(json_array_get(field, 3), n), 0));
        p += strcspn(p, ",");
    }
}

static void chat_inputs_add_picked(json_t *answers, const json_t *field, const json_t *value)
{
    size_t i;
    const json_t *one;
    chat_inputs_add_numbered(answers, field, json_string_value(value));
    json_array_foreach(value, i, one)
        chat_inputs_add_numbered(answers, field, json_string_value(one));
}

static void chat_inputs_add_written(json_t *answers, const json_t *field, json_t *value)
{
    const char *const text = json_string_value(value);
    if (text && text[strspn(text, BLANKS)])
        inputs_add_answer(answers, field, value);
}

json_t *chat_inputs_read(const json_t *form, json_t *filled)
{
    json_t *const answers = json_object();
    const char *id;
    json_t *value;
    json_object_foreach(filled, id, value)
        chat_inputs_add_picked(answers, inputs_find_field(form, id, PICK), value);
    json_object_foreach(filled, id, value)
        chat_inputs_add_written(answers, inputs_find_field(form, id, WRITE), value);
    return answers;
}
