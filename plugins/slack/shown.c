/* SPDX-License-Identifier: MIT
 * The passing messages of a turn: which there are, kept over a restart, and how they go away. */
#include <jansson.h>

#include "call.h"
#include "fault.h"
#include "route.h"
#include "shown.h"
#include "slack.h"

void shown_remember(struct tc_turn *turn)
{
    const struct cast *cast = cast_of(turn);
    tc_remember(turn,
                call_dump(turn, json_pack("{s:s, s:s, s:o*}", "stream", cast->stream.ts, "progress",
                                          cast->progress.ts, "asked", question_pack(turn))));
}

void shown_remove(struct tc_turn *turn, const char *ts)
{
    const struct route *r = route_of(turn);
    const struct slack_call how = {.tag = "remove",
                                   .lane = r->lane,
                                   .priority = TC_P_NOTICE,
                                   .flags = TC_DURABLE | TC_IDEMPOTENT};
    call_json(turn, DELETE, json_pack("{s:s, s:s}", "channel", r->channel, "ts", ts), &how);
}

void shown_clean_up(struct tc_turn *turn)
{
    json_auto_t *memory = turn->memory ? json_loads(turn->memory, 0, NULL) : NULL;
    const char *stream = json_string_value(json_object_get(memory, "stream"));
    const char *progress = json_string_value(json_object_get(memory, "progress"));
    const struct route *r = route_of(turn);
    question_recall(turn);
    if (!r->channel)
        return;
    if (stream && *stream)
        stream_end_message(turn, stream, false);
    if (progress && *progress)
        shown_remove(turn, progress);
}

int shown_on_remove(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    fault_judge(turn, &f, r, true, v);
    if (f.kind == FAULT_MESSAGE) /* somebody else has deleted it */
        v->next = TC_NEXT_DONE;
    return 0;
}
