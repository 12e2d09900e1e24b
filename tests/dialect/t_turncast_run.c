/* SPDX-License-Identifier: MIT
 * What is decided for a turn that another host runs: written here, read there. */
#include "dialect/turncast/turncast_run.h"

#include "base/cleanup.h"
#include "tap/tap.h"

static void test_answer(const struct dialect_answer *a)
{
    CLEANUP_BUF struct buf line = {0};
    struct arena arena = {0};
    struct dialect_answer read;
    is_int(turncast_run_input.answer(NULL, &line, a), 0, "an answer is written: %s", a->request_id);
    is_int(turncast_run_read_answer((struct str){line.p, line.len - 1}, &arena, &read), 0, "read");
    is_str(read.request_id, a->request_id, "with its request");
    is_int(read.decision, a->decision, "its decision");
    is_str(read.reason, a->reason, "its reason");
    is_str(read.args, a->args, "its arguments");
    is_str(read.answers, a->answers, "its answers");
    ok(read.remember == a->remember && read.interrupt == a->interrupt, "and its scope");
    ok(!turncast_run_is_cancel((struct str){line.p, line.len - 1}), "it does not cancel");
    arena_fini(&arena);
}

int main(void)
{
    CLEANUP_BUF struct buf line = {0};
    struct arena arena = {0};
    struct dialect_answer read;
    plan_lazy();
    test_answer(&(struct dialect_answer){
        .request_id = "r\"1", .decision = DIALECT_ALLOW, .args = "{\"a\":1}", .remember = true});
    test_answer(&(struct dialect_answer){
        .request_id = "r2", .decision = DIALECT_DENY, .reason = "no\nway", .interrupt = true});
    test_answer(&(struct dialect_answer){
        .request_id = "r3", .decision = DIALECT_ANSWERED, .answers = "{\"q\":\"x\"}"});
    turncast_run_input.interrupt(NULL, &line);
    ok(turncast_run_is_cancel((struct str){line.p, line.len - 1}), "an interrupt cancels");
    is_int(turncast_run_read_answer((struct str){line.p, line.len - 1}, &arena, &read), -1,
           "and is no answer");
    is_int(
        turncast_run_read_answer(STR("{\"do\":\"answer\",\"decision\":\"allow\"}"), &arena, &read),
        -1, "nor is what names no request");
    is_int(turncast_run_read_answer(
               STR("{\"do\":\"answer\",\"request_id\":\"r\",\"decision\":\"x\"}"), &arena, &read),
           -1, "or no decision");
    arena_fini(&arena);
    return 0;
}
