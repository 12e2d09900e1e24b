/* SPDX-License-Identifier: MIT
 * Posts outcomes to a webhook of Workflows, which accepts cards only. Each part of an answer is one
 * durable request; the host inserts its URL, which is a secret. */
#include <string.h>

#include "teams.h"

#define PART_UNITS 6000 /* a card has 28 KB */
#define PARTS_MAX 6

static int webhook_post(struct tc_turn *turn, json_t *elements)
{
    const char *const body = tc_json(turn, "{s:s, s:[o]}", "type", "message", "attachments",
                                     teams_message_card(elements));
    return body ? tc_http(turn,
                          TC_HTTP(.url = "{option:webhook}", .body = body, .lane = "webhook",
                                  .priority = TC_P_FINAL, .flags = TC_DURABLE, .tag = "webhook"))
                : -1;
}

static json_t *webhook_block(const char *text)
{
    return json_pack("[{s:s, s:s, s:b}]", "type", "TextBlock", "text", text, "wrap", 1);
}

/* Cards support the Markdown of messages, except code, which is shown as text. */
int teams_webhook_on_final(struct tc_turn *turn, const struct tc_final *ev)
{
    size_t count = 0;
    int rc = 0;
    if (!teams_conf(turn)->webhook)
        return 0;
    const struct tc_piece *const pieces =
        tc_pieces(turn,
                  TC_TEXT(.markdown = ev->text, .len = strlen(ev->text), .form = TC_COMMONMARK,
                          .flags = TC_NO_TABLES | TC_NO_HEADINGS, .units = PART_UNITS),
                  &count);
    if (!pieces)
        return webhook_post(turn, webhook_block("(no text)"));
    for (size_t i = 0; i < count && i < PARTS_MAX; i++)
        rc |= webhook_post(turn, webhook_block(pieces[i].text));
    return count > PARTS_MAX ? rc | webhook_post(turn, webhook_block("(the rest is left out)"))
                             : rc;
}

int teams_webhook_on_error(struct tc_turn *turn, const struct tc_error *ev)
{
    if (!teams_conf(turn)->webhook)
        return 0;
    return webhook_post(turn, teams_message_lines(turn, tc_sprint(turn, "⚠ %s", ev->message)));
}
