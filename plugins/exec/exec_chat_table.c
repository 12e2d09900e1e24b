/* SPDX-License-Identifier: MIT
 * The member `chat` of the program's hello: reads the description of a chat service into the table
 * that the host's chat engine uses. Every member is checked; a member that is missing has the
 * default of struct tc_chat. */
#include <string.h>

#include "exec_chat.h"

#define NUMBER_MAX INT32_MAX

/* ---- words ---- */

const char *const exec_chat_operations[TC_OPS] = {
    "identify", "post", "edit",  "delete", "file",  "typing",       "react",         "private",
    "lookup",   "poll", "fetch", "menu",   "draft", "stream_begin", "stream_append", "stream_end"};
const char *const exec_chat_roles[TC_ROLES] = {"live", "answer", "card", "reply"};
const char *const exec_chat_reactions[EXEC_CHAT_REACTIONS] = {"seen", "queued", "taken",    "allow",
                                                              "deny", "given",  "interrupt"};

/* The reactions of the first version of the protocol. */
#define REACTIONS_KNOWN                                                                            \
    (1u << TC_REACTION_SEEN | 1u << TC_REACTION_QUEUED | 1u << TC_REACTION_TAKEN |                 \
     1u << TC_REACTION_ALLOW | 1u << TC_REACTION_DENY)

static const char *const forms[] = {
    [TC_PLAIN] = "plain",       [TC_TELEGRAM] = "telegram",     [TC_MRKDWN] = "mrkdwn",
    [TC_MARKDOWN] = "markdown", [TC_COMMONMARK] = "commonmark", [TC_HTML] = "html",
};
static const char *const text_units[] = {"utf16", "codepoints", "bytes"};
static const char *const inputs[] = {"text", "reactions", "buttons", "fields"};
static const char *const idempotencies[] = {"none", "key", "lookup"};
static const char *const command_marks[] = {"/", "!"};

/* Bit n of tc_text.flags; NULL: not for chats. */
static const char *const text_flags[] = {"folded", NULL, "no_tables", "no_headings", "fold_quotes"};

/* A list of words as bits; if the member is missing, *bits is unchanged. */
static bool table_read_bits(const json_t *m, const char *key, const char *const *words,
                            size_t count, uint32_t *bits)
{
    const json_t *const list = json_object_get(m, key);
    const json_t *one;
    size_t i;
    if (list)
        *bits = 0;
    json_array_foreach(list, i, one)
    {
        const int word = exec_word_find(json_string_value(one), words, count);
        if (word < 0)
            return false;
        *bits |= 1u << word;
    }
    return !list || json_is_array(list);
}

/* ---- numbers ---- */

enum table_type { TABLE_INT64, TABLE_UNSIGNED, TABLE_SIZE };

struct table_number {
    const char *key;
    size_t offset;
    enum table_type type;
};

#define TABLE_NUMBER(T, member)                                                                    \
    {                                                                                              \
#member, offsetof(T, member),                                                              \
            _Generic(((T *)0)->member, int64_t                                                     \
                     : TABLE_INT64, unsigned                                                       \
                     : TABLE_UNSIGNED, size_t                                                      \
                     : TABLE_SIZE)                                                                 \
    }

static const struct table_number table_numbers[] = {
    TABLE_NUMBER(struct tc_chat, file_bytes),     TABLE_NUMBER(struct tc_chat, edit_ms),
    TABLE_NUMBER(struct tc_chat, edit_group_ms),  TABLE_NUMBER(struct tc_chat, edit_age_ms),
    TABLE_NUMBER(struct tc_chat, edit_count),     TABLE_NUMBER(struct tc_chat, typing_ms),
    TABLE_NUMBER(struct tc_chat, idempotency_ms), TABLE_NUMBER(struct tc_chat, buttons),
    TABLE_NUMBER(struct tc_chat, fields),         TABLE_NUMBER(struct tc_chat, poll_ms),
    TABLE_NUMBER(struct tc_chat, source_bytes),   {0},
};
static const struct table_number text_numbers[] = {
    TABLE_NUMBER(struct tc_chat_text, units),
    TABLE_NUMBER(struct tc_chat_text, bytes),
    TABLE_NUMBER(struct tc_chat_text, entities),
    {0},
};
static const struct table_number stream_numbers[] = {
    TABLE_NUMBER(struct tc_stream, pace_ms),
    TABLE_NUMBER(struct tc_stream, age_ms),
    TABLE_NUMBER(struct tc_stream, bytes),
    TABLE_NUMBER(struct tc_stream, items),
    {0},
};

static void table_set_number(void *at, enum table_type type, int64_t number)
{
    if (type == TABLE_INT64)
        *(int64_t *)at = number;
    else if (type == TABLE_UNSIGNED)
        *(unsigned *)at = (unsigned)number;
    else
        *(size_t *)at = (size_t)number;
}

/* The key with an invalid value, or NULL. A missing member changes nothing. */
static const char *table_read_numbers(const json_t *m, const struct table_number *rows, void *into)
{
    for (; rows->key; rows++) {
        const json_t *const value = json_object_get(m, rows->key);
        const json_int_t number = json_integer_value(value);
        if (!value)
            continue;
        if (!json_is_integer(value) || number < 0 || number > NUMBER_MAX)
            return rows->key;
        table_set_number((char *)into + rows->offset, rows->type, number);
    }
    return NULL;
}

/* ---- parts ---- */

/* The key with an invalid value, or NULL. */
static const char *table_read_text(const json_t *m, struct tc_chat_text *text)
{
    const int form = exec_member_word(m, "text", forms, EXEC_COUNT(forms), (int)text->form);
    if (form < 0)
        return "text";
    text->form = (enum tc_form)form;
    if (!table_read_bits(m, "flags", text_flags, EXEC_COUNT(text_flags), &text->flags))
        return "flags";
    return table_read_numbers(m, text_numbers, text);
}

/* Values that a role leaves out are those for all texts. */
static const char *table_read_roles(const json_t *chat, struct tc_chat *table)
{
    const json_t *const roles = json_object_get(chat, "roles");
    const struct tc_chat_text common = table->text[TC_ROLE_LIVE];
    const char *wrong = NULL;
    for (size_t i = 0; i < TC_ROLES && !wrong; i++) {
        table->text[i] = common;
        wrong = table_read_text(json_object_get(roles, exec_chat_roles[i]), &table->text[i]);
    }
    return wrong;
}

static const char *table_read_stream(const json_t *chat, struct tc_chat *table)
{
    const json_t *const stream = json_object_get(chat, "stream");
    const char *const wrong = table_read_numbers(stream, stream_numbers, &table->stream);
    return wrong ? wrong : table_read_text(json_object_get(stream, "item"), &table->stream.text);
}

static const char *table_read_words(const json_t *chat, struct tc_chat *table)
{
    const int unit = exec_member_word(chat, "unit", text_units, EXEC_COUNT(text_units), 0);
    const int input = exec_member_word(chat, "input", inputs, EXEC_COUNT(inputs), 0);
    const int idempotency =
        exec_member_word(chat, "idempotency", idempotencies, EXEC_COUNT(idempotencies), 0);
    const int mark = exec_member_word(chat, "command", command_marks, EXEC_COUNT(command_marks), 0);
    table->unit = (enum tc_unit)unit;
    table->input = (enum tc_input)input;
    table->idempotency = (enum tc_idempotency)idempotency;
    table->command = mark >= 0 && json_object_get(chat, "command") ? command_marks[mark] : NULL;
    return unit < 0          ? "unit"
           : input < 0       ? "input"
           : idempotency < 0 ? "idempotency"
           : mark < 0        ? "command"
                             : NULL;
}

/* The key with an invalid value, or NULL. */
static const char *table_read(const json_t *chat, struct tc_chat *table, uint32_t *reactions)
{
    const char *wrong = NULL;
    if (!table_read_bits(chat, "can", exec_chat_operations, TC_OPS, &table->can))
        return "can";
    if (!table_read_bits(chat, "reactions", exec_chat_reactions, EXEC_CHAT_REACTIONS, reactions))
        return "reactions";
    if ((wrong = table_read_words(chat, table)) ||
        (wrong = table_read_numbers(chat, table_numbers, table)) ||
        (wrong = table_read_text(chat, &table->text[TC_ROLE_LIVE])))
        return wrong;
    table->stream.text = table->text[TC_ROLE_LIVE];
    table->colon_ids = json_is_true(json_object_get(chat, "colon_ids"));
    table->personal_menu = json_is_true(json_object_get(chat, "personal_menu"));
    table->stream_whole = json_is_true(json_object_get(chat, "stream_whole"));
    wrong = table_read_roles(chat, table);
    return wrong ? wrong : table_read_stream(chat, table);
}

const char *exec_chat_describe(struct exec *e, const json_t *chat)
{
    struct tc_chat table = {.size = sizeof table,
                            .request = exec_chat_request,
                            .read = exec_chat_read,
                            .ready = exec_chat_ready,
                            .chat_option = "room",
                            .draft_option = "draft",
                            .stream.option = "stream"};
    e->reactions = REACTIONS_KNOWN;
    const char *const wrong = table_read(chat, &table, &e->reactions);
    if (wrong)
        return tc_sprint(e->inst->lobby, "chat: the value of %s is not valid", wrong);
    table.source_option = table.source_bytes ? "source" : NULL;
    return tc_chat_describe(e->inst, &table) < 0
               ? "the description of the chat service is not valid; the log has the reason"
               : NULL;
}
