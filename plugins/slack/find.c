/* SPDX-License-Identifier: MIT
 * Looks for an own message in its thread, where it is not known whether Slack took it. */
#include <string.h>

#include "answer.h"
#include "call.h"
#include "fault.h"
#include "find.h"
#include "message.h"
#include "question.h"
#include "route.h"
#include "slack.h"
#include "upload.h"

#define BACKOFF_MS 1000
#define BACKOFF_MAX_MS (5 * 60 * 1000)
#define DOUBTS_MAX 300 /* of one message: with their back-off a day */
#define PAGES_MAX 20

struct find_place {
    const char *channel, *thread;
};

/* A question may stand elsewhere than its turn. */
static struct find_place place_of(struct tc_turn *turn, const json_t *what)
{
    const struct route *r = route_of(turn);
    const json_t *body = json_object_get(what, "body");
    const char *channel = json_string_value(json_object_get(body, "channel"));
    const char *thread = json_string_value(json_object_get(body, "thread_ts"));
    return channel ? (struct find_place){channel, thread}
                   : (struct find_place){r->channel, r->thread};
}

static bool is_kind(const json_t *what, const char *kind)
{
    const char *have = json_string_value(json_object_get(what, "kind"));
    return have && strcmp(have, kind) == 0;
}

/* The first search is at once, those that follow later and later. */
static int64_t search_delay_ms(const json_t *what)
{
    const json_int_t doubts =
        json_integer_value(json_object_get(json_object_get(what, "data"), "doubts"));
    if (doubts < 2 || json_object_get(what, "cursor"))
        return 0;
    return doubts < 10 ? BACKOFF_MS << (doubts - 2) : BACKOFF_MAX_MS;
}

/* What is looked for: data of the tag. "body" (and "data") is sent again when it is not there, or
 * "text" posted. */
static int look(struct tc_turn *turn, json_t *what)
{
    const struct route *r = route_of(turn);
    const struct find_place at = place_of(turn, what);
    const char *cursor = json_string_value(json_object_get(what, "cursor"));
    const char *query = tc_sprint(
        turn, "channel=%s&limit=200&include_all_metadata=true%s%s%s%s%s%s", at.channel,
        at.thread ? "&ts=" : "", at.thread ? at.thread : "", r->ts ? "&oldest=" : "",
        r->ts ? r->ts : "", cursor ? "&cursor=" : "", cursor ? call_quote(turn, cursor) : "");
    const int64_t delay_ms = search_delay_ms(what);
    const char *lane = route_lane(turn, at.channel, at.thread);
    const struct slack_call how = {.tag = call_tag(turn, "find", what),
                                   .lane = lane,
                                   .priority = TC_P_FINAL,
                                   .flags = TC_DURABLE | TC_IDEMPOTENT,
                                   .delay_ms = delay_ms};
    return call_get(turn, at.thread ? REPLIES : HISTORY, query, &how);
}

static int look_for_body(struct tc_turn *turn, const char *kind, json_t *body, const json_t *data)
{
    const json_int_t doubts = json_integer_value(json_object_get(data, "doubts"));
    if (!body || doubts >= DOUBTS_MAX)
        return -1;
    json_t *next = data ? json_deep_copy(data) : json_object(), *kept = json_copy(body);
    json_object_set_new(next, "doubts", json_integer(doubts + 1));
    if (strcmp(kind, "question") != 0 && json_object_get(kept, "blocks"))
        json_object_del(kept, "text"); /* the block has it, and a tag is no place for much */
    return look(turn, json_pack("{s:s, s:o, s:o}", "kind", kind, "body", kept, "data", next));
}

static void find_body(struct tc_turn *turn, const char *kind, json_t *body, const json_t *data,
                      struct tc_verdict *v)
{
    if (json_is_true(json_object_get(data, "resent")))
        *v = (struct tc_verdict){.next = TC_NEXT_AGAIN};
    else
        fault_replaced(v, look_for_body(turn, kind, body, data),
                       "delivery is uncertain: no response from Slack");
}

void find_message(struct tc_turn *turn, json_t *body, const json_t *data, struct tc_verdict *v)
{
    find_body(turn, "message", body, data, v);
}

void find_question(struct tc_turn *turn, json_t *body, const json_t *data, struct tc_verdict *v)
{
    find_body(turn, "question", body, data, v);
}

void find_file(struct tc_turn *turn, json_t *body, const json_t *data, struct tc_verdict *v)
{
    find_body(turn, "file", body, data, v);
}

int find_stream(struct tc_turn *turn, const char *ts, const char *text)
{
    return look(turn, json_pack("{s:s, s:s*, s:s}", "kind", "stream", "stream", ts, "text", text));
}

static bool has_mark(const json_t *message, const json_t *payload)
{
    const json_t *mark = json_object_get(message, "metadata");
    const char *type = json_string_value(json_object_get(mark, "event_type"));
    return type && strcmp(type, "turncast_turn") == 0 &&
           json_equal(json_object_get(mark, "event_payload"), payload);
}

static bool has_file(const json_t *message, const char *id)
{
    size_t i;
    const json_t *file;
    json_array_foreach(json_object_get(message, "files"), i, file)
    {
        const char *have = json_string_value(json_object_get(file, "id"));
        if (have && strcmp(have, id) == 0)
            return true;
    }
    return false;
}

/* The message looked for, or NULL. */
static const json_t *pick(const struct tc_turn *turn, const json_t *messages, const json_t *what)
{
    const json_t *body = json_object_get(what, "body");
    const json_t *mark = json_object_get(body, "metadata");
    json_auto_t *own = mark ? json_deep_copy(mark) : message_mark(turn, 0);
    const json_t *first = json_array_get(json_object_get(body, "files"), 0);
    const char *file = json_string_value(json_object_get(first, "id"));
    size_t i;
    const json_t *message;
    json_array_foreach(messages, i, message)
    {
        if (file ? has_file(message, file)
                 : has_mark(message, json_object_get(own, "event_payload")))
            return message;
    }
    return NULL;
}

static void mark_as_repeated(json_t *body, const char *key)
{
    json_t *text = json_object_get(body, key);
    if (json_is_string(text))
        json_object_set_new(body, key, json_sprintf("(resent) %s", json_string_value(text)));
}

/* A body, which says `blind` that it may be there twice. */
static int repeat_body(struct tc_turn *turn, const json_t *what, bool blind)
{
    json_t *body = json_deep_copy(json_object_get(what, "body"));
    json_t *data = json_deep_copy(json_object_get(what, "data"));
    json_t *block = json_array_get(json_object_get(body, "blocks"), 0);
    const bool question = is_kind(what, "question");
    if (blind) {
        json_object_set_new(data, "resent", json_true());
        mark_as_repeated(block && !question ? block : body, "text");
        mark_as_repeated(body, "initial_comment");
    }
    if (question)
        return question_repeat(turn, body, data);
    if (block)
        json_object_set_new(body, "text", message_text(turn, block));
    return is_kind(what, "file") ? upload_complete(turn, body, data)
                                 : answer_repeat(turn, body, data);
}

/* It was not there (or, `blind`, nobody could say): once more. */
static int repeat(struct tc_turn *turn, const json_t *what, bool blind)
{
    const char *text = json_string_value(json_object_get(what, "text"));
    const char *stream = json_string_value(json_object_get(what, "stream"));
    const char *again = text && blind ? tc_sprint(turn, "(resent) %s", text) : text;
    const int posted = again ? answer_post(turn, again, 0) : -1;
    if (stream)
        stream_end_message(turn, stream, false); /* it may be open */
    return text ? posted : repeat_body(turn, what, blind);
}

/* The next page of what was read, or NULL. Only a thread is read to its end: it begins with its
 * oldest messages, a channel with its newest. */
static const char *next_page(struct tc_turn *turn, const json_t *json, const json_t *what)
{
    const json_t *meta = json_object_get(json, "response_metadata");
    const char *cursor = json_string_value(json_object_get(meta, "next_cursor"));
    const json_int_t pages = json_integer_value(json_object_get(what, "pages"));
    return cursor && *cursor && pages < PAGES_MAX && place_of(turn, what).thread ? cursor : NULL;
}

int find_on_read(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    json_auto_t *what = answer_data(r);
    fault_judge(turn, &f, r, true, v);
    if (f.kind == FAULT_DROPPED)
        answer_lost(turn, &f, v);
    if (!fault_is_end(v) || f.kind == FAULT_DROPPED)
        return 0;
    const json_t *found =
        f.kind == FAULT_NONE ? pick(turn, json_object_get(f.json, "messages"), what) : NULL;
    if (found) {
        if (is_kind(what, "question"))
            question_posted(turn, json_object_get(what, "body"), json_object_get(what, "data"),
                            json_string_value(json_object_get(found, "ts")));
        return 0;
    }
    const char *cursor = next_page(turn, f.json, what);
    int rc;
    if (f.kind == FAULT_NONE && cursor) {
        const json_int_t pages = json_integer_value(json_object_get(what, "pages"));
        json_object_set_new(what, "cursor", json_string(cursor));
        json_object_set_new(what, "pages", json_integer(pages + 1));
        rc = look(turn, json_incref(what));
    } else {
        rc = repeat(turn, what, f.kind != FAULT_NONE);
    }
    fault_replaced(v, rc, f.error);
    return 0;
}
