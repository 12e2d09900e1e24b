/* SPDX-License-Identifier: MIT
 * Chat operations for the program: its hello describes a chat service, the host shows the turns
 * there (turncast/chat.h), and the program carries out each operation and says what came of it.
 * What people do there it passes on. */
#include <stdlib.h>
#include <string.h>

#include "exec.h"

#define OP_TIMEOUT_MS 60000

/* ---- words ---- */

static const char *const operations[] = {"identify", "post",  "edit",    "delete", "file",
                                         "typing",   "react", "private", "lookup"};
static const char *const roles[] = {"live", "answer", "card", "reply"};
static const char *const reactions[] = {"seen", "queued", "taken", "allow", "deny"};
static const char *const results[TC_RESULTS] = {
    [TC_RESULT_DONE] = "done",
    [TC_RESULT_NEXT_STEP] = "", /* one message of the program is the whole operation */
    [TC_RESULT_NOT_FOUND] = "not_found",
    [TC_RESULT_IN_DOUBT] = "in_doubt",
    [TC_RESULT_RETRY] = "retry",
    [TC_RESULT_BAD_FORMAT] = "bad_format",
    [TC_RESULT_TOO_LONG] = "too_long",
    [TC_RESULT_EMPTY] = "empty",
    [TC_RESULT_REPLY_GONE] = "reply_gone",
    [TC_RESULT_THREAD_GONE] = "thread_gone",
    [TC_RESULT_MESSAGE_GONE] = "message_gone",
    [TC_RESULT_CHAT_MOVED] = "chat_moved",
    [TC_RESULT_CHAT_GONE] = "chat_gone",
    [TC_RESULT_UNSUPPORTED] = "unsupported",
    [TC_RESULT_UNAUTHORIZED] = "unauthorized",
    [TC_RESULT_REFUSED] = "refused",
    [TC_RESULT_STOPPED] = "", /* of native streams */
};
static const char *const forms[] = {
    [TC_PLAIN] = "plain",       [TC_TELEGRAM] = "telegram",     [TC_MRKDWN] = "mrkdwn",
    [TC_MARKDOWN] = "markdown", [TC_COMMONMARK] = "commonmark", [TC_HTML] = "html",
};
static const char *const text_units[] = {"utf16", "codepoints", "bytes"};
static const char *const inputs[] = {"text", "reactions", "buttons"};
static const char *const idempotencies[] = {"none", "key", "lookup"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The number of the word that the member is; without the member 0; -1: it is another text. */
static int chat_word(const json_t *m, const char *key, const char *const *words, size_t count)
{
    const char *const text = exec_member_text(m, key);
    if (!json_object_get(m, key))
        return 0;
    for (size_t i = 0; text && i < count; i++)
        if (strcmp(words[i], text) == 0)
            return (int)i;
    return -1;
}

/* ---- the description ---- */

static bool read_operations(const json_t *list, uint32_t *can)
{
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one)
    {
        size_t op = 0;
        const char *const name = json_string_value(one);
        while (name && op < COUNT(operations) && strcmp(operations[op], name) != 0)
            op++;
        if (!name || op == COUNT(operations))
            return false;
        *can |= TC_CAN(op);
    }
    return json_array_size(list) > 0;
}

static int chat_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http);
static int chat_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
                     struct tc_result *result);
static int chat_ready(struct tc_turn *lobby, const struct tc_result *identity);

/* NULL, or what is wrong. */
static const char *read_description(const json_t *chat, struct tc_chat *table)
{
    const int form = chat_word(chat, "text", forms, COUNT(forms));
    const int unit = chat_word(chat, "unit", text_units, COUNT(text_units));
    const int input = chat_word(chat, "input", inputs, COUNT(inputs));
    const int idempotency = chat_word(chat, "idempotency", idempotencies, COUNT(idempotencies));
    if (!read_operations(json_object_get(chat, "can"), &table->can))
        return "chat.can must be a list of operations";
    if (form < 0 || unit < 0 || input < 0 || idempotency < 0)
        return "chat: text, unit, input or idempotency is an unknown word";
    if (exec_member_number(chat, "units") < 0 || exec_member_number(chat, "buttons") < 0)
        return "chat: units and buttons must not be negative";
    for (size_t i = 0; i < TC_ROLES; i++)
        table->text[i] = (struct tc_chat_text){.form = (enum tc_form)form,
                                               .units = (size_t)exec_member_number(chat, "units")};
    table->unit = (enum tc_unit)unit;
    table->input = (enum tc_input)input;
    table->idempotency = (enum tc_idempotency)idempotency;
    table->idempotency_ms = exec_member_number(chat, "idempotency_ms");
    table->edit_ms = exec_member_number(chat, "edit_ms");
    table->edit_group_ms = exec_member_number(chat, "edit_group_ms");
    table->edit_age_ms = exec_member_number(chat, "edit_age_ms");
    table->typing_ms = exec_member_number(chat, "typing_ms");
    table->buttons = (unsigned)exec_member_number(chat, "buttons");
    return NULL;
}

const char *exec_chat_describe(struct exec *e, const json_t *chat)
{
    struct tc_chat table = {.size = sizeof table,
                            .request = chat_request,
                            .read = chat_read,
                            .ready = chat_ready,
                            .chat_option = "room"};
    const char *const why = read_description(chat, &table);
    if (why)
        return why;
    return tc_chat_describe(e->inst, &table) < 0
               ? "the description of the chat service is not valid; the log has the reason"
               : NULL;
}

/* ---- operations ---- */

static json_t *chat_target_json(const struct tc_target *t)
{
    return t ? json_pack("{s:s, s:s*, s:s*, s:s*, s:b}", "chat", t->chat, "thread", t->thread,
                         "message", t->message, "user", t->user, "group", t->group)
             : json_null();
}

static json_t *buttons_json(const struct tc_op *op)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < op->button_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s}", "data", op->buttons[i].data, "label",
                                              op->buttons[i].label));
    return list;
}

static json_t *omit_json(uint32_t omit)
{
    static const char *const parts[] = {"format", "reply", "thread"};
    json_t *const list = json_array();
    for (size_t i = 0; i < COUNT(parts); i++)
        if (omit & (1u << i))
            json_array_append_new(list, json_string(parts[i]));
    return list;
}

static json_t *file_json(const struct tc_chat_file *f)
{
    return f ? json_pack("{s:s*, s:s*, s:s%}", "name", f->name, "type", f->type, "text", f->data,
                         f->len)
             : json_null();
}

/* The host gives the operation back when it is its turn; see exec_chat_perform. */
static int chat_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    if ((size_t)op->reaction >= COUNT(reactions))
        return -1; /* the host takes another one */
    json_t *const m = json_pack(
        "{s:s, s:s, s:o, s:s?, s:s, s:s, s:i, s:s%, s:s, s:o, s:b, s:b, s:o, s:o, s:s, s:s?}", "op",
        operations[op->kind], "role", roles[op->role], "target", chat_target_json(op->target),
        "message", op->message, "key", op->key, "turn", op->turn, "part", (int)op->part, "text",
        op->text, op->text_len, "plain", op->plain, "buttons", buttons_json(op), "silent",
        op->silent, "off", op->off, "omit", omit_json(op->omit), "file", file_json(op->file),
        "reaction", reactions[op->reaction], "action", op->action);
    char *const text = m ? json_dumps(m, JSON_COMPACT) : NULL;
    http->url = "self:";
    http->body = text ? tc_sprint(turn, "%s", text) : NULL;
    http->timeout_ms = http->timeout_ms ? http->timeout_ms : OP_TIMEOUT_MS;
    free(text);
    json_decref(m);
    return http->body ? 0 : -1;
}

void exec_chat_perform(struct exec *e, struct tc_turn *turn, const struct tc_reply *reply)
{
    if (!e->hello.is_known) { /* the program is being started again */
        tc_complete(turn, reply->number,
                    TC_COMPLETION(.outcome = TC_NOT_SENT, .error = "the program does not run"));
        return;
    }
    struct exec_op *const op = calloc(1, sizeof *op);
    json_t *const m = json_loadb(reply->http->body, reply->http->body_len, 0, NULL);
    if (!op || !m) {
        free(op);
        json_decref(m);
        return; /* the attempt ends with its time limit */
    }
    *op = (struct exec_op){.number = reply->number, .turn = turn};
    LIST_INSERT_HEAD(&e->ops, op, next);
    json_object_set_new(m, "tc", json_string("op"));
    json_object_set_new(m, "n", json_integer((json_int_t)reply->number));
    json_object_set_new(m, "attempt", json_integer(reply->attempts));
    exec_message_json(e, m);
}

static void end_op(struct exec_op *op, const struct tc_completion *completion)
{
    tc_complete(op->turn, op->number, completion);
    LIST_REMOVE(op, next);
    free(op);
}

/* The program that had them has ended: each may have been carried out. */
void exec_chat_abandon(struct exec *e)
{
    while (!LIST_EMPTY(&e->ops))
        end_op(LIST_FIRST(&e->ops),
               TC_COMPLETION(.outcome = TC_AMBIGUOUS, .error = "the program has ended"));
}

const char *exec_chat_take_result(struct exec *e, const json_t *m)
{
    const uint64_t number = (uint64_t)exec_member_number(m, "n");
    struct exec_op *op;
    LIST_FOREACH (op, &e->ops, next)
        if (op->number == number)
            break;
    if (!op)
        return NULL; /* too late */
    if (!exec_member_text(m, "status") || chat_word(m, "status", results, COUNT(results)) < 0)
        return "status is not one of the words for results";
    e->program.has_progressed = true;
    char *const body = json_dumps(m, JSON_COMPACT);
    end_op(op, TC_COMPLETION(.outcome = TC_OK, .status = 200, .body = body));
    free(body);
    return NULL;
}

static int chat_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
                     struct tc_result *result)
{
    (void)op;
    if (reply->outcome != TC_OK)
        return 0;
    json_t *const m = json_loadb(reply->body, reply->body_len, 0, NULL);
    const int kind = chat_word(m, "status", results, COUNT(results));
    result->kind = kind < 0 ? TC_RESULT_IN_DOUBT : (enum tc_result_kind)kind;
    result->hold_ms = exec_member_number(m, "hold_ms");
    result->message = exec_member_text(m, "message")
                          ? tc_sprint(turn, "%s", exec_member_text(m, "message"))
                          : NULL;
    result->name =
        exec_member_text(m, "name") ? tc_sprint(turn, "%s", exec_member_text(m, "name")) : NULL;
    result->chat =
        exec_member_text(m, "chat") ? tc_sprint(turn, "%s", exec_member_text(m, "chat")) : NULL;
    result->reason =
        tc_sprint(turn, "%s", exec_member_text(m, "reason") ? exec_member_text(m, "reason") : "");
    json_decref(m);
    return 0;
}

static int chat_ready(struct tc_turn *lobby, const struct tc_result *identity)
{
    struct exec *const e = lobby->inst->state;
    exec_message_json(e, json_pack("{s:s, s:s?, s:s?}", "tc", "ready", "id", identity->message,
                                   "name", identity->name));
    return 0;
}

/* ---- people ---- */

static struct tc_target read_target(const json_t *m)
{
    const json_t *const t = json_object_get(m, "target");
    return (struct tc_target){
        .chat = exec_member_text(t, "chat"),
        .thread = exec_member_text(t, "thread"),
        .message = exec_member_text(t, "message"),
        .user = exec_member_text(m, "user"),
        .group = json_is_true(json_object_get(t, "group")),
    };
}

const char *exec_chat_take_message(struct exec *e, const json_t *m)
{
    static const char *const addressed[] = {"no", "thread", "yes"};
    const char *const id = exec_member_text(m, "id");
    const int to = json_object_get(m, "addressed")
                       ? chat_word(m, "addressed", addressed, COUNT(addressed))
                       : (int)TC_ADDRESSED_YES;
    const struct tc_target target = read_target(m);
    if (!id || !target.chat || !target.user || !exec_member_text(m, "text") || to < 0)
        return "id, target.chat, user and text must be strings; addressed yes, thread or no";
    const enum tc_accepted how = tc_chat_receive(
        e->inst->lobby,
        TC_CHAT_MESSAGE(.id = id, .target = target, .topic = exec_member_text(m, "topic"),
                        .user = target.user, .name = exec_member_text(m, "name"),
                        .text = exec_member_text(m, "text"), .quote = exec_member_text(m, "quote"),
                        .reply_to = exec_member_text(m, "reply_to"),
                        .addressed = (enum tc_addressed)to));
    exec_message_reply(e, id, how, &(struct tc_receipt){0});
    return NULL;
}

const char *exec_chat_take_action(struct exec *e, const json_t *m)
{
    const char *const id = exec_member_text(m, "id");
    const int reaction = chat_word(m, "reaction", reactions, COUNT(reactions));
    const struct tc_target target = read_target(m);
    if (!id || !target.chat || !target.user || reaction < 0)
        return "id, target.chat and user must be strings; reaction allow or deny";
    const int rc = tc_chat_act(
        e->inst->lobby, TC_CHAT_ACTION(.id = id, .data = exec_member_text(m, "data"),
                                       .reaction = (enum tc_reaction)reaction, .target = target,
                                       .topic = exec_member_text(m, "topic"), .user = target.user,
                                       .name = exec_member_text(m, "name")));
    exec_message_reply(e, id, rc < 0 ? TC_NOT_KEPT : TC_COMMAND, &(struct tc_receipt){0});
    return NULL;
}
