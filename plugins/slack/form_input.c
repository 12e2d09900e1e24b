/* SPDX-License-Identifier: MIT
 * What can be filled in for a request: an input block for each question, and one for other words.
 * The blocks carry all that is needed to read them, so that any process can. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "form_input.h"
#include "text.h"

#define OPTIONS_MAX 100 /* of a menu */
#define OPEN_MAX 10     /* of buttons and boxes that all can be seen */
#define VALUE_BYTES 150
#define LABEL_BYTES 75
#define ID_BYTES 200
#define WRITE_MAX 3000
#define LISTED_MAX 20
#define LISTED_UNITS 300

/* How the id of a block begins; the id of the question follows. */
#define PICK "q."
#define WRITE "w."
#define WRITE_MULTI "m."

/* ---- text that comes back as it was, whatever Slack escapes */

static char *quoted(const char *raw)
{
    char *out = malloc(3 * strlen(raw) + 1);
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
    char *out = strdup(text);
    size_t n = 0;
    unsigned byte;
    if (!out)
        return NULL;
    for (const char *p = text; *p; p++) {
        if (*p == '%' && sscanf(p + 1, "%2X", &byte) == 1 && p[1] && p[2]) {
            out[n++] = (char)byte;
            p += 2;
        } else {
            out[n++] = *p;
        }
    }
    json_t *json = json_stringn(out, n);
    free(out);
    return json;
}

/* ---- options */

static const char *label_of(const json_t *option)
{
    const char *label = json_string_value(option);
    return label ? label : json_string_value(json_object_get(option, "label"));
}

static bool fits(const char *label)
{
    char *value = label && *label ? quoted(label) : NULL;
    const bool can = value && strlen(value) <= VALUE_BYTES;
    free(value);
    return can;
}

bool form_input_has_options(const json_t *question)
{
    const json_t *options = json_object_get(question, "options");
    json_auto_t *seen = json_object();
    size_t i;
    const json_t *option;
    if (json_array_size(options) == 0 || json_array_size(options) > OPTIONS_MAX)
        return false;
    json_array_foreach(options, i, option)
    {
        const char *label = label_of(option);
        if (!fits(label) || json_object_get(seen, label))
            return false;
        json_object_set_new(seen, label, json_true());
    }
    return true;
}

void form_input_list(struct tc_turn *turn, json_t *parts, const json_t *question)
{
    json_t *items = json_array();
    size_t i;
    const json_t *option;
    json_array_foreach(json_object_get(question, "options"), i, option)
    {
        const char *label = label_of(option);
        if (label && *label && i < LISTED_MAX)
            json_array_append_new(items,
                                  json_pack("{s:s, s:[{s:s, s:o}]}", "type", "rich_text_section",
                                            "elements", "type", "text", "text",
                                            json_string(text_plain(turn, label, LISTED_UNITS))));
    }
    if (json_array_size(items) > 0)
        json_array_append_new(parts, json_pack("{s:s, s:s, s:O}", "type", "rich_text_list", "style",
                                               "bullet", "elements", items));
    json_decref(items);
}

static json_t *form_input_plain_text(const char *text)
{
    return json_pack("{s:s, s:s, s:b}", "type", "plain_text", "text", text, "emoji", 0);
}

/* Disarmed, one line, and "…" where it is cut. */
static const char *short_label(struct tc_turn *turn, const char *raw)
{
    const char *all = text_label(turn, raw, 0);
    const char *cut = strlen(all) > LABEL_BYTES ? text_label(turn, raw, LABEL_BYTES - 3) : all;
    const char *marked = cut != all ? tc_sprint(turn, "%s\xe2\x80\xa6", cut) : cut;
    return marked && *marked ? marked : "?";
}

static json_t *option_of(struct tc_turn *turn, const json_t *option, enum form_detail detail)
{
    const char *about = json_string_value(json_object_get(option, "description"));
    char *value = quoted(label_of(option));
    json_t *o =
        json_pack("{s:o, s:s}", "text", form_input_plain_text(short_label(turn, label_of(option))),
                  "value", value ? value : "?");
    free(value);
    if (about && *about && detail == FORM_FULL)
        json_object_set_new(o, "description", form_input_plain_text(short_label(turn, about)));
    return o;
}

/* ---- inputs */

static json_t *input(const char *begin, const char *id, const char *label, json_t *element)
{
    char *quoted_id = quoted(id);
    json_t *block = json_pack("{s:s, s:o, s:b, s:o, s:o}", "type", "input", "block_id",
                              json_sprintf("%s%s", begin, quoted_id ? quoted_id : ""), "optional",
                              1, "label", form_input_plain_text(label), "element", element);
    free(quoted_id);
    return block;
}

static json_t *pick_element(struct tc_turn *turn, const json_t *question, enum form_detail detail)
{
    static const char *const types[2][2] = {{"radio_buttons", "checkboxes"},
                                            {"static_select", "multi_static_select"}};
    const json_t *options = json_object_get(question, "options");
    const bool multi = json_is_true(json_object_get(question, "multi"));
    const bool menu = json_array_size(options) > OPEN_MAX;
    json_t *list = json_array();
    size_t i;
    const json_t *option;
    json_array_foreach(options, i, option)
        json_array_append_new(list, option_of(turn, option, detail));
    json_t *element = json_pack("{s:s, s:s, s:o}", "type", types[menu][multi], "action_id",
                                "turncast_pick", "options", list);
    if (menu)
        json_object_set_new(element, "placeholder", form_input_plain_text("Choose"));
    return element;
}

static json_t *write_element(void)
{
    return json_pack("{s:s, s:s, s:b, s:i}", "type", "plain_text_input", "action_id",
                     "turncast_write", "multiline", 1, "max_length", WRITE_MAX);
}

static bool form_input_add_question(struct tc_turn *turn, json_t *blocks, const json_t *question,
                                    enum form_detail detail)
{
    const char *id = json_string_value(json_object_get(question, "id"));
    const char *header = json_string_value(json_object_get(question, "header"));
    const bool multi = json_is_true(json_object_get(question, "multi"));
    const char *label = header && *header ? short_label(turn, header) : "Your answer";
    char *quoted_id = id ? quoted(id) : NULL;
    const bool can = quoted_id && *quoted_id && strlen(quoted_id) <= ID_BYTES;
    free(quoted_id);
    if (!can)
        return false;
    const bool options = form_input_has_options(question);
    if (options)
        json_array_append_new(blocks, input(PICK, id, label, pick_element(turn, question, detail)));
    json_array_append_new(blocks,
                          input(multi ? WRITE_MULTI : WRITE, id,
                                options ? "Or type your own answer" : label, write_element()));
    return true;
}

bool form_input_add(struct tc_turn *turn, json_t *blocks, const struct tc_request *ev,
                    enum form_detail detail)
{
    json_auto_t *questions = ev->questions ? json_loads(ev->questions, 0, NULL) : NULL;
    json_auto_t *inputs = json_array();
    size_t i;
    const json_t *question;
    if (detail == FORM_NONE || json_array_size(questions) > FORM_INPUTS)
        return false;
    json_array_foreach(questions, i, question)
    {
        if (!form_input_add_question(turn, inputs, question, detail))
            return false;
    }
    if (json_array_size(questions) == 0)
        json_array_append_new(inputs, input(WRITE, "", "Your answer", write_element()));
    json_array_extend(blocks, inputs);
    return true;
}

/* ---- what was filled in */

/* Of one element: a text, an array of texts, or NULL. */
static json_t *picked(const json_t *element)
{
    const json_t *one = json_object_get(element, "selected_option");
    const json_t *several = json_object_get(element, "selected_options");
    const char *value = json_string_value(json_object_get(one, "value"));
    if (!json_is_array(several))
        return value ? unquoted(value) : NULL;
    json_t *list = json_array();
    size_t i;
    const json_t *option;
    json_array_foreach(several, i, option)
    {
        value = json_string_value(json_object_get(option, "value"));
        if (value)
            json_array_append_new(list, unquoted(value));
    }
    return list;
}

static const char *written(const json_t *element)
{
    const char *text = json_string_value(json_object_get(element, "value"));
    return text && text[strspn(text, " \t\r\n")] ? text : NULL;
}

/* What has been written goes before what was picked, or (several) beside it. */
static void take(struct form_filled *f, const char *block_id, const json_t *element)
{
    json_auto_t *id = unquoted(block_id + strlen(PICK));
    const char *key = json_string_value(id), *text = written(element);
    const bool pick = strncmp(block_id, PICK, strlen(PICK)) == 0;
    const bool multi = strncmp(block_id, WRITE_MULTI, strlen(WRITE_MULTI)) == 0;
    json_t *known = key ? json_object_get(f->answers, key) : NULL;
    if (!key)
        return;
    if (!*key) {
        f->text = text;
        f->missing |= !text;
        return;
    }
    json_t *value = pick ? picked(element) : NULL;
    if (text && !pick && multi)
        value = json_is_array(known) ? json_incref(known) : json_array();
    if (text && !pick && multi)
        json_array_append_new(value, json_string(text));
    else if (text && !pick)
        value = json_string(text);
    if (value)
        json_object_set_new(f->answers, key, value);
    else if (!known)
        json_object_set_new(f->answers, key, json_null());
}

static void take_all(struct form_filled *f, const json_t *values, bool picks)
{
    const char *block_id, *action_id;
    json_t *block, *element;
    json_object_foreach((json_t *)(uintptr_t)values, block_id, block)
    {
        const bool pick = strncmp(block_id, PICK, strlen(PICK)) == 0;
        const bool write = strncmp(block_id, WRITE, strlen(WRITE)) == 0 ||
                           strncmp(block_id, WRITE_MULTI, strlen(WRITE_MULTI)) == 0;
        if (picks ? !pick : !write)
            continue;
        json_object_foreach(block, action_id, element)
        {
            take(f, block_id, element);
        }
    }
}

struct form_filled form_read(const json_t *payload)
{
    const json_t *values = json_object_get(json_object_get(payload, "state"), "values");
    struct form_filled f = {.answers = json_object()};
    const char *key;
    json_t *value;
    take_all(&f, values, true);
    take_all(&f, values, false);
    json_object_foreach(f.answers, key, value)
    {
        f.missing |= json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0);
    }
    return f;
}
