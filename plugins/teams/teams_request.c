/* SPDX-License-Identifier: MIT
 * Converts operations of the chat engine to requests to the connector service. */
#include <stdio.h>
#include <string.h>

#include "teams.h"

#define STATUS_BYTES 800 /* units of 1,000 characters */

/* Takes ownership of body; NULL: none. */
static int request_send(struct tc_turn *turn, const struct tc_op *op, const char *method,
                        const char *id, json_t *body, struct tc_http *http)
{
    http->method = method;
    http->url = teams_url(turn, op, id);
    http->headers = teams_bearer;
    http->header_count = 1;
    http->body = body ? tc_json(turn, "o", body) : NULL;
    return http->url && (!body || http->body) ? 0 : -1;
}

/* ---- streams ---- */

/* The agent's activity, above the text. */
static const char *request_status(struct tc_turn *turn, const struct tc_op *op)
{
    const struct tc_tool_line *line = NULL;
    for (size_t i = 0; i < op->item_count; i++)
        line = op->items[i].line ? op->items[i].line : line;
    if (!line)
        return "…";
    const bool more = line->summary && *line->summary;
    return tc_cut(
        turn, tc_sprint(turn, "%s%s%s", line->name, more ? ": " : "", more ? line->summary : ""),
        STATUS_BYTES);
}

static json_t *request_stream_body(struct tc_turn *turn, const struct tc_op *op)
{
    const bool ends = op->kind == TC_OP_STREAM_END, shows = op->text_len > 0;
    json_t *const number = ends ? NULL : json_integer((json_int_t)op->part + 1);
    json_t *const info = json_pack("{s:s, s:s, s:s*, s:o*}", "type", "streaminfo", "streamType",
                                   ends    ? "final"
                                   : shows ? "streaming"
                                           : "informative",
                                   "streamId", op->message, "streamSequence", number);
    return json_pack("{s:s, s:s, s:s, s:[o], s:o*, s:s*}", "type", ends ? "message" : "typing",
                     "text", shows ? op->text : request_status(turn, op), "textFormat", "markdown",
                     "entities", info, "from", teams_message_sender(turn, op), "id", op->message);
}

/* Only a personal chat with the bot has streams. A stream without text is not kept. */
static int request_stream(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    if (op->target->group)
        return -1;
    if (op->kind == TC_OP_STREAM_END && !op->text_len)
        return request_send(turn, op, "DELETE", op->message, NULL, http);
    http->rates |= TEAMS_STREAM_RATE;
    return request_send(turn, op, "POST", NULL, request_stream_body(turn, op), http);
}

/* ---- others ---- */

/* The typing indicator ends with a message or after a time; channels do not show it. */
static int request_typing(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    if (op->off || op->target->thread)
        return 1;
    http->rates = TEAMS_TYPING_RATE;
    return request_send(turn, op, "POST", NULL, json_pack("{s:s}", "type", "typing"), http);
}

/* The response to the current press contains the text. A press that arrived as a message has no
 * such response. */
static int request_private(struct tc_turn *turn, const struct tc_op *op)
{
    struct teams *const s = teams_state(turn);
    if (s->press && op->action && strcmp(s->press, op->action) == 0)
        snprintf(s->press_text, sizeof s->press_text, "%s", op->plain);
    return 1;
}

static int request_file(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    http->method = "GET";
    http->url = teams_url_of_file(turn, op->file->ref);
    if (http->url && teams_url_is_service(turn, op->file->ref)) {
        http->headers = teams_bearer;
        http->header_count = 1;
    }
    http->flags |= TC_SAVE;
    return http->url ? 0 : -1;
}

int teams_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    switch ((int)op->kind) {
    case TC_OP_IDENTIFY:
        return teams_token_request(turn, http);
    case TC_OP_POST:
        return request_send(turn, op, "POST", NULL, teams_message(turn, op), http);
    case TC_OP_EDIT:
        return request_send(turn, op, "PUT", op->message, teams_message(turn, op), http);
    case TC_OP_DELETE:
        return request_send(turn, op, "DELETE", op->message, NULL, http);
    case TC_OP_TYPING:
        return request_typing(turn, op, http);
    case TC_OP_PRIVATE:
        return request_private(turn, op);
    case TC_OP_FETCH:
        return request_file(turn, op, http);
    case TC_OP_STREAM_BEGIN:
    case TC_OP_STREAM_APPEND:
    case TC_OP_STREAM_END:
        return request_stream(turn, op, http);
    default:
        return -1;
    }
}
