/* SPDX-License-Identifier: MIT
 * The questions of a card as input blocks, and what was filled in. The ids of the blocks and the
 * values of the options carry the ids and labels, so that any process can read an answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slack_inbound.h"
#include "slack_operation.h"

#define OPTIONS_MAX 100 /* maximum number of options of a menu */
/* Maximum number of options of radio buttons and checkboxes, which are all visible. */
#define OPEN_MAX 10
#define VALUE_BYTES 150
#define LABEL_BYTES 75
#define ID_BYTES 200
#define WRITE_MAX 3000
#define LISTED_MAX 20
#define LISTED_BYTES 300

/* Prefixes of the id of a block; the id of the field follows. */
#define PICK "q."
#define WRITE "w."
#define WRITE_MULTI "m."

/* ---- text that comes back as it was, whatever Slack escapes ---- */

static char *quoted(const char *raw)
{
    char *const out = malloc(3 * strlen(raw) + 1);
    size_t n = 0;
    if (!out)
        return NULL;
    for (; *raw; raw++)
        if (strchr("%&<>\"'", *raw) || (unsigned char)*raw <= ' ')
            n += (size_t)sprintf(out + n, "%%%02X", (unsigned char)*raw);
        else
            out[n++] = *raw;
    out[n] = '\0';
    return out;
}

static json_t *unquoted(const char *text)
{
    char *const out = strdup(text);
    size_t n = 0;
    unsigned byte;
    if (!out)
        return NULL;
    for (const char *p = text; *p; p++) {
        if (*p == '%' && p[1] && p[2] && sscanf(p + 1, "%2X", &byte) == 1) {
            out[n++] = (char)byte;
            p += 2;
        } else {
            out[n++] = *p;
        }
    }
    json_t *const json = json_stringn(out, n);
    free(out);
    return json;
}

/* The text with `begin` in front, quoted; to be released. */
static json_t *quoted_json(const char *begin, const char *raw)
{
    char *const text = quoted(raw);
    json_t *const json = json_sprintf("%s%s", begin, text ? text : "");
    free(text);
    return json;
}

/* ---- options ---- */

static json_t *plain_label(struct tc_turn *turn, const char *raw)
{
    const char *const all = slack_escape(turn, raw, 0);
    const bool cut = strlen(all) > LABEL_BYTES;
    const char *const text = cut ? slack_escape(turn, raw, LABEL_BYTES - 3) : all;
    return json_pack("{s:s, s:s++, s:b}", "type", "plain_text", "text", *text ? text : "?",
                     cut ? "…" : "", "", "emoji", 0);
}

/* Whether the options can be chosen; else they are listed, and the person writes one. */
static bool has_choices(const struct tc_field *f)
{
    json_t *const seen = json_object();
    bool can = f->option_count > 0 && f->option_count <= OPTIONS_MAX;
    for (size_t i = 0; can && i < f->option_count; i++) {
        json_t *const value = quoted_json("", f->options[i].label);
        const char *const text = json_string_value(value);
        can = *text && strlen(text) <= VALUE_BYTES && !json_object_get(seen, text);
        json_object_set(seen, text, value);
        json_decref(value);
    }
    json_decref(seen);
    return can;
}

static json_t *option(struct tc_turn *turn, const struct tc_field_option *o)
{
    json_t *const json = json_pack("{s:o, s:o}", "text", plain_label(turn, o->label), "value",
                                   quoted_json("", o->label));
    if (o->about && *o->about)
        json_object_set_new(json, "description", plain_label(turn, o->about));
    return json;
}

static json_t *list_of_options(struct tc_turn *turn, const struct tc_field *f)
{
    json_t *const items = json_array();
    for (size_t i = 0; i < f->option_count && i < LISTED_MAX; i++)
        json_array_append_new(items, json_pack("{s:s, s:[{s:s, s:s}]}", "type", "rich_text_section",
                                               "elements", "type", "text", "text",
                                               tc_cut(turn, f->options[i].label, LISTED_BYTES)));
    return json_pack("{s:s, s:[{s:s, s:s, s:o}]}", "type", "rich_text", "elements", "type",
                     "rich_text_list", "style", "bullet", "elements", items);
}

/* ---- inputs ---- */

static json_t *input(struct tc_turn *turn, const char *begin, const char *id, const char *label,
                     json_t *element)
{
    return json_pack("{s:s, s:o, s:b, s:o, s:o}", "type", "input", "block_id",
                     quoted_json(begin, id), "optional", 1, "label", plain_label(turn, label),
                     "element", element);
}

static json_t *pick_element(struct tc_turn *turn, const struct tc_field *f)
{
    static const char *const types[2][2] = {{"radio_buttons", "checkboxes"},
                                            {"static_select", "multi_static_select"}};
    const bool menu = f->option_count > OPEN_MAX;
    json_t *const list = json_array();
    for (size_t i = 0; i < f->option_count; i++)
        json_array_append_new(list, option(turn, &f->options[i]));
    json_t *const element = json_pack("{s:s, s:s, s:o}", "type", types[menu][f->multi], "action_id",
                                      "turncast_pick", "options", list);
    if (menu)
        json_object_set_new(element, "placeholder",
                            plain_label(turn, tc_say(turn, "Choose", NULL)));
    return element;
}

static json_t *write_element(void)
{
    return json_pack("{s:s, s:s, s:b, s:i}", "type", "plain_text_input", "action_id",
                     "turncast_write", "multiline", 1, "max_length", WRITE_MAX);
}

static void add_field(struct tc_turn *turn, json_t *blocks, const struct tc_field *f)
{
    const char *const label = f->label && *f->label ? f->label : tc_say(turn, "Your answer", NULL);
    const char *const own = tc_say(turn, "Or type your own answer", NULL);
    const bool choices = has_choices(f);
    if (strlen(f->id) > ID_BYTES / 3)
        return;
    if (choices)
        json_array_append_new(blocks, input(turn, PICK, f->id, label, pick_element(turn, f)));
    else if (f->option_count > 0)
        json_array_append_new(blocks, list_of_options(turn, f));
    json_array_append_new(blocks, input(turn, f->multi ? WRITE_MULTI : WRITE, f->id,
                                        choices ? own : label, write_element()));
}

void slack_form_add(struct tc_turn *turn, json_t *blocks, const struct tc_op *op)
{
    for (size_t i = 0; i < op->field_count; i++)
        add_field(turn, blocks, &op->fields[i]);
}

/* ---- what was filled in ---- */

/* Returns the value of one element: a text, an array of texts, or NULL. */
static json_t *picked(const json_t *element)
{
    const json_t *const several = json_object_get(element, "selected_options");
    const char *value = tc_member_text(json_object_get(element, "selected_option"), "value");
    if (!json_is_array(several))
        return value ? unquoted(value) : NULL;
    json_t *const list = json_array();
    size_t i;
    const json_t *one;
    json_array_foreach(several, i, one)
    {
        value = tc_member_text(one, "value");
        if (value)
            json_array_append_new(list, unquoted(value));
    }
    return list;
}

static const char *written(const json_t *element)
{
    const char *const text = tc_member_text(element, "value");
    return text && text[strspn(text, " \t\r\n")] ? text : NULL;
}

static bool begins(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* Adds an answer: a text replaces the selected option, or is added to several selected options. */
static void slack_form_add_text(json_t *answers, const char *id, const char *text, bool multi)
{
    json_t *const known = multi ? json_object_get(answers, id) : NULL;
    json_t *const list = known ? json_incref(known) : multi ? json_array() : NULL;
    if (multi)
        json_array_append_new(list, json_string(text));
    json_object_set_new(answers, id, multi ? list : json_string(text));
}

static void slack_form_add_answer(json_t *answers, const char *block_id, const json_t *element,
                                  bool picks)
{
    json_t *const id = unquoted(block_id + strlen(PICK));
    const char *const key = json_string_value(id), *const text = written(element);
    json_t *const value = picks ? picked(element) : NULL;
    if (key && value && !(json_is_array(value) && json_array_size(value) == 0))
        json_object_set(answers, key, value);
    else if (key && text && !picks)
        slack_form_add_text(answers, key, text, begins(block_id, WRITE_MULTI));
    json_decref(value);
    json_decref(id);
}

static void slack_form_add_answers(json_t *answers, const json_t *values, bool picks)
{
    const char *block_id, *action_id;
    json_t *block, *element;
    json_object_foreach((json_t *)(uintptr_t)values, block_id, block)
    {
        if (picks ? !begins(block_id, PICK)
                  : !begins(block_id, WRITE) && !begins(block_id, WRITE_MULTI))
            continue;
        json_object_foreach(block, action_id, element)
        {
            slack_form_add_answer(answers, block_id, element, picks);
        }
    }
}

json_t *slack_form_read(const json_t *payload)
{
    const json_t *const values = json_object_get(json_object_get(payload, "state"), "values");
    json_t *const answers = json_object();
    slack_form_add_answers(answers, values, true);
    slack_form_add_answers(answers, values, false);
    return answers;
}
