/* SPDX-License-Identifier: MIT
 * Tests of chat/operation/chat_result.h: what replies of two kinds of services mean. */
#include "chat/operation/chat_result.h"

#include <string.h>

#include "tap/tap.h"

static const struct tc_error_rule rules[] = {
    {429, NULL, TC_RESULT_RETRY},        {400, "entities", TC_RESULT_BAD_FORMAT},
    {0, "gone", TC_RESULT_MESSAGE_GONE}, {403, NULL, TC_RESULT_CHAT_GONE},
    {0, NULL, TC_RESULT_DONE},
};

/* Names errors beside a status, as Telegram and Slack. */
static const struct tc_reply_map named = {.ok = "/ok",
                                          .error = "/error",
                                          .message = "/result/id",
                                          .chat = "/result/chat",
                                          .retry_s = "/wait",
                                          .rules = rules};
/* Has statuses only. */
static const struct tc_reply_map bare = {.message = "/id", .retry_ms = "/wait_ms"};

static const struct {
    const struct tc_reply_map *map;
    enum tc_op_kind op;
    enum tc_outcome outcome;
    int status;
    const char *body;
    enum tc_result_kind kind;
    bool answered;
    const char *message;
    int64_t hold_ms;
} cases[] = {
    {&named, TC_OP_POST, TC_OK, 200, "{\"ok\":true,\"result\":{\"id\":7}}", TC_RESULT_DONE, false,
     "7", 0},
    {&named, TC_OP_EDIT, TC_OK, 200, "{\"ok\":true}", TC_RESULT_DONE, false, NULL, 0},
    {&named, TC_OP_POST, TC_OK, 200, "{\"ok\":true}", TC_RESULT_IN_DOUBT, true, NULL, 0},
    {&named, TC_OP_POST, TC_OK, 200, "<html>", TC_RESULT_IN_DOUBT, true, NULL, 0},
    {&named, TC_OP_EDIT, TC_OK, 200, "", TC_RESULT_IN_DOUBT, true, NULL, 0},
    {&named, TC_OP_EDIT, TC_OK, 200, "{\"ok\":false}", TC_RESULT_IN_DOUBT, true, NULL, 0},
    {&named, TC_OP_EDIT, TC_OK, 200, "{\"ok\":false,\"error\":\"gone\"}", TC_RESULT_MESSAGE_GONE,
     false, NULL, 0},
    {&named, TC_OP_POST, TC_REJECTED, 400, "{\"ok\":false,\"error\":\"bad entities\"}",
     TC_RESULT_BAD_FORMAT, false, NULL, 0},
    {&named, TC_OP_POST, TC_REJECTED, 403, "{\"ok\":false,\"error\":\"bad entities\"}",
     TC_RESULT_CHAT_GONE, false, NULL, 0},
    {&named, TC_OP_POST, TC_REJECTED, 429, "{\"ok\":false,\"error\":\"x\",\"wait\":2.5}",
     TC_RESULT_RETRY, false, NULL, 2500},
    {&named, TC_OP_POST, TC_REJECTED, 429, "{\"ok\":false,\"wait\":1e30}", TC_RESULT_RETRY, false,
     NULL, INT64_C(86400000)},
    {&named, TC_OP_POST, TC_REJECTED, 429, "{\"wait\":-5}", TC_RESULT_RETRY, false, NULL, 0},
    {&named, TC_OP_POST, TC_REJECTED, 418, "{\"error\":\"what\"}", TC_RESULT_REFUSED, false, NULL,
     0},
    {&named, TC_OP_POST, TC_REJECTED, 401, "", TC_RESULT_UNAUTHORIZED, false, NULL, 0},
    {&bare, TC_OP_POST, TC_OK, 200, "{\"id\":\"a\"}", TC_RESULT_DONE, false, "a", 0},
    {&bare, TC_OP_EDIT, TC_OK, 204, "", TC_RESULT_DONE, false, NULL, 0},
    {&bare, TC_OP_POST, TC_REJECTED, 413, "", TC_RESULT_TOO_LONG, false, NULL, 0},
    {&bare, TC_OP_POST, TC_REJECTED, 429, "{\"wait_ms\":1500}", TC_RESULT_RETRY, false, NULL, 1500},
    {&bare, TC_OP_POST, TC_NOT_SENT, 0, "", TC_RESULT_RETRY, false, NULL, 0},
    {&bare, TC_OP_POST, TC_AMBIGUOUS, 0, "", TC_RESULT_IN_DOUBT, false, NULL, 0},
    {&bare, TC_OP_POST, TC_AMBIGUOUS, 502, "bad gateway", TC_RESULT_IN_DOUBT, true, NULL, 0},
};

int main(void)
{
    struct arena arena = {0};
    plan_lazy();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct tc_reply reply = {.outcome = cases[i].outcome,
                                       .status = cases[i].status,
                                       .body = cases[i].body,
                                       .body_len = strlen(cases[i].body),
                                       .error = "error"};
        const struct chat_result r = chat_result_read(cases[i].map, cases[i].op, &reply, &arena);
        const char *const message = r.result.message ? r.result.message : "";
        ok(r.result.kind == cases[i].kind && r.answered == cases[i].answered &&
               strcmp(message, cases[i].message ? cases[i].message : "") == 0 &&
               r.result.hold_ms == cases[i].hold_ms,
           "%s %d %s: kind %d, hold %lld", cases[i].map == &named ? "named" : "bare",
           cases[i].status, cases[i].body, (int)r.result.kind, (long long)r.result.hold_ms);
    }
    arena_fini(&arena);
    return 0;
}
