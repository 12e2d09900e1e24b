/* SPDX-License-Identifier: MIT
 * Fuzz target: the first line is the tag of a request, the second one an outcome and a status, the
 * rest the reply of a service. A tag that is a record is written as it was read; the delivery takes
 * any result along its table, and ends after a bounded number of refusals. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "chat/operation/chat_delivery.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS 64 /* more than any message takes that is always refused */

static const struct tc_error_rule rules[] = {
    {0, "format", TC_RESULT_BAD_FORMAT},
    {0, "long", TC_RESULT_TOO_LONG},
    {0, "empty", TC_RESULT_EMPTY},
    {0, "reply", TC_RESULT_REPLY_GONE},
    {0, "thread", TC_RESULT_THREAD_GONE},
    {0, "message", TC_RESULT_MESSAGE_GONE},
    {0, "moved", TC_RESULT_CHAT_MOVED},
    {0, "chat", TC_RESULT_CHAT_GONE},
    {0, "never", TC_RESULT_UNSUPPORTED},
    {0, "where", TC_RESULT_NOT_FOUND},
    {0, NULL, TC_RESULT_DONE},
};
static const struct tc_reply_map map = {.ok = "/ok",
                                        .error = "/error",
                                        .message = "/result/id",
                                        .chat = "/chat",
                                        .retry_s = "/wait",
                                        .rules = rules};

static void check_round_trip(const struct chat_record *r)
{
    struct chat_record again;
    char *const once = chat_record_write(r);
    if (!chat_record_read(&again, once))
        abort();
    char *const twice = chat_record_write(&again);
    if (strcmp(once, twice) != 0)
        abort();
    chat_record_fini(&again);
    free(once);
    free(twice);
}

/* The same result again and again: an end comes, or the same request waits. */
static void deliver(struct chat_record *r, const struct chat_result *result)
{
    struct chat_delivery_policy policy = {.can_edit = true, .can_file = true, .now_ms = 1};
    policy.idempotency = (enum tc_idempotency)(r->part % 3);
    if (r->state == CHAT_DELIVERED || r->state == CHAT_DEAD)
        return;
    for (int i = 0; i < STEPS; i++) {
        const struct chat_delivery_decision d = chat_delivery_next(r, result, &policy);
        if (d.step == CHAT_STEP_DONE || d.step == CHAT_STEP_DEAD || d.step == CHAT_STEP_AGAIN)
            return;
    }
    if (result->result.kind != TC_RESULT_IN_DOUBT)
        abort();
}

static void run(char *tag, const char *line, const char *body)
{
    struct arena arena = {0};
    struct chat_record r;
    int outcome = 0, status = 0;
    sscanf(line, "%d %d", &outcome, &status);
    const struct tc_reply reply = {.outcome = (enum tc_outcome)((unsigned)outcome % TC_DROPPED),
                                   .status = status,
                                   .body = body,
                                   .body_len = strlen(body),
                                   .error = "error"};
    const enum tc_op_kind op = (enum tc_op_kind)((unsigned)status % TC_OPS);
    const struct chat_result result = chat_result_read(&map, op, &reply, &arena);
    if ((unsigned)result.result.kind >= TC_RESULTS || result.result.hold_ms < 0)
        abort();
    if (chat_record_read(&r, tag)) {
        check_round_trip(&r);
        deliver(&r, &result);
        chat_record_fini(&r);
    }
    arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = xstrndup((const char *)data, size);
    char *const line = strchr(text, '\n'), *const body = line ? strchr(line + 1, '\n') : NULL;
    if (body) {
        *line = *body = '\0';
        run(text, line + 1, body + 1);
    }
    free(text);
    return 0;
}
