/* SPDX-License-Identifier: MIT
 * Tests of chat/operation/chat_delivery.h: a dead letter that a person has sent again. */
#include "chat/operation/chat_delivery.h"

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

int main(void)
{
    const struct chat_result lost = {.result = {.kind = TC_RESULT_IN_DOUBT}};
    struct chat_delivery_policy policy = {.now_ms = 1};
    plan_lazy();
    struct chat_record r = used_up();
    is_int(chat_delivery_next(&r, &lost, &policy).step, CHAT_STEP_DEAD,
           "a letter whose doubts are used up");
    r = used_up();
    policy.drops_doubts = true;
    chat_delivery_renew(&r, &policy, DAY_MS);
    is_int(chat_delivery_next(&r, &lost, &policy).step, CHAT_STEP_SEND,
           "goes out again for a person, whatever the option ambiguous says");
    ok(r.tried.marked && r.tried.doubts == 1, "marked, and counted anew");
    is_int(r.until_ms, DAY_MS, "for as long as another");
    return 0;
}
