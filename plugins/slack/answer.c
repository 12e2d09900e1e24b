/* SPDX-License-Identifier: MIT
 * The outcome of a turn in Slack, as durable requests: each carries in its body and tag all that
 * the next step needs, so that any process can go on with it. */
#include <string.h>

#include "answer.h"
#include "call.h"
#include "fault.h"
#include "find.h"
#include "message.h"
#include "route.h"
#include "slack.h"
#include "text.h"
#include "upload.h"

#define PARTS_MAX 8                 /* messages of one answer; a longer one is files */
#define STREAM_TEXT_MAX (96u << 10) /* a longer answer is not kept beside the end of a stream */
#define LOSS_AGE_MS ((int64_t)24 * 3600 * 1000)
#define TAIL_PART 100 /* number of the first message behind a stream */

static const char in_doubt[] = "delivery is uncertain: no response from Slack";

json_t *answer_data(const struct tc_reply *r)
{
    const char *data = strchr(r->tag, ' ');
    return data ? json_loads(data + 1, 0, NULL) : NULL;
}

int answer_repeat(struct tc_turn *turn, json_t *body, json_t *data)
{
    const struct slack_call how = {.tag = call_tag(turn, "post", data),
                                   .lane = route_of(turn)->lane,
                                   .priority = TC_P_FINAL,
                                   .flags = TC_DURABLE};
    return call_json(turn, POST_MESSAGE, body, &how);
}

static int post_part(struct tc_turn *turn, const struct tc_piece *piece, int part)
{
    json_t *body = message_body(turn, route_of(turn), piece);
    json_object_set_new(body, "metadata", message_mark(turn, part));
    return answer_repeat(turn, body, json_object());
}

static int post_parts(struct tc_turn *turn, const struct tc_piece *pieces, size_t count, int first)
{
    int rc = 0;
    for (size_t i = 0; i < count; i++)
        rc |= post_part(turn, &pieces[i], first + (int)i);
    return rc;
}

int answer_post(struct tc_turn *turn, const char *markdown, uint32_t flags)
{
    static const char silence[] = "*The agent finished without an answer.*";
    static const struct tc_piece nothing = {silence, sizeof silence - 1, NULL};
    size_t count = 0;
    const struct tc_piece *pieces = message_pieces(turn, markdown, flags, &count);
    return pieces && count > 0 ? post_parts(turn, pieces, count, 0) : post_part(turn, &nothing, 0);
}

int answer_send(struct tc_turn *turn, const char *markdown, uint32_t flags)
{
    const struct slack_conf *conf = turn->inst->conf;
    const size_t most = strcmp(conf->overflow, "file") == 0 ? 1 : PARTS_MAX;
    size_t count = 0;
    message_pieces(turn, markdown, flags, &count);
    if (count > most && !state_of(turn)->off.upload && upload_send(turn, markdown) == 0)
        return 0;
    return answer_post(turn, markdown, flags);
}

/* Not durable: beside a durable request that takes its place the answer would be no dead letter. */
static void tell_loss(struct tc_turn *turn, const char *reason)
{
    const struct route *at = route_of(turn);
    const char *text = tc_sprint(turn,
                                 "\xe2\x9a\xa0 An answer could not be delivered here: %s. "
                                 "It is stored as a dead letter; run: `turncast dead list`",
                                 text_label(turn, reason, 200));
    const struct slack_call how = {.tag = "loss",
                                   .lane = at->lane,
                                   .priority = TC_P_NOTICE,
                                   .flags = TC_IDEMPOTENT,
                                   .max_age_ms = LOSS_AGE_MS};
    if (text)
        call_json(turn, POST_MESSAGE,
                  json_pack("{s:s, s:s*, s:s}", "channel", at->channel, "thread_ts", at->thread,
                            "text", text),
                  &how);
}

/* Where nothing can be shown, that cannot be said either. */
void answer_lost(struct tc_turn *turn, const struct fault *f, const struct tc_verdict *v)
{
    struct cast *cast = cast_of(turn);
    if (v->next != TC_NEXT_FAIL || f->kind == FAULT_TARGET || cast->told_loss ||
        !route_of(turn)->channel)
        return;
    cast->told_loss = true;
    tell_loss(turn, v->reason ? v->reason : f->error);
}

/* Payload: what was asked is changed so that it is taken; NULL: there is no other form. */
static json_t *answer_plainer(json_t *body)
{
    if (json_object_del(body, "blocks") == 0)
        return json_incref(body);
    return json_object_del(body, "metadata") == 0 ? json_incref(body) : NULL;
}

int answer_on_post(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    json_auto_t *body = json_loads(r->http->body, 0, NULL), *data = answer_data(r);
    fault_judge(turn, &f, r, false, v);
    if (f.kind == FAULT_DOUBT) {
        find_message(turn, body, data, v);
    } else if (f.kind == FAULT_PAYLOAD || f.kind == FAULT_OTHER) {
        json_auto_t *other = answer_plainer(body);
        if (other)
            fault_replaced(v, answer_repeat(turn, json_incref(other), json_incref(data)), f.error);
    }
    answer_lost(turn, &f, v);
    return 0;
}

/* ---- an answer at the end of a stream */

/* The end carries `rest`, if there is any; were it refused, `text` is what it stood for. */
static int stop_with(struct tc_turn *turn, const char *text, size_t len, const char *rest)
{
    struct cast *cast = cast_of(turn);
    const bool busy = cast->stream.busy;
    json_t *body = stream_end_body(turn, rest);
    json_object_set_new(body, "metadata", message_mark(turn, 0));
    const struct slack_call how = {
        .tag = call_tag(turn, "stop", json_pack("{s:b, s:s%}", "busy", busy, "text", text, len)),
        .lane = cast->route.lane,
        .priority = TC_P_FINAL,
        .flags = TC_DURABLE};
    cast->over = true;
    return call_json(turn, STOP_STREAM, body, &how);
}

bool answer_end_stream(struct tc_turn *turn, const char *markdown, const char *rest)
{
    const struct slack_conf *conf = turn->inst->conf;
    const size_t most = strcmp(conf->overflow, "file") == 0 ? 0 : PARTS_MAX;
    const size_t len = strlen(markdown);
    size_t count = 0;
    const struct tc_piece *pieces = *rest ? message_pieces(turn, rest, 0, &count) : NULL;
    if (len > STREAM_TEXT_MAX)
        return false;
    if (count <= 1 && stream_can_end_with(turn, count ? pieces->len : 0))
        return stop_with(turn, markdown, len, count ? pieces->text : NULL) == 0;
    return count <= most && stream_can_end_with(turn, 0) &&
           stop_with(turn, markdown, (size_t)(rest - markdown), NULL) == 0 &&
           post_parts(turn, pieces, count, TAIL_PART) == 0;
}

/* The end itself says all of it. */
static bool carries(struct tc_turn *turn, const json_t *body, const char *text)
{
    const char *said = json_string_value(json_object_get(body, "markdown_text"));
    size_t i;
    const json_t *chunk;
    json_array_foreach(json_object_get(body, "chunks"), i, chunk)
    {
        const char *part = json_string_value(json_object_get(chunk, "text"));
        said = part ? tc_sprint(turn, "%s%s", said ? said : "", part) : said;
    }
    return said && strstr(said, text);
}

/* Else what was under way as the end was sent must have been shown too. */
static bool is_whole(struct tc_turn *turn, const json_t *data, const json_t *body, const char *text)
{
    const struct cast *cast = cast_of(turn);
    return carries(turn, body, text) || json_is_false(json_object_get(data, "busy")) ||
           (cast->begun && !cast->stream.broken && !cast->stream.busy);
}

int answer_on_stop(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    json_auto_t *data = answer_data(r), *body = json_loads(r->http->body, 0, NULL);
    const char *text = json_string_value(json_object_get(data, "text"));
    const char *ts = json_string_value(json_object_get(body, "ts"));
    fault_judge(turn, &f, r, true, v);
    if (f.kind == FAULT_DROPPED)
        answer_lost(turn, &f, v);
    if (!text || f.kind == FAULT_DROPPED ||
        (f.kind == FAULT_NONE && is_whole(turn, data, body, text)))
        return 0;
    if (f.kind == FAULT_DOUBT) {
        fault_replaced(v, find_stream(turn, ts, text), in_doubt);
        return 0;
    }
    if (!fault_is_end(v))
        return 0;
    if (f.kind == FAULT_PAYLOAD && ts)
        stream_end_message(turn, ts, false);
    fault_replaced(v, answer_post(turn, text, 0), f.error);
    return 0;
}
