/* SPDX-License-Identifier: MIT
 * Converts the server's questions and MCP elicitation forms to canonical questions, and answers
 * back. */
#include "dialect/codex/codex_app.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

#define QUESTIONS_MAX 32

/* ---- questions ---- */

static void codex_app_form_add_text(const struct codex_app_line *call, struct buf *out,
                                    const char *key, struct str value)
{
    jsonw_member_str(out, key, codex_app_text(call, value));
}

/* Labels of choices: strings, or members of objects. */
static void codex_app_form_add_options(const struct codex_app_line *call, struct buf *out,
                                       struct str list)
{
    struct json j;
    struct str option;
    json_reader_open_array(&j, list);
    buf_add_str(out, ",\"options\":[");
    for (bool first = true; json_reader_next_value(&j, &option);) {
        const struct str label = value_get_last(option, "label");
        const struct str constant = value_get_last(option, "const");
        const struct str shown = label.p ? label : constant.p ? constant : option;
        if (!value_string(shown).p)
            continue;
        buf_add_str(out, first ? "{" : ",{");
        first = false;
        codex_app_form_add_text(call, out, "label", shown);
        codex_app_form_add_text(call, out, "description",
                                value_get_last(option, label.p ? "description" : "title"));
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

const char *codex_app_convert_questions(const struct codex_app_line *call)
{
    const struct str list = value_get_last(call->params, "questions");
    CLEANUP_BUF struct buf out = {0};
    struct json j;
    struct str question;
    size_t n = 0;
    if (!json_reader_open_array(&j, list))
        return NULL;
    buf_add_char(&out, '[');
    while (json_reader_next_value(&j, &question)) {
        if (!value_string(value_get_last(question, "id")).p || n == QUESTIONS_MAX)
            continue;
        const char *const prompt = codex_app_text(call, value_get_last(question, "question"));
        buf_add_str(&out, n++ ? ",{" : "{");
        codex_app_form_add_text(call, &out, "id", value_get_last(question, "id"));
        codex_app_form_add_text(call, &out, "header", value_get_last(question, "header"));
        jsonw_member_str(&out, "prompt", prompt ? prompt : "");
        codex_app_form_add_options(call, &out, value_get_last(question, "options"));
        jsonw_member_bool(&out, "multi", false);
        buf_add_char(&out, '}');
    }
    buf_add_char(&out, ']');
    return arena_strdup(call->out->scratch, out.p);
}

bool codex_app_is_secret(const struct codex_app_line *call)
{
    const struct str list = value_get_last(call->params, "questions");
    struct json j;
    struct str question;
    bool secret = false;
    json_reader_open_array(&j, list);
    while (json_reader_next_value(&j, &question))
        secret |= value_is_true(value_get_last(question, "isSecret"));
    return secret;
}

/* The choices of a property: its own, or those of its list elements. */
static struct str choices_of(struct str property)
{
    static const char *const members[] = {"enum", "oneOf", "anyOf"};
    const struct str items = value_get_last(property, "items");
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const struct str own = value_get_last(property, members[i]);
        const struct str of_items = value_get_last(items, members[i]);
        if (own.p || of_items.p)
            return own.p ? own : of_items;
    }
    return value_equals(value_get_last(property, "type"), "boolean") ? STR("[\"true\",\"false\"]")
                                                                     : (struct str){0};
}

static void add_property(const struct codex_app_line *call, struct buf *out, const char *name,
                         struct str property)
{
    const char *const title = codex_app_text(call, value_get_last(property, "title"));
    const char *const text = codex_app_text(call, value_get_last(property, "description"));
    buf_add_char(out, '{');
    jsonw_member_str(out, "id", name);
    jsonw_member_str(out, "header", title);
    jsonw_member_str(out, "prompt", text ? text : title ? title : name);
    codex_app_form_add_options(call, out, choices_of(property));
    jsonw_member_bool(out, "multi", value_equals(value_get_last(property, "type"), "array"));
    buf_add_char(out, '}');
}

const char *codex_app_convert_form(const struct codex_app_line *call)
{
    const struct str properties =
        value_get_last(value_get_last(call->params, "requestedSchema"), "properties");
    CLEANUP_BUF struct buf out = {0};
    struct json j;
    struct str property;
    struct str key;
    size_t n = 0;
    if (!json_reader_open_object(&j, properties))
        return NULL;
    buf_add_char(&out, '[');
    while (json_reader_next_member(&j, &key, &property)) {
        if (n == QUESTIONS_MAX)
            continue;
        buf_add_str(&out, n++ ? "," : "");
        add_property(call, &out, json_reader_unescape(call->out->scratch, key, NULL), property);
    }
    buf_add_char(&out, ']');
    return n ? arena_strdup(call->out->scratch, out.p) : NULL;
}

/* ---- answers ---- */

/* A text or a list of texts, as a list. */
static void codex_app_form_add_list(struct buf *out, struct str answer)
{
    const bool text = value_string(answer).p;
    buf_add_str(out, text ? "[" : "");
    json_reader_compact(out, answer);
    buf_add_str(out, text ? "]" : "");
}

void codex_app_add_answers(struct buf *out, const char *answers)
{
    struct json j;
    struct str key;
    json_init(&j, answers, answers ? strlen(answers) : 0);
    buf_add_char(out, '{');
    if (answers && json_reader_enter_object(&j))
        for (bool first = true; json_reader_next_key(&j, &key); first = false) {
            struct str answer = {0};
            json_reader_skip(&j, &answer);
            buf_printf(out, "%s\"%.*s\":{\"answers\":", first ? "" : ",", (int)key.len, key.p);
            codex_app_form_add_list(out, answer);
            buf_add_char(out, '}');
        }
    buf_add_char(out, '}');
}

/* Converts a text to a value of that type if possible. */
static void add_typed(struct buf *out, struct str type, struct str answer)
{
    const struct str text = value_string(answer);
    struct json j;
    double number;
    json_init(&j, text.p, text.len);
    const bool is_number =
        text.p && json_reader_read_real(&j, &number) && json_reader_finish(&j) == 0;
    if (value_equals(type, "array"))
        codex_app_form_add_list(out, answer);
    else if ((value_equals(type, "number") || value_equals(type, "integer")) && is_number)
        buf_add(out, text.p, text.len);
    else if (value_equals(type, "boolean") && (str_is(text, "true") || str_is(text, "false")))
        buf_add(out, text.p, text.len);
    else
        json_reader_compact(out, answer);
}

/* The answer to the property of that (still escaped) name; p NULL: none. */
static struct str find_answer(struct arena *a, const char *answers, struct str name)
{
    struct str found = {0}, key;
    struct json j;
    const char *const wanted = json_reader_unescape(a, name, NULL);
    json_init(&j, answers, answers ? strlen(answers) : 0);
    if (!answers || !json_reader_enter_object(&j))
        return found;
    while (json_reader_next_key(&j, &key)) {
        struct str answer = {0};
        json_reader_skip(&j, &answer);
        if (strcmp(json_reader_unescape(a, key, NULL), wanted) == 0)
            found = answer;
    }
    return found;
}

void codex_app_add_content(struct buf *out, const char *schema, const char *answers)
{
    const struct str properties =
        value_get_last((struct str){schema, schema ? strlen(schema) : 0}, "properties");
    struct arena scratch = {0};
    struct json j;
    struct str property;
    struct str key;
    bool first = true;
    buf_add_char(out, '{');
    json_reader_open_object(&j, properties);
    while (json_reader_next_member(&j, &key, &property)) {
        const struct str answer = find_answer(&scratch, answers, key);
        if (!answer.p)
            continue;
        buf_printf(out, "%s\"%.*s\":", first ? "" : ",", (int)key.len, key.p);
        first = false;
        add_typed(out, value_get_last(property, "type"), answer);
    }
    buf_add_char(out, '}');
    arena_fini(&scratch);
}
