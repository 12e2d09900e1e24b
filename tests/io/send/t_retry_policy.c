/* SPDX-License-Identifier: MIT
 * What goes again, for how long it waits, and the shape of the back-off. */
#include "io/send/retry_policy.h"

#include <stdlib.h>

#include "io/http/client/httpc.h"
#include "tap/tap.h"

static const struct {
    const char *name;
    enum httpc_outcome outcome;
    int status;
    int64_t retry_after_ms;
    bool again, again_idempotent;
    int64_t hold_ms;
} rows[] = {
    {"ok", HTTPC_OK, 200, -1, false, false, 0},
    {"429 with a header", HTTPC_REJECTED, 429, 2500, true, true, 2500},
    {"429 without one", HTTPC_REJECTED, 429, -1, true, true, 0},
    {"408", HTTPC_REJECTED, 408, -1, true, true, 0},
    {"400", HTTPC_REJECTED, 400, -1, false, false, 0},
    {"401 with a header", HTTPC_REJECTED, 401, 9000, false, false, 0},
    {"302", HTTPC_REJECTED, 302, -1, false, false, 0},
    {"refused by the host", HTTPC_REJECTED, 0, -1, false, false, 0},
    {"not sent", HTTPC_NOT_SENT, 0, -1, true, true, 0},
    {"502", HTTPC_AMBIGUOUS, 502, -1, false, true, 0},
    {"503 with a header", HTTPC_AMBIGUOUS, 503, 7000, false, true, 7000},
    {"lost answer", HTTPC_AMBIGUOUS, 0, -1, false, true, 0},
};

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct httpc_reply reply = {.outcome = rows[i].outcome,
                                          .status = rows[i].status,
                                          .retry_after_ms = rows[i].retry_after_ms};
        const struct retry_decision once = retry_policy_decide(&reply, false),
                                    safe = retry_policy_decide(&reply, true);
        ok(once.again == rows[i].again, "%s: again", rows[i].name);
        ok(safe.again == rows[i].again_idempotent, "%s: again when idempotent", rows[i].name);
        is_int(safe.hold_ms, rows[i].hold_ms, "%s: hold", rows[i].name);
        ok(safe.scope == RETRY_CONVERSATION, "%s: the scope is the conversation", rows[i].name);
    }
}

static void test_mail(void)
{
    struct httpc_reply reply = {
        .outcome = HTTPC_REJECTED, .status = 451, .is_passing = true, .retry_after_ms = -1};
    ok(retry_policy_decide(&reply, false).again,
       "a temporary refusal of a mail server is repeated");
    reply.is_passing = false;
    ok(!retry_policy_decide(&reply, true).again,
       "a permanent refusal of a mail server is not repeated");
}

static void test_backoff(void)
{
    static const int64_t ceilings[] = {1000,  2000,   4000,   8000,   16000, 32000,
                                       64000, 128000, 256000, 300000, 300000};
    bool in_range = true, reaches = true;
    uint64_t random = 1;
    for (unsigned n = 1; n <= sizeof ceilings / sizeof *ceilings; n++) {
        int64_t most = 0;
        for (int i = 0; i < 2000; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const int64_t ms = retry_policy_backoff_ms(n, random >> 16);
            in_range = in_range && ms >= 1 && ms <= ceilings[n - 1];
            most = ms > most ? ms : most;
        }
        reaches = reaches && most > ceilings[n - 1] * 9 / 10;
    }
    ok(in_range, "the back-off is never longer than 1 s, 2 s, 4 s… 5 min");
    ok(reaches, "the back-off reaches its maximum");
    ok(retry_policy_backoff_ms(4000000000u, UINT64_MAX) <= 300000,
       "the back-off of attempt four thousand million is bounded");
}

int main(void)
{
    plan_lazy();
    test_rows();
    test_mail();
    test_backoff();
    return 0;
}
