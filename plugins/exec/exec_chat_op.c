/* SPDX-License-Identifier: MIT
 * Operations of the chat engine as JSON for the program. The JSON is the body of a request with the
 * URL "self:", so the host stores it like any other request and returns it when it is due. */
#include <stdlib.h>

#include "exec_chat.h"

#define OP_TIMEOUT_MS 60000

/* ---- parts ---- */

/* JSON text as a value; null if NULL. */
static json_t *chat_op_json(const char *text)
{
    json_t *const value = text ? json_loads(text, 0, NULL) : NULL;
    return value ? value : json_null();
}

static json_t *chat_op_target(const struct tc_target *t)
{
    if (!t)
        return json_null();
    json_t *const more = t->more ? json_loads(t->more, 0, NULL) : NULL;
    return json_pack("{s:s, s:s*, s:s*, s:s*, s:b, s:o*}", "chat", t->chat, "thread", t->thread,
                     "message", t->message, "user", t->user, "group", t->group, "more", more);
}

static json_t *chat_op_buttons(const struct tc_op *op)
{
    static const char *const styles[] = {"plain", "primary", "good", "bad"};
    json_t *const list = json_array();
    for (size_t i = 0; i < op->button_count; i++) {
        const struct tc_button *const b = &op->buttons[i];
        const size_t style = (size_t)b->style < EXEC_COUNT(styles) ? (size_t)b->style : 0;
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:b}", "data", b->data, "label", b->label,
                                        "style", styles[style], "confirm", b->confirm));
    }
    return list;
}

static json_t *chat_op_omit(uint32_t omit)
{
    static const char *const parts[] = {"format", "reply", "thread"};
    json_t *const list = json_array();
    for (size_t i = 0; i < EXEC_COUNT(parts); i++)
        if (omit & (1u << i))
            json_array_append_new(list, json_string(parts[i]));
    return list;
}

static json_t *chat_op_file(const struct tc_chat_file *f)
{
    if (!f)
        return json_null();
    return json_pack("{s:s*, s:s*, s:s*, s:o*}", "name", f->name, "type", f->type, "ref", f->ref,
                     "text", f->data ? json_stringn(f->data, f->len) : NULL);
}

static json_t *chat_op_line(const struct tc_tool_line *l)
{
    static const char *const states[] = {"running", "ok", "failed"};
    return json_pack("{s:s*, s:s*, s:s*, s:s, s:I, s:s*}", "id", l->id, "name", l->name, "summary",
                     l->summary, "state", states[l->state], "took_ms", (json_int_t)l->took_ms,
                     "detail", l->detail);
}

static json_t *chat_op_view(const struct tc_view *v)
{
    static const char *const phases[] = {"working", "waiting", "stopping"};
    if (!v)
        return json_null();
    json_t *const lines = json_array();
    for (size_t i = 0; i < v->line_count; i++)
        json_array_append_new(lines, chat_op_line(&v->lines[i]));
    json_t *const view =
        json_pack("{s:s, s:s*, s:o, s:i, s:s*, s:s*, s:i, s:I, s:I}", "phase", phases[v->phase],
                  "headline", v->headline, "lines", lines, "lines_before", (int)v->lines_before,
                  "notice", v->notice, "thinking", v->thinking, "waiting", (int)v->waiting,
                  "elapsed_ms", (json_int_t)v->elapsed_ms, "silent_ms", (json_int_t)v->silent_ms);
    if (v->tokens >= 0)
        json_object_set_new(view, "tokens", json_integer((json_int_t)v->tokens));
    return view;
}

static json_t *chat_op_menu(const struct tc_op *op)
{
    if (!op->menu)
        return json_null();
    json_t *const list = json_array();
    for (size_t i = 0; i < op->menu_count; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s}", "name", op->menu[i].name, "help", op->menu[i].help));
    return list;
}

static json_t *chat_op_field(const struct tc_field *f)
{
    json_t *const options = json_array();
    for (size_t i = 0; i < f->option_count; i++)
        json_array_append_new(options, json_pack("{s:s, s:s*}", "label", f->options[i].label,
                                                 "about", f->options[i].about));
    return json_pack("{s:s, s:s*, s:b, s:o}", "id", f->id, "label", f->label, "multi", f->multi,
                     "options", options);
}

static json_t *chat_op_fields(const struct tc_op *op)
{
    if (!op->fields)
        return json_null();
    json_t *const list = json_array();
    for (size_t i = 0; i < op->field_count; i++)
        json_array_append_new(list, chat_op_field(&op->fields[i]));
    return list;
}

static bool chat_op_is_of_stream(enum tc_op_kind kind)
{
    return kind == TC_OP_STREAM_BEGIN || kind == TC_OP_STREAM_APPEND || kind == TC_OP_STREAM_END;
}

static json_t *chat_op_items(const struct tc_op *op)
{
    if (!chat_op_is_of_stream(op->kind))
        return json_null();
    json_t *const list = json_array();
    for (size_t i = 0; i < op->item_count; i++) {
        const struct tc_stream_item *const item = &op->items[i];
        json_array_append_new(list, item->text
                                        ? json_pack("{s:s}", "text", item->text)
                                        : json_pack("{s:o}", "line", chat_op_line(item->line)));
    }
    return list;
}

/* ---- the operation ---- */

/* Members of every operation. */
static json_t *chat_op_head(const struct tc_op *op)
{
    return json_pack("{s:s, s:s, s:o, s:s?, s:s, s:s, s:i, s:s%, s:s, s:o, s:b, s:b, s:o}", "op",
                     exec_chat_operations[op->kind], "role", exec_chat_roles[op->role], "target",
                     chat_op_target(op->target), "message", op->message, "key", op->key, "turn",
                     op->turn, "part", (int)op->part, "text", op->text, op->text_len, "plain",
                     op->plain, "buttons", chat_op_buttons(op), "silent", op->silent, "off",
                     op->off, "omit", chat_op_omit(op->omit));
}

/* Members of some operations. exec_message_json omits null. */
static int chat_op_add_special(json_t *m, const struct tc_op *op)
{
    json_t *const special =
        json_pack("{s:s?, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:s?}", "action", op->action,
                  "cursor", op->cursor, "entities", chat_op_json(op->entities), "file",
                  chat_op_file(op->file), "view", chat_op_view(op->view), "menu", chat_op_menu(op),
                  "fields", chat_op_fields(op), "items", chat_op_items(op), "reaction",
                  op->kind == TC_OP_REACT ? exec_chat_reactions[op->reaction] : NULL);
    if (op->step)
        json_object_set_new(special, "step", json_integer(op->step));
    if (op->source)
        json_object_set_new(special, "source", json_true());
    const int rc = json_object_update(m, special);
    json_decref(special);
    return rc;
}

/* -1 for a reaction that the program does not support: the host uses another one. */
int exec_chat_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    const struct exec *const e = turn->inst->state;
    if (op->kind == TC_OP_REACT &&
        ((size_t)op->reaction >= EXEC_CHAT_REACTIONS || !(e->reactions & (1u << op->reaction))))
        return -1;
    json_t *const m = chat_op_head(op);
    char *const text = m && chat_op_add_special(m, op) == 0 ? json_dumps(m, JSON_COMPACT) : NULL;
    http->url = "self:";
    http->body = text ? tc_sprint(turn, "%s", text) : NULL;
    http->timeout_ms = http->timeout_ms ? http->timeout_ms : OP_TIMEOUT_MS;
    free(text);
    json_decref(m);
    return http->body ? 0 : -1;
}
