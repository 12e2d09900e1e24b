/* SPDX-License-Identifier: MIT
 * A request of the agent as blocks: what it is about, what can be chosen, what was filled in. Words
 * of the agent stand in rich text, where nothing is markup or mentions anybody, or are disarmed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "form.h"
#include "form_input.h"
#include "text.h"

#define ARGS_UNITS 1500
#define PLAN_UNITS 5000
#define WORDS_UNITS 1000
#define BLOCKS_BYTES 11000 /* of all blocks: Slack refuses somewhat more than 12,000 */
#define BUTTONS_MAX 25

static const char *kind_title(const char *kind)
{
    static const char *const titles[][2] = {{"approval", "Approval needed"},
                                            {"ask", "Question"},
                                            {"credential", "Credential needed"},
                                            {"input", "Input needed"}};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], kind) == 0)
            return titles[i][1];
    return "Answer needed";
}

static bool is_approval(const struct tc_request *ev)
{
    return strcmp(ev->kind, "approval") == 0;
}

const char *form_title(struct tc_turn *turn, const struct tc_request *ev)
{
    const char *kind = kind_title(ev->kind);
    const char *tool = ev->tool && is_approval(ev) ? text_label(turn, ev->tool, 40) : "";
    const char *title = *tool ? tc_sprint(turn, "%s: %s", kind, tool) : kind;
    return title ? title : kind;
}

/* ---- what it is about */

static size_t characters(const struct tc_piece *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->len; i++)
        n += ((unsigned char)p->text[i] & 0xc0) != 0x80;
    return n;
}

static json_t *run_of(const char *text, const char *style)
{
    json_t *run = json_pack("{s:s, s:s}", "type", "text", "text", text);
    if (run && style)
        json_object_set_new(run, "style", json_pack("{s:b}", style, 1));
    return run;
}

static void add(json_t *parts, const char *type, json_t *runs)
{
    json_array_append_new(parts, json_pack("{s:s, s:o}", "type", type, "elements", runs));
}

static const char elsewhere[] = "to read them, run: turncast answer --show";

/* The text as it is; if it is cut, a note says how much is missing and where to find it. */
static void add_text_with(struct tc_turn *turn, json_t *parts, const char *type, const char *raw,
                          size_t units, const char *where)
{
    size_t count = 0, missing = 0;
    const struct tc_piece *pieces =
        tc_pieces(turn,
                  TC_TEXT(.markdown = raw, .len = strlen(raw), .form = TC_PLAIN,
                          .flags = TC_VERBATIM, .units = units),
                  &count);
    if (!pieces || count == 0)
        return;
    add(parts, type, json_pack("[o]", run_of(pieces[0].text, NULL)));
    for (size_t i = 1; i < count; i++)
        missing += characters(&pieces[i]);
    const char *note = missing > 0
                           ? tc_sprint(turn, "\xe2\x9a\xa0 %zu more character%s not shown; %s",
                                       missing, missing == 1 ? "" : "s", where)
                           : NULL;
    if (note)
        add(parts, "rich_text_section", json_pack("[o]", run_of(note, "bold")));
}

static void add_text(struct tc_turn *turn, json_t *parts, const char *type, const char *raw,
                     size_t units)
{
    add_text_with(turn, parts, type, raw, units, elsewhere);
}

/* The subject, and a description that is the reason or the message, have a place of their own. */
static bool is_shown_anyway(const struct tc_request *ev, const char *key, const char *value)
{
    if (ev->subject && strcmp(value, ev->subject) == 0)
        return true;
    return strcmp(key, "description") == 0 && ((ev->reason && strcmp(value, ev->reason) == 0) ||
                                               (ev->message && strcmp(value, ev->message) == 0));
}

/* The arguments that are not shown elsewhere in the message. */
static void add_args(struct tc_turn *turn, json_t *parts, const struct tc_request *ev)
{
    json_auto_t *args = ev->args && !ev->questions ? json_loads(ev->args, 0, NULL) : NULL;
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(args, next, key, value)
    {
        const char *text = json_string_value(value);
        if (strcmp(key, "plan") == 0 || (text && is_shown_anyway(ev, key, text)))
            json_object_del(args, key);
    }
    char *text = json_object_size(args) > 0 ? json_dumps(args, JSON_INDENT(2)) : NULL;
    if (text)
        add_text(turn, parts, "rich_text_preformatted", text, ARGS_UNITS);
    free(text);
}

static void form_add_question(struct tc_turn *turn, json_t *parts, const json_t *question,
                              bool list)
{
    const char *header = json_string_value(json_object_get(question, "header"));
    const char *prompt = json_string_value(json_object_get(question, "prompt"));
    if (header && *text_label(turn, header, 80))
        add(parts, "rich_text_section", json_pack("[o]", run_of(header, "bold")));
    if (prompt)
        add_text(turn, parts, "rich_text_section", prompt, WORDS_UNITS);
    if (list || !form_input_has_options(question))
        form_input_list(turn, parts, question);
}

static void form_add_questions(struct tc_turn *turn, json_t *parts, const char *questions,
                               bool list)
{
    json_auto_t *all = questions ? json_loads(questions, 0, NULL) : NULL;
    size_t i;
    const json_t *question;
    json_array_foreach(all, i, question)
    {
        if (i < FORM_INPUTS)
            form_add_question(turn, parts, question, list);
    }
}

/* The plan of an agent is Markdown. */
static json_t *plan_block(struct tc_turn *turn, const struct tc_request *ev)
{
    const char *given = ev->args && !ev->questions ? tc_json_get(turn, ev->args, "/plan") : NULL;
    const char *plan = given && ev->message ? ev->message : given; /* the message is revealed */
    size_t count = 0;
    const struct tc_piece *pieces =
        plan ? tc_pieces(turn,
                         TC_TEXT(.markdown = plan, .len = strlen(plan), .form = TC_MARKDOWN,
                                 .units = PLAN_UNITS),
                         &count)
             : NULL;
    if (!pieces || count == 0)
        return NULL;
    return json_pack("{s:s, s:o}", "type", "markdown", "text",
                     json_sprintf("%s%s", pieces[0].text,
                                  count > 1 ? "\n\n**\xe2\x9a\xa0 The plan is longer than a Slack "
                                              "message; to read the rest, run: "
                                              "`turncast answer --show`**"
                                            : ""));
}

/* list: what can be chosen is not in an input. */
static json_t *about(struct tc_turn *turn, const struct tc_request *ev, bool list)
{
    json_t *parts = json_array();
    json_t *head = json_pack("[o]", run_of(kind_title(ev->kind), "bold"));
    if (ev->tool && *ev->tool && is_approval(ev)) {
        json_array_append_new(head, run_of(": ", NULL));
        json_array_append_new(head, run_of(ev->tool, "code"));
    }
    add(parts, "rich_text_section", head);
    if (ev->preview)
        add_text_with(turn, parts, "rich_text_preformatted", ev->preview, FORM_PREVIEW_UNITS,
                      "the messages above have the complete text");
    else if (ev->subject)
        add_text(turn, parts, "rich_text_preformatted", ev->subject, FORM_PREVIEW_UNITS);
    if (!ev->preview)
        add_args(turn, parts, ev);
    if (ev->message)
        add_text(turn, parts, "rich_text_section", ev->message, WORDS_UNITS);
    if (ev->reason)
        add_text(turn, parts, "rich_text_section", ev->reason, WORDS_UNITS);
    form_add_questions(turn, parts, ev->questions, list);
    json_t *plan = plan_block(turn, ev);
    json_t *blocks = json_pack("[{s:s, s:o}]", "type", "rich_text", "elements", parts);
    if (plan)
        json_array_append_new(blocks, plan);
    return blocks;
}

json_t *form_about(struct tc_turn *turn, const struct tc_request *ev)
{
    return about(turn, ev, false);
}

json_t *form_end(const char *words)
{
    json_t *parts = json_array();
    add(parts, "rich_text_section", json_pack("[o]", run_of(words, "bold")));
    return json_pack("{s:s, s:o}", "type", "rich_text", "elements", parts);
}

json_t *form_part(const char *head, const struct tc_piece *piece)
{
    json_t *parts = json_array();
    add(parts, "rich_text_section", json_pack("[o]", run_of(head, "bold")));
    add(parts, "rich_text_preformatted", json_pack("[o]", run_of(piece->text, NULL)));
    return json_pack("[{s:s, s:o}]", "type", "rich_text", "elements", parts);
}

/* ---- what can be chosen */

static json_t *form_plain_text(const char *text)
{
    return json_pack("{s:s, s:s, s:b}", "type", "plain_text", "text", text, "emoji", 0);
}

static json_t *confirmation(void)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o}", "title", form_plain_text("Always allow?"), "text",
        form_plain_text("The agent will no longer ask before calls like this one. To undo this, "
                        "an operator runs: turncast approvals"),
        "confirm", form_plain_text("Always allow"), "deny", form_plain_text("Back"));
}

static json_t *button(struct tc_turn *turn, const char *ticket, const char *id, const char *label)
{
    static const char *const styles[][2] = {
        {"allow", "primary"}, {"answer", "primary"}, {"deny", "danger"}, {"deny_stop", "danger"}};
    const char *text = text_label(turn, label && *label ? label : id, 75);
    json_t *b = json_pack("{s:s, s:o, s:o, s:o}", "type", "button", "text",
                          form_plain_text(*text ? text : id), "action_id",
                          json_sprintf("%s%s", FORM_CHOOSE, id), "value",
                          json_sprintf("%s:%s", ticket, id));
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        if (strcmp(styles[i][0], id) == 0)
            json_object_set_new(b, "style", json_string(styles[i][1]));
    if (strcmp(id, "allow_always") == 0)
        json_object_set_new(b, "confirm", confirmation());
    return b;
}

static json_t *buttons(struct tc_turn *turn, const struct tc_request *ev, const char *ticket,
                       bool fillable)
{
    json_auto_t *choices = json_loads(ev->choices, 0, NULL);
    json_t *elements = json_array();
    size_t i;
    const json_t *choice;
    json_array_foreach(choices, i, choice)
    {
        const char *id = json_string_value(json_object_get(choice, "id"));
        const char *label = json_string_value(json_object_get(choice, "label"));
        const bool can = id && *id && strlen(id) < 64 && (fillable || strcmp(id, "answer") != 0);
        if (can && json_array_size(elements) < BUTTONS_MAX)
            json_array_append_new(elements, button(turn, ticket, id, label));
    }
    return json_pack("{s:s, s:o}", "type", "actions", "elements", elements);
}

/* When the request expires, and how to answer it by a reply. */
static json_t *footer(struct tc_turn *turn, const struct tc_request *ev)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t at = ev->expires_ms / 1000;
    const time_t t = (time_t)at;
    struct tm utc;
    char fallback[32] = "";
    const char *until = "";
    if (at > now.tv_sec && gmtime_r(&t, &utc) &&
        strftime(fallback, sizeof fallback, "%Y-%m-%d %H:%M UTC", &utc) > 0)
        until = tc_sprint(turn, "Expires <!date^%" PRId64 "^{date_short_pretty} {time}|%s>. ", at,
                          fallback);
    const char *text = tc_sprint(
        turn, "%s%s", until ? until : "",
        is_approval(ev) ? "To deny with a reason, reply `deny: REASON`."
                        : "To answer, reply `answer: TEXT`; to decline, reply `deny: REASON`.");
    return json_pack("{s:s, s:[{s:s, s:s}]}", "type", "context", "elements", "type", "mrkdwn",
                     "text", text ? text : "Waiting.");
}

static json_t *blocks_with(struct tc_turn *turn, const struct tc_request *ev, const char *ticket,
                           enum form_detail detail)
{
    json_t *blocks = about(turn, ev, detail == FORM_NONE);
    const bool fillable = !is_approval(ev) && form_input_add(turn, blocks, ev, detail);
    json_t *row = buttons(turn, ev, ticket, fillable);
    if (json_array_size(json_object_get(row, "elements")) > 0)
        json_array_append(blocks, row);
    json_decref(row);
    json_array_append_new(blocks, footer(turn, ev));
    return blocks;
}

json_t *form_blocks(struct tc_turn *turn, const struct tc_request *ev, const char *ticket)
{
    json_t *blocks = NULL;
    for (int detail = FORM_FULL; detail <= FORM_NONE; detail++) {
        json_decref(blocks);
        blocks = blocks_with(turn, ev, ticket, (enum form_detail)detail);
        if (json_dumpb(blocks, NULL, 0, JSON_COMPACT) <= BLOCKS_BYTES)
            break;
    }
    return blocks;
}

/* ---- what came back */

bool form_read_choice(const char *value, char *ticket, char *choice)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    const size_t n = strspn(value, letters);
    const size_t m = value[n] == ':' ? strspn(value + n + 1, letters) : 0;
    if (n == 0 || n > 32 || m == 0 || m >= 64 || value[n + 1 + m])
        return false;
    snprintf(ticket, 64, "%.*s", (int)n, value);
    snprintf(choice, 64, "%s", value + n + 1);
    return true;
}
