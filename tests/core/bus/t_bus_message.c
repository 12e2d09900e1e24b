/* SPDX-License-Identifier: MIT
 * Messages between hosts: there and back, members that are not known, and what is no message. */
#include "core/bus/bus_message.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "tap/tap.h"

static struct str str_of(const char *text)
{
    return (struct str){text, strlen(text)};
}

static void test_batch(void)
{
    CLEANUP_BUF struct buf out = {0};
    struct bus_batch b = {.from = {"h1", "b1", 3}, .after = 4, .last = 6, .at_us = 9, .more = true},
                     read;
    struct str lines, line;
    b.then_us = STR("[50]");
    bus_batch_write(&out, &b, STR("{\"a\":1}\n{\"b\":2}\n"));
    is_str(out.p,
           "{\"v\":1,\"from\":{\"host\":\"h1\",\"boot\":\"b1\",\"n\":3},\"after\":4,\"last\":6,"
           "\"at_us\":9,\"then_us\":[50],\"more\":true}\n{\"a\":1}\n{\"b\":2}\n",
           "a batch is a header line followed by the lines of its events");
    ok(bus_batch_read((struct str){out.p, out.len}, &read, &lines) == 0, "the batch is read");
    ok(bus_origin_equal(&read.from, &b.from) && read.after == 4 && read.last == 6 &&
           read.at_us == 9 && str_is(read.then_us, "[50]") && read.more,
       "the batch has all members");
    ok(bus_batch_next_line(&lines, &line) && str_is(line, "{\"a\":1}"),
       "the first line of the batch is read");
    ok(bus_batch_next_line(&lines, &line) && str_is(line, "{\"b\":2}"),
       "the last line of the batch is read");
    ok(!bus_batch_next_line(&lines, &line), "there is no line after the last");
    lines = STR("x");
    ok(bus_batch_next_line(&lines, &line) && str_is(line, "x") && !lines.len,
       "a last line without newline is read");
}

static void test_no_batch(void)
{
    static const char *const texts[] = {
        "",
        "\n",
        "{",
        "[]",
        "{}",
        "{\"v\":2,\"from\":{\"host\":\"h\"},\"after\":0,\"last\":1}",
        "{\"v\":1,\"after\":0,\"last\":1}",
        "{\"v\":1,\"from\":{\"host\":\"\"},\"last\":1}",
        "{\"v\":1,\"from\":{\"host\":\"a b\"},\"last\":1}",
        "{\"v\":1,\"from\":{\"host\":\"a.>\"},\"last\":1}",
        "{\"v\":1,\"from\":{\"host\":\"h\"},\"after\":2,\"last\":1}",
        "{\"v\":1,\"from\":\"h\",\"after\":0,\"last\":1}",
    };
    struct bus_batch b;
    struct bus_origin from;
    struct str lines;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ok(bus_batch_read(str_of(texts[i]), &b, &lines) < 0, "an invalid batch is refused: %s",
           texts[i]);
    ok(bus_batch_read(STR("{\"v\":1,\"from\":{\"host\":\"h\",\"new\":[1]},\"new\":{},\"last\":1}"),
                      &b, &lines) == 0,
       "unknown members are ignored");
    ok(bus_batch_read(STR("{\"v\":1,\"from\":{\"host\":\"h\"},\"after\":-5,\"last\":1}"), &b,
                      &lines) == 0 &&
           b.after == 0,
       "a negative number is read as 0");
    ok(bus_origin_read(STR("{\"v\":1,\"from\":{\"host\":\"h\",\"boot\":\"b\",\"n\":2}}\nnonsense"),
                       &from) == 0 &&
           from.n == 2,
       "the origin is read from the first line of any message");
    char longer[200];
    snprintf(longer, sizeof longer, "{\"v\":1,\"from\":{\"host\":\"%.80s\"}}",
             "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    ok(bus_origin_read(str_of(longer), &from) == 0 && strlen(from.host) == BUS_HOST_MAX,
       "a long host name is cut");
}

static struct turnlog_turn sample(void)
{
    return (struct turnlog_turn){
        .spec = {.id = "t1",
                 .agent = "main",
                 .conversation = "c\"1",
                 .source = "http",
                 .owner = "ann",
                 .task = "say \xc3\xa4",
                 .instances = "x",
                 .led = "tg\nsl",
                 .retry = "ab12"},
        .state = TURNLOG_FINAL,
        .code = "none",
        .into = "t2",
        .late_result = "Done \"at last\".",
        .created_ms = 1,
        .started_ms = 2,
        .ended_ms = 3,
        .first_ms = 4,
        .last_seq = 9,
        .tools = 5,
        .cost_usd = 0.5,
        .tokens = {10, 20, 30, 40, 50},
        .works = true,
        .visible = {SHOW_OFF, SHOW_ON, SHOW_ON, SHOW_OFF, SHOW_ON},
    };
}

static void test_state(void)
{
    CLEANUP_BUF struct buf out = {0};
    struct arena a = {0};
    const struct turnlog_turn t = sample();
    struct turnlog_turn r;
    const struct bus_origin from = {"h1", "b1", 1};
    bus_state_write(&out, &from, &t, "[{\"id\":\"r\"}]");
    ok(bus_state_read((struct str){out.p, out.len}, &a, &r) == 0, "the state of a turn is read");
    is_str(r.spec.host, "h1", "the host of the turn is the sender");
    is_str(r.spec.id, "t1", "turn id");
    is_str(r.spec.conversation, "c\"1", "conversation");
    is_str(r.spec.task, "say \xc3\xa4", "task");
    is_str(r.spec.owner, "ann", "owner");
    is_str(r.spec.led, "tg\nsl", "the led instances that receive the turn");
    is_str(r.spec.retry, "ab12", "retry");
    is_str(r.code, "none", "code");
    is_str(r.into, "t2", "turn into which it was merged");
    is_str(r.late_result, "Done \"at last\".", "late_result");
    is_str(r.requests, "[{\"id\":\"r\"}]", "requests");
    ok(r.state == TURNLOG_FINAL && r.last_seq == 9 && r.tools == 5 && r.works, "state and counts");
    ok(r.created_ms == 1 && r.started_ms == 2 && r.ended_ms == 3 && r.first_ms == 4, "times");
    is_real(r.cost_usd, 0.5, "cost");
    ok(memcmp(r.tokens, t.tokens, sizeof t.tokens) == 0, "tokens");
    ok(visibility_equal(&r.visible, &t.visible), "visibility");
    arena_fini(&a);
}

static void test_small_state(void)
{
    struct arena a = {0};
    struct turnlog_turn r;
    ok(bus_state_read(STR("{\"v\":1,\"from\":{\"host\":\"h\"},\"turn\":{\"id\":\"t\",\"state\":"
                          "\"waiting\",\"new\":1,\"requests\":3,\"tools\":-1}}"),
                      &a, &r) == 0,
       "a state with only an id and a state is read");
    ok(r.cost_usd < 0 && r.visible.final == SHOW_UNSET && !r.requests && r.tools == 0,
       "missing members are unknown");
    ok(bus_state_read(STR("{\"v\":1,\"from\":{\"host\":\"h\"},\"turn\":{\"id\":\"t\"}}"), &a, &r) <
           0,
       "a state without a state name is refused");
    ok(bus_state_read(STR("{\"v\":1,\"from\":{\"host\":\"h\"},\"turn\":{\"id\":\"t\",\"state\":"
                          "\"odd\"}}"),
                      &a, &r) < 0,
       "an unknown state name is refused");
    ok(bus_state_read(STR("{\"v\":1,\"from\":{\"host\":\"h\"},\"turn\":{\"state\":\"final\"}}"), &a,
                      &r) < 0,
       "a state without an id is refused");
    ok(bus_state_read(STR("{\"v\":1,\"turn\":{\"id\":\"t\",\"state\":\"final\"}}"), &a, &r) < 0,
       "a state without a host is refused");
    arena_fini(&a);
}

static void test_ack(void)
{
    struct bus_ack ack;
    bus_ack_read(STR("{\"stream\":\"TC_EV\", \"seq\":12}"), &ack);
    ok(ack.sequence == 12 && !ack.error, "the sequence of a stored message is read");
    bus_ack_read(STR("{\"error\":{\"code\":400,\"err_code\":10071,\"description\":\"wrong last "
                     "sequence: 2\"},\"stream\":\"TC_EV\",\"seq\":0}"),
                 &ack);
    ok(!ack.sequence && ack.error == BUS_WRONG_SEQUENCE, "the error of a refused message is read");
    is_str(ack.text, "wrong last sequence: 2", "the reason of a refused message is read");
    bus_ack_read(STR("{\"error\":{}}"), &ack);
    ok(ack.error != 0, "an error without a number is an error");
    bus_ack_read(STR("{\"seq\":"), &ack);
    ok(ack.error != 0 && !ack.sequence, "an answer that is not JSON is an error");
    bus_ack_read(STR(""), &ack);
    ok(ack.error != 0, "an empty answer is an error");
}

int main(void)
{
    plan_lazy();
    test_batch();
    test_no_batch();
    test_state();
    test_small_state();
    test_ack();
    return 0;
}
