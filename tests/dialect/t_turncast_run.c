/* SPDX-License-Identifier: MIT
 * What is decided for a turn that another host runs: written here, read there. */
#include "dialect/turncast/turncast_run.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- messages for the running turn ---- */

#define ONE "11111111-1111-4111-8111-111111111111"
#define TWO "22222222-2222-4222-8222-222222222222"

static void *new_dialog(void)
{
    return calloc(1, turncast_run_input.state_size);
}

static void hear(void *dialog, const char *type, const char *payload)
{
    CLEANUP_BUF struct buf out = {0}, line = {0};
    buf_printf(&line,
               "{\"type\":\"%s\",\"session_id\":\"\",\"correlation_id\":\"t\",\"ts\":1,\"seq\":1,"
               "\"src\":\"turncast\",\"payload\":%s}",
               type, payload);
    turncast_run_input.line(dialog, &out, line.p, line.len);
    ok(!out.len, "nothing is replied to an event");
}

static void hear_fate(void *dialog, const char *code, const char *id)
{
    CLEANUP_BUF struct buf payload = {0};
    buf_printf(&payload, "{\"level\":\"info\",\"code\":\"%s\",\"text\":\"%s\"}", code, id);
    hear(dialog, "notice", payload.p);
}

static enum dialect_steer steer(void *dialog, struct buf *line, const char *id, struct str text)
{
    buf_reset(line);
    return turncast_run_input.steer(dialog, line, id, text);
}

static void test_message(void)
{
    CLEANUP_BUF struct buf line = {0};
    CLEANUP_FREE void *dialog = new_dialog();
    struct arena arena = {0};
    struct turncast_run_message m;
    const struct str text = STR("do \"this\"\ninstead");
    hear(dialog, "notice", "{\"level\":\"info\",\"code\":\"bus_wait\",\"text\":\"waits\"}");
    is_int(steer(dialog, &line, ONE, text), DIALECT_REFUSED, "no agent takes a message");
    is_int((long)line.len, 0, "which is not written");
    hear(dialog, "start", "{}");
    is_int(steer(dialog, &line, ONE, text), DIALECT_WRITTEN, "an agent that works may");
    is_int(turncast_run_read_message((struct str){line.p, line.len - 1}, &arena, &m), 0,
           "it is read");
    is_str(m.id, ONE, "with its id");
    ok(m.len == text.len && memcmp(m.text, text.p, m.len) == 0, "and its text");
    buf_reset(&line);
    ok(turncast_run_input.withdraw(dialog, &line, ONE), "it is withdrawn");
    is_int(turncast_run_read_message((struct str){line.p, line.len - 1}, &arena, &m), 0, "read");
    ok(strcmp(m.id, ONE) == 0 && !m.text, "as that");
    buf_reset(&line);
    ok(!turncast_run_input.withdraw(dialog, &line, TWO) && !line.len, "no other message is");
    arena_fini(&arena);
}

static void test_fate(void)
{
    CLEANUP_BUF struct buf line = {0};
    CLEANUP_FREE void *dialog = new_dialog();
    char id[DIALECT_STEER_ID];
    hear(dialog, "start", "{}");
    is_int(steer(dialog, &line, ONE, STR("a")), DIALECT_WRITTEN, "a message");
    is_int(steer(dialog, &line, TWO, STR("b")), DIALECT_WRITTEN, "and another");
    is_int(turncast_run_input.settled(dialog, id), DIALECT_UNSETTLED, "whose fate is open");
    hear_fate(dialog, "steered", TWO);
    is_int(turncast_run_input.settled(dialog, id), DIALECT_UNSETTLED,
           "another notice tells nothing");
    hear_fate(dialog, TURNCAST_RUN_REFUSED, TWO);
    is_int(turncast_run_input.settled(dialog, id), DIALECT_NOT_TAKEN, "one is refused");
    is_str(id, TWO, "the other");
    hear_fate(dialog, TURNCAST_RUN_TAKEN, ONE);
    is_int(turncast_run_input.settled(dialog, id), DIALECT_TAKEN, "one is taken");
    is_str(id, ONE, "the first");
    ok(!turncast_run_input.withdraw(dialog, &line, ONE), "which cannot be withdrawn");
    hear_fate(dialog, TURNCAST_RUN_TAKEN, "an id that is too long to be the id of any message");
    is_int(turncast_run_input.settled(dialog, id), DIALECT_UNSETTLED, "no id is no message");
}

static void test_restarted(void)
{
    CLEANUP_FREE void *dialog = new_dialog();
    char id[DIALECT_STEER_ID];
    hear_fate(dialog, TURNCAST_RUN_TAKEN, ONE);
    is_int(turncast_run_input.settled(dialog, id), DIALECT_TAKEN,
           "one of an earlier life is taken");
    is_str(id, ONE, "which the host knows");
}

static void test_limit(void)
{
    CLEANUP_BUF struct buf line = {0}, text = {0};
    CLEANUP_FREE void *dialog = new_dialog();
    hear(dialog, "start", "{}");
    while (text.len < (size_t)800 << 10)
        buf_add_str(&text, "0123456789");
    is_int(steer(dialog, &line, ONE, (struct str){text.p, text.len}), DIALECT_REFUSED,
           "a message that is too long for the servers waits");
    is_int((long)line.len, 0, "and is not written");
}

static void test_no_message(void)
{
    static const char *const lines[] = {
        "nothing",
        "{\"do\":\"cancel\"}",
        "{\"do\":\"message\",\"id\":\"1\"}",
        "{\"do\":\"message\",\"text\":\"a\"}",
        "{\"do\":\"withdraw\"}",
        "{\"do\":\"withdraw\",\"id\":\"1234567890123456789012345678901234567890\"}"};
    struct arena arena = {0};
    struct turncast_run_message m;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        is_int(turncast_run_read_message((struct str){lines[i], strlen(lines[i])}, &arena, &m), -1,
               "no message: %s", lines[i]);
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
    test_message();
    test_fate();
    test_restarted();
    test_limit();
    test_no_message();
    return 0;
}
