/* SPDX-License-Identifier: MIT
 * Tests of chat/operation/chat_delivery.h: a dead letter that a person has sent again, and the end
 * of a native stream with the answer. */
#include "chat/operation/chat_delivery.h"

#include <string.h>

#include "tap/tap.h"

#define DAY_MS INT64_C(86400000)

static struct chat_record used_up(void)
{
    return (struct chat_record){.op = TC_OP_POST,
                                .state = CHAT_POSTING,
                                .slot = CHAT_SLOT_ANSWER,
                                .text = "Done",
                                .tried = {.doubts = CHAT_DOUBTS_MAX, .marked = true}};
}

static void test_renew(void)
{
    const struct chat_result lost = {.result = {.kind = TC_RESULT_IN_DOUBT}};
    struct chat_delivery_policy policy = {.now_ms = 1};
    struct chat_record r = used_up();
    is_int(chat_delivery_next(&r, &lost, &policy).step, CHAT_STEP_DEAD,
           "a letter whose doubts are used up");
    r = used_up();
    policy.drops_doubts = true;
    chat_delivery_renew(&r, &policy, DAY_MS);
    is_int(chat_delivery_next(&r, &lost, &policy).step, CHAT_STEP_SEND,
           "a dead letter that a user sends again is sent, whatever the option ambiguous says");
    ok(r.tried.marked && r.tried.doubts == 1,
       "the repeat is marked, and its attempts are counted from 0");
    is_int(r.until_ms, DAY_MS, "the repeat has the time limit of a new message");
}

/* ---- the end of a native stream ---- */

static struct chat_record ending(void)
{
    return (struct chat_record){.op = TC_OP_STREAM_END,
                                .state = CHAT_ENDING,
                                .slot = CHAT_SLOT_STREAMED,
                                .message = "s1",
                                .text = "Done"};
}

static enum chat_delivery_step end_with(struct chat_record *r, enum tc_result_kind kind,
                                        bool answered, const struct chat_delivery_policy *policy)
{
    const struct chat_result result = {.result = {.kind = kind, .reason = ""},
                                       .answered = answered};
    return chat_delivery_next(r, &result, policy).step;
}

static void test_refused_ends(void)
{
    static const struct {
        enum tc_result_kind kind;
        const char *name;
    } refusals[] = {
        {TC_RESULT_BAD_FORMAT, "format"},      {TC_RESULT_TOO_LONG, "length"},
        {TC_RESULT_EMPTY, "emptiness"},        {TC_RESULT_REPLY_GONE, "answered message"},
        {TC_RESULT_THREAD_GONE, "thread"},     {TC_RESULT_MESSAGE_GONE, "stream"},
        {TC_RESULT_CHAT_MOVED, "moved chat"},  {TC_RESULT_CHAT_GONE, "chat"},
        {TC_RESULT_UNSUPPORTED, "operation"},  {TC_RESULT_REFUSED, "anything"},
        {TC_RESULT_STOPPED, "stopped stream"}, {TC_RESULT_NOT_FOUND, "unknown stream"},
    };
    const struct chat_delivery_policy policy = {.now_ms = 1};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct chat_record r = ending();
        const enum chat_delivery_step step = end_with(&r, refusals[i].kind, false, &policy);
        ok(step == CHAT_STEP_WHOLE && r.state == CHAT_POSTING && !r.tried.marked,
           "an end that is refused (%s): the complete text is posted without a mark",
           refusals[i].name);
    }
}

static void test_ends_in_doubt(void)
{
    struct chat_delivery_policy policy = {.idempotency = TC_IDEMPOTENCY_KEY, .now_ms = 1};
    struct chat_record r = ending();
    ok(end_with(&r, TC_RESULT_IN_DOUBT, false, &policy) == CHAT_STEP_WHOLE && r.tried.marked,
       "an end in doubt at a service that cannot search: the complete text is posted, marked");
    r = ending();
    ok(end_with(&r, TC_RESULT_IN_DOUBT, true, &policy) == CHAT_STEP_SEND && r.state == CHAT_PROBING,
       "an end with an unclear reply is posted when the service works again");
    ok(end_with(&r, TC_RESULT_DONE, false, &policy) == CHAT_STEP_WHOLE && r.tried.marked &&
           strcmp(r.message, "s1") == 0,
       "the open stream is remembered");
    r = ending();
    policy.drops_doubts = true;
    is_int(end_with(&r, TC_RESULT_IN_DOUBT, false, &policy), CHAT_STEP_DEAD,
           "ambiguous = drop: a dead letter");
    policy = (struct chat_delivery_policy){.idempotency = TC_IDEMPOTENCY_LOOKUP, .now_ms = 1};
    r = ending();
    ok(end_with(&r, TC_RESULT_IN_DOUBT, false, &policy) == CHAT_STEP_SEND &&
           r.state == CHAT_FINDING && r.op == TC_OP_LOOKUP,
       "an end in doubt is searched for");
    struct chat_record found = r;
    is_int(end_with(&found, TC_RESULT_DONE, false, &policy), CHAT_STEP_DONE,
           "an end that the search finds is delivered");
    ok(end_with(&r, TC_RESULT_NOT_FOUND, false, &policy) == CHAT_STEP_WHOLE && !r.tried.marked,
       "an end that the search does not find: the complete text is posted without a mark");
}

static void test_unsure_ends(void)
{
    struct chat_delivery_policy policy = {.shown = CHAT_SHOWN_LESS, .now_ms = 1};
    struct chat_record r = ending();
    is_int(end_with(&r, TC_RESULT_DONE, false, &policy), CHAT_STEP_DONE,
           "without an append in flight the end is the delivery");
    r = ending();
    r.beside.append = true;
    ok(end_with(&r, TC_RESULT_DONE, false, &policy) == CHAT_STEP_WHOLE && !r.tried.marked,
       "an append that was not executed: the complete text is posted");
    r = ending();
    r.beside.append = true;
    policy.shown = CHAT_SHOWN_UNKNOWN;
    ok(end_with(&r, TC_RESULT_DONE, false, &policy) == CHAT_STEP_WHOLE && r.tried.marked,
       "an append in doubt: the complete text is posted, marked");
    r = ending();
    r.beside.append = true;
    policy.shown = CHAT_SHOWN_ALL;
    is_int(end_with(&r, TC_RESULT_DONE, false, &policy), CHAT_STEP_DONE,
           "an append that was executed: the end is the delivery");
    r = ending();
    ok(end_with(&r, TC_RESULT_RETRY, false, &policy) == CHAT_STEP_AGAIN &&
           end_with(&r, TC_RESULT_UNAUTHORIZED, false, &policy) == CHAT_STEP_AGAIN &&
           r.state == CHAT_ENDING,
       "an end that was not executed is sent again");
}

int main(void)
{
    plan_lazy();
    test_renew();
    test_refused_ends();
    test_ends_in_doubt();
    test_unsure_ends();
    return 0;
}
