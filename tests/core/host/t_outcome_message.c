/* SPDX-License-Identifier: MIT
 * The message by which an outcome is given to another host: what is written is read, and what is no
 * such message is refused. */
#include "core/host/outcome_message.h"

#include <string.h>

#include "base/cleanup.h"
#include "tap/tap.h"

static int read_text(const char *text, struct arena *a, struct outcome_message *m)
{
    return outcome_message_read((struct str){text, strlen(text)}, a, m);
}

static void test_round(void)
{
    CLEANUP_BUF struct buf out = {0};
    struct arena arena = {0};
    struct outcome_message m;
    outcome_message_write(&out, &(struct outcome_message){.instance = "tg",
                                                          .turn = "t1",
                                                          .agent = "main",
                                                          .conversation = "tg:1",
                                                          .source = "tg",
                                                          .route = "{\"chat\":\"1\"}",
                                                          .line = "{\"type\":\"final\"}"});
    is_int(read_text(out.p, &arena, &m), 0, "the message is read");
    is_str(m.instance, "tg", "instance");
    is_str(m.turn, "t1", "turn");
    is_str(m.agent, "main", "agent");
    is_str(m.conversation, "tg:1", "conversation");
    is_str(m.source, "tg", "source");
    is_str(m.route, "{\"chat\":\"1\"}", "route");
    ok(!m.memory, "memory is missing");
    is_str(m.line, "{\"type\":\"final\"}", "outcome");
    arena_fini(&arena);
}

static void test_nonsense(void)
{
    static const char *const wrong[] = {
        "",
        "[]",
        "{}",
        "{\"instance\":\"tg\"}",
        "{\"instance\":1,\"turn\":\"t\",\"agent\":\"a\",\"conversation\":\"c\",\"source\":\"s\","
        "\"outcome\":\"{}\"}",
        "{\"instance\":\"tg\",\"turn\":\"t\",\"agent\":\"a\",\"conversation\":\"c\",\"source\":"
        "\"s\","
        "\"outcome\":\"{}\""};
    struct arena arena = {0};
    struct outcome_message m;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        is_int(read_text(wrong[i], &arena, &m), -1, "refused: %s", wrong[i]);
    is_int(read_text("{\"instance\":\"tg\",\"turn\":\"t\",\"agent\":\"a\",\"conversation\":\"c\","
                     "\"source\":\"s\",\"outcome\":\"{}\",\"later\":[1]}",
                     &arena, &m),
           0, "an unknown member is ignored");
    arena_fini(&arena);
}

int main(void)
{
    plan_lazy();
    test_round();
    test_nonsense();
    return 0;
}
