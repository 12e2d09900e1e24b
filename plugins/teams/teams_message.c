/* SPDX-License-Identifier: MIT
 * Bodies of messages. A text is Markdown; its buttons are below, in an Adaptive Card. A request of
 * the agent is a card, because that shows text verbatim. */
#include <string.h>

#include "teams.h"

#define ROW 4        /* buttons in a row; Teams shows at most six */
#define LINES_MAX 60 /* elements of a card; further lines are in the last one */
#define SUMMARY_BYTES 200

/* ---- buttons ---- */

/* In addition to its own data, a button contains the fields, so that any process can read the
 * answers. Clients without Action.Execute send a message with the same data. */
static json_t *message_execute(const struct tc_button *b, const char *form)
{
    json_t *const data = json_pack("{s:s, s:s*}", "tc", b->data, "form", form);
    json_t *const fallback =
        json_pack("{s:s, s:s, s:O}", "type", "Action.Submit", "title", b->label, "data", data);
    json_t *const action =
        json_pack("{s:s, s:s, s:s, s:o, s:o}", "type", "Action.Execute", "title", b->label, "verb",
                  "turncast", "data", data, "fallback", fallback);
    if (b->style == TC_STYLE_PRIMARY || b->style == TC_STYLE_GOOD)
        json_object_set_new(action, "style", json_string("positive"));
    if (b->style == TC_STYLE_BAD)
        json_object_set_new(action, "style", json_string("destructive"));
    return action;
}

/* A permanent permission needs a second press. */
static json_t *message_button(struct tc_turn *turn, const struct tc_button *b, const char *form)
{
    json_t *const action = message_execute(b, form);
    if (!b->confirm)
        return action;
    return json_pack("{s:s, s:s, s:{s:s, s:[{s:s, s:s, s:b}], s:[o]}}", "type", "Action.ShowCard",
                     "title", b->label, "card", "type", "AdaptiveCard", "body", "type", "TextBlock",
                     "text", tc_say(turn, "You will not be asked about the same call again.", NULL),
                     "wrap", 1, "actions", action);
}

static void message_add_buttons(struct tc_turn *turn, json_t *elements, const struct tc_op *op)
{
    json_t *row = NULL;
    for (size_t i = 0; i < op->button_count; i++) {
        if (i % ROW == 0) {
            row = json_array();
            json_array_append_new(elements,
                                  json_pack("{s:s, s:o}", "type", "ActionSet", "actions", row));
        }
        json_array_append_new(row, message_button(turn, &op->buttons[i], op->form));
    }
}

/* ---- cards ---- */

json_t *teams_message_card(json_t *body)
{
    return json_pack("{s:s, s:{s:s, s:s, s:s, s:o}}", "contentType",
                     "application/vnd.microsoft.card.adaptive", "content", "$schema",
                     "http://adaptivecards.io/schemas/adaptive-card.json", "type", "AdaptiveCard",
                     "version", "1.5", "body", body);
}

/* A TextRun is not parsed as Markdown. */
static json_t *message_line(struct tc_turn *turn, const char *line, size_t len, bool first)
{
    json_t *const run = json_pack("{s:s, s:s}", "type", "TextRun", "text",
                                  len ? tc_sprint(turn, "%.*s", (int)len, line) : " ");
    if (first)
        json_object_set_new(run, "weight", json_string("Bolder"));
    return json_pack("{s:s, s:s, s:[o]}", "type", "RichTextBlock", "spacing",
                     first ? "Default" : "None", "inlines", run);
}

json_t *teams_message_lines(struct tc_turn *turn, const char *plain)
{
    json_t *const elements = json_array();
    for (size_t i = 0; *plain; i++) {
        const size_t n = i + 1 < LINES_MAX ? strcspn(plain, "\n") : strlen(plain);
        json_array_append_new(elements, message_line(turn, plain, n, i == 0));
        plain += n + (plain[n] == '\n');
    }
    return elements;
}

/* ---- messages ---- */

static void message_add_text(struct tc_turn *turn, json_t *message, const struct tc_op *op)
{
    const bool plain = op->omit & TC_OMIT_FORMAT;
    const bool card = op->role == TC_ROLE_CARD && !plain;
    json_t *const elements = card ? teams_message_lines(turn, op->plain) : json_array();
    if (card) {
        const int n = (int)strcspn(op->plain, "\n");
        json_object_set_new(
            message, "summary",
            json_string(tc_sprint(turn, "%.*s", n < SUMMARY_BYTES ? n : 0, op->plain)));
        teams_form_add(turn, elements, op);
    } else {
        json_object_set_new(message, "text", json_string(plain ? op->plain : op->text));
        json_object_set_new(message, "textFormat", json_string(plain ? "plain" : "markdown"));
    }
    message_add_buttons(turn, elements, op);
    if (json_array_size(elements) > 0)
        json_object_set_new(message, "attachments", json_pack("[o]", teams_message_card(elements)));
    else
        json_decref(elements);
}

json_t *teams_message_sender(struct tc_turn *turn, const struct tc_op *op)
{
    const char *const more = op->target->more;
    const char *const bot = more ? tc_json_get(turn, more, "/bot") : NULL;
    return bot ? json_pack("{s:s}", "id", bot) : NULL;
}

json_t *teams_message(struct tc_turn *turn, const struct tc_op *op)
{
    const bool edits = op->kind == TC_OP_EDIT, replies = !edits && !(op->omit & TC_OMIT_REPLY);
    json_t *const message = json_pack(
        "{s:s, s:o*, s:s*, s:s*}", "type", "message", "from", teams_message_sender(turn, op), "id",
        edits ? op->message : NULL, "replyToId", replies ? op->target->message : NULL);
    message_add_text(turn, message, op);
    return message;
}
