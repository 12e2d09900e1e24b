/* SPDX-License-Identifier: MIT
 * Messages about turns that another host runs: each is read as it was written, and what is none is
 * refused. */
#include "core/work/work_message.h"

#include <string.h>

#include "base/cleanup.h"
#include "tap/tap.h"

static const struct bus_origin from = {"h1", "b1", 7};

static struct str all(const struct buf *b)
{
    return (struct str){b->p, b->len};
}

static void test_order(void)
{
    CLEANUP_BUF struct buf b = {0};
    struct arena arena = {0};
    struct work_order o;
    const char prompt[] = "a \"b\"\nc";
    work_order_write(&b, &from,
                     &(struct work_order){.turn = "t1",
                                          .agent = "main",
                                          .conversation = "telegram:1/2",
                                          .source = "telegram",
                                          .gateway = "h1",
                                          .route = "{\"chat\":1}",
                                          .user = "42",
                                          .seen = "log\ntelegram",
                                          .session = "s-1",
                                          .message = "m-1",
                                          .follows = "yes",
                                          .prompt = {prompt, strlen(prompt)},
                                          .admitted_ms = 1700000000123});
    is_int(work_order_read(all(&b), &arena, &o), 0, "an order is read");
    is_str(o.turn, "t1", "the turn of the order");
    is_str(o.conversation, "telegram:1/2", "the conversation of the order");
    is_str(o.route, "{\"chat\":1}", "the route of the order");
    is_str(o.seen, "log\ntelegram", "the instances that saw the turn");
    is_str(o.session, "s-1", "the session of the order");
    is_str(o.prompt.p, prompt, "the prompt of the order");
    is_int((long)o.prompt.len, (long)strlen(prompt), "the length of the prompt");
    ok(o.admitted_ms == 1700000000123, "the time at which the turn was admitted");
    is_str(o.message, "m-1", "the message id of the order");
    is_str(o.follows, "yes", "the mark that turns of the agent may follow");
    ok(!o.owner && !o.instances && !o.also && !o.shared, "missing members are NULL");
    is_int(work_order_read(STR("{\"v\":1,\"from\":{\"host\":\"h1\",\"boot\":\"b\",\"n\":1}}"),
                           &arena, &o),
           -1, "an order without a turn is refused");
    is_int(work_order_read(STR("nothing"), &arena, &o), -1, "an order that is not JSON is refused");
    arena_fini(&arena);
}

static void test_turn_id(void)
{
    char one[WORK_ID], same[WORK_ID], other[WORK_ID], run[WORK_ID];
    work_turn_id("tg", "12", one);
    work_turn_id("tg", "12", same);
    is_str(one, same, "the same message has the same turn id");
    work_turn_id("tg1", "2", other);
    ok(strcmp(one, other) != 0, "another message has another turn id");
    ok(strlen(one) == 36 && one[14] == '8' && one[8] == '-' && one[23] == '-',
       "the turn id is a UUID");
    ok(work_run_id(one, run), "the turn id has a run id");
}

static void test_signal(void)
{
    CLEANUP_BUF struct buf b = {0};
    struct arena arena = {0};
    struct work_signal s;
    work_signal_write(&b, &from, &(struct work_signal){"t1", "main", "http", "h1", "yes"});
    is_int(work_signal_read(all(&b), &arena, &s), 0, "a signal is read");
    is_str(s.turn, "t1", "the turn of the signal");
    is_str(s.source, "http", "the source of the signal");
    is_str(s.fresh, "yes", "the mark that the session is not resumed");
    const char later[] =
        "{\"v\":2,\"from\":{\"host\":\"h1\",\"boot\":\"b\",\"n\":1},\"turn\":\"t\","
        "\"agent\":\"a\",\"source\":\"s\",\"gateway\":\"g\"}";
    is_int(work_signal_read((struct str){later, strlen(later)}, &arena, &s), -1,
           "a signal of a later version is refused");
    arena_fini(&arena);
}

static void test_outcome(void)
{
    CLEANUP_BUF struct buf b = {0};
    struct bus_origin read;
    work_outcome_write_error(&b, &from, "t1", 1.5, "host_lost", "It is \"gone\".");
    ok(bus_origin_read(all(&b), &read) == 0 && bus_origin_equal(&read, &from),
       "the sender of the outcome is read");
    struct str lines = work_outcome_lines(all(&b)), line;
    ok(bus_batch_next_line(&lines, &line) && memmem(line.p, line.len, "host_lost", 9),
       "the first line is the error");
    ok(bus_batch_next_line(&lines, &line) && memmem(line.p, line.len, "\"done\"", 6),
       "the second line is done");
    ok(!bus_batch_next_line(&lines, &line), "there is no third line");
    is_int((long)work_outcome_lines(STR("{}")).len, 0,
           "an outcome with only a first line has no events");
    ok(work_outcome_is_lost(all(&b)), "the outcome says that its host is lost");
    buf_reset(&b);
    work_outcome_write_error(&b, &from, "t1", 1.5, "cancelled", "host_lost");
    ok(!work_outcome_is_lost(all(&b)), "another outcome does not say that its host is lost");
}

static void test_names(void)
{
    char run[WORK_ID];
    CLEANUP_BUF struct buf a = {0}, b = {0};
    ok(work_run_id("0f8fad5b-d9cb-469f-a165-70867728950e", run), "the id of a turn has a run id");
    is_str(run, "0f8fad5b-d9cb-r69f-a165-70867728950e", "the run id differs in one character");
    ok(!work_run_id("short", run), "an id that is not a UUID has no run id");
    work_home_key(&a, "main", "tg:1/2_3");
    is_str(a.p, "kmain.ktg_3a1_2f2_5f3", "the key of a conversation consists of tokens");
    work_home_key(&b, "main", "tg:1/2 3");
    ok(strcmp(a.p, b.p) != 0, "another conversation has another key");
}

int main(void)
{
    plan_lazy();
    test_order();
    test_turn_id();
    test_signal();
    test_outcome();
    test_names();
    return 0;
}
