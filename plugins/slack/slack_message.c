/* SPDX-License-Identifier: MIT
 * Bodies of messages: text as a Markdown block, with the same as plain text for notifications and
 * where blocks are refused; buttons; the app's home. */
#include <stdio.h>
#include <string.h>

#include "slack_operation.h"

#define SECTION_BYTES 2900 /* of the limit of 3,000 */
#define LABEL_BYTES 75
#define BUTTONS_MAX 25 /* of one block */

static json_t *plain_text(const char *text)
{
    return json_pack("{s:s, s:s, s:b}", "type", "plain_text", "text", text, "emoji", 0);
}

/* ---- buttons ---- */

static json_t *plain_word(struct tc_turn *turn, const char *english)
{
    return plain_text(tc_say(turn, english, NULL));
}

/* Slack asks the person for a confirmation. */
static json_t *confirmation(struct tc_turn *turn)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:s}", "title", plain_word(turn, "Allow permanently?"),
                     "text", plain_word(turn, "You will not be asked about the same call again."),
                     "confirm", plain_word(turn, "Allow"), "deny", plain_word(turn, "Cancel"),
                     "style", "danger");
}

static json_t *button(struct tc_turn *turn, const struct tc_button *b)
{
    json_t *const json = json_pack("{s:s, s:o, s:s++, s:s}", "type", "button", "text",
                                   plain_text(slack_escape(turn, b->label, LABEL_BYTES)),
                                   "action_id", "turncast:", b->data, "", "value", b->data);
    if (b->style == TC_STYLE_PRIMARY || b->style == TC_STYLE_GOOD)
        json_object_set_new(json, "style", json_string("primary"));
    if (b->style == TC_STYLE_BAD)
        json_object_set_new(json, "style", json_string("danger"));
    if (b->confirm)
        json_object_set_new(json, "confirm", confirmation(turn));
    return json;
}

static void add_buttons(struct tc_turn *turn, json_t *blocks, const struct tc_op *op)
{
    json_t *const elements = json_array();
    for (size_t i = 0; i < op->button_count && i < BUTTONS_MAX; i++)
        json_array_append_new(elements, button(turn, &op->buttons[i]));
    if (json_array_size(elements) > 0)
        json_array_append_new(blocks,
                              json_pack("{s:s, s:O}", "type", "actions", "elements", elements));
    json_decref(elements);
}

/* ---- messages ---- */

/* Where the Markdown is refused, the buttons stay, below plain text. */
static void add_text(struct tc_turn *turn, json_t *blocks, const struct tc_op *op)
{
    if (!(op->omit & TC_OMIT_FORMAT))
        json_array_append_new(
            blocks, json_pack("{s:s, s:s%}", "type", "markdown", "text", op->text, op->text_len));
    else if (op->button_count > 0)
        json_array_append_new(blocks,
                              json_pack("{s:s, s:o}", "type", "section", "text",
                                        plain_text(slack_escape(turn, op->plain, SECTION_BYTES))));
}

json_t *slack_message(struct tc_turn *turn, const struct tc_op *op)
{
    json_t *const blocks = json_array();
    json_t *const body = json_pack("{s:s, s:s}", "channel", op->target->chat, "text",
                                   slack_escape(turn, op->plain, 0));
    add_text(turn, blocks, op);
    if (!(op->omit & TC_OMIT_FORMAT))
        slack_form_add(turn, blocks, op);
    add_buttons(turn, blocks, op);
    /* An edit without this member leaves the old blocks. */
    if (json_array_size(blocks) > 0 || op->kind == TC_OP_EDIT)
        json_object_set(body, "blocks", blocks);
    json_decref(blocks);
    return body;
}

json_t *slack_mark(const struct tc_op *op)
{
    static const char *const types[TC_ROLES] = {[TC_ROLE_LIVE] = "turncast_progress",
                                                [TC_ROLE_ANSWER] = "turncast_answer",
                                                [TC_ROLE_CARD] = "turncast_request",
                                                [TC_ROLE_REPLY] = "turncast_reply"};
    return json_pack("{s:s, s:{s:s}}", "event_type", types[op->role], "event_payload", "key",
                     op->key);
}

/* ---- home ---- */

json_t *slack_home(struct tc_turn *turn, const struct tc_op *op)
{
    json_t *const blocks = json_array();
    for (size_t i = 0; i < op->menu_count; i++)
        json_array_append_new(
            blocks,
            json_pack("{s:s, s:{s:s, s:s}}", "type", "section", "text", "type", "mrkdwn", "text",
                      tc_sprint(turn, "`!%s%s%s`  %s", op->menu[i].name,
                                *op->menu_arguments[i] ? " " : "", op->menu_arguments[i],
                                slack_escape(turn, op->menu[i].help, SECTION_BYTES / 2))));
    return json_pack("{s:s, s:o}", "type", "home", "blocks", blocks);
}
