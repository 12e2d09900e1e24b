/* SPDX-License-Identifier: MIT
 * The bodies of messages: Markdown as blocks, with the same as text where blocks are not taken. */
#include <string.h>

#include "call.h"
#include "fault.h"
#include "message.h"
#include "text.h"

const struct tc_piece *message_pieces(struct tc_turn *turn, const char *markdown, uint32_t flags,
                                      size_t *count)
{
    return tc_pieces(turn,
                     TC_TEXT(.markdown = markdown, .len = strlen(markdown), .form = TC_MARKDOWN,
                             .flags = flags, .units = MESSAGE_UNITS),
                     count);
}

json_t *message_text(struct tc_turn *turn, const json_t *block)
{
    const json_t *text = json_object_get(block, "text");
    return json_string(text_mrkdwn(turn, json_string_value(text), json_string_length(text), 0, 0));
}

json_t *message_body(struct tc_turn *turn, const struct route *r, const struct tc_piece *piece)
{
    json_t *block = json_pack("{s:s, s:s%}", "type", "markdown", "text", piece->text, piece->len);
    json_t *body =
        json_pack("{s:s, s:o, s:[o], s:b, s:b}", "channel", r->channel, "text",
                  message_text(turn, block), "blocks", block, "unfurl_links", 0, "unfurl_media", 0);
    if (r->thread)
        json_object_set_new(body, "thread_ts", json_string(r->thread));
    return body;
}

json_t *message_mark(const struct tc_turn *turn, int part)
{
    return json_pack("{s:s, s:{s:s, s:i}}", "event_type", "turncast_turn", "event_payload", "turn",
                     turn->id, "part", part);
}

void message_tell(struct tc_turn *lobby, const struct route *r, const char *markdown)
{
    size_t count = 0;
    const struct tc_piece *pieces = message_pieces(lobby, markdown, 0, &count);
    const struct call how = {
        .tag = "told", .lane = r->lane, .priority = TC_P_REQUEST, .max_age_ms = 10 * 60 * 1000};
    for (size_t i = 0; pieces && i < count; i++)
        call_json(lobby, POST_MESSAGE, message_body(lobby, r, &pieces[i]), &how);
}

int message_on_told(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v)
{
    FAULT_CLEANUP struct fault f = fault_read(lobby, r);
    fault_judge(lobby, &f, r, false, v);
    return 0;
}
