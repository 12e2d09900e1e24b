/* SPDX-License-Identifier: MIT
 * Native streams of Slack: the content as chunks, of text and of tasks, or as text alone where
 * chunks are refused. */
#include <inttypes.h>
#include <string.h>

#include "slack_operation.h"

#define TITLE_BYTES 130
#define DETAIL_BYTES 240
#define ELAPSED_FROM_MS 10000 /* age from which a running task shows its duration */

static const char *elapsed(struct tc_turn *turn, int64_t ms)
{
    const int64_t s = ms / 1000;
    if (ms < 1000)
        return tc_sprint(turn, " (%" PRId64 "ms)", ms < 0 ? 0 : ms);
    return s < 60 ? tc_sprint(turn, " (%" PRId64 "s)", s)
                  : tc_sprint(turn, " (%" PRId64 "m%02" PRId64 "s)", s / 60, s % 60);
}

static const char *title_of(struct tc_turn *turn, const struct tc_tool_line *l)
{
    const char *const words =
        l->summary && *l->summary ? tc_sprint(turn, "%s: %s", l->name, l->summary) : l->name;
    const bool timed = l->state != TC_LINE_RUNNING || l->took_ms >= ELAPSED_FROM_MS;
    return tc_sprint(turn, "%s%s", slack_escape(turn, words, TITLE_BYTES),
                     timed ? elapsed(turn, l->took_ms) : "");
}

static json_t *task(struct tc_turn *turn, const struct tc_tool_line *l)
{
    static const char *const states[] = {
        [TC_LINE_RUNNING] = "in_progress", [TC_LINE_OK] = "complete", [TC_LINE_FAILED] = "error"};
    json_t *const json = json_pack("{s:s, s:s, s:s, s:s}", "type", "task_update", "id", l->id,
                                   "title", title_of(turn, l), "status", states[l->state]);
    if (l->detail && *l->detail)
        json_object_set_new(json, l->state == TC_LINE_FAILED ? "output" : "details",
                            json_string(slack_escape(turn, l->detail, DETAIL_BYTES)));
    return json;
}

static json_t *chunks(struct tc_turn *turn, const struct tc_op *op)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < op->item_count; i++)
        json_array_append_new(
            list, op->items[i].text
                      ? json_pack("{s:s, s:s}", "type", "markdown_text", "text", op->items[i].text)
                      : task(turn, op->items[i].line));
    return list;
}

static const char *text_of(struct tc_turn *turn, const struct tc_op *op)
{
    const char *text = "";
    for (size_t i = 0; text && i < op->item_count; i++)
        if (op->items[i].text)
            text = tc_sprint(turn, "%s%s", text, op->items[i].text);
    return text ? text : "";
}

static void add_content(struct tc_turn *turn, json_t *body, const struct tc_op *op)
{
    if (op->item_count > 0 && op->omit & TC_OMIT_FORMAT)
        json_object_set_new(body, "markdown_text", json_string(text_of(turn, op)));
    else if (op->item_count > 0)
        json_object_set_new(body, "chunks", chunks(turn, op));
}

/* Slack requires the recipient of a stream in a channel; `more` is the id of the team. */
static int begin(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    const struct tc_target *const to = op->target;
    if (!to->thread || (to->group && (!to->user || !to->more)))
        return -1;
    json_t *const body = json_pack("{s:s, s:s}", "channel", to->chat, "thread_ts", to->thread);
    if (to->group) {
        json_object_set_new(body, "recipient_user_id", json_string(to->user));
        json_object_set_new(body, "recipient_team_id", json_string(to->more));
    }
    if (!(op->omit & TC_OMIT_FORMAT))
        json_object_set_new(body, "task_display_mode", json_string("timeline"));
    add_content(turn, body, op);
    return slack_call(turn, START_STREAM, body, http);
}

int slack_stream_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    if (op->kind == TC_OP_STREAM_BEGIN)
        return begin(turn, op, http);
    json_t *const body = json_pack("{s:s, s:s}", "channel", op->target->chat, "ts", op->message);
    add_content(turn, body, op);
    if (op->kind == TC_OP_STREAM_END && op->role == TC_ROLE_ANSWER)
        json_object_set_new(body, "metadata", slack_mark(op));
    return slack_call(turn, op->kind == TC_OP_STREAM_END ? STOP_STREAM : APPEND_STREAM, body, http);
}
