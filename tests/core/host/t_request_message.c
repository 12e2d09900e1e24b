/* SPDX-License-Identifier: MIT
 * The message by which an outbound request is given to another host: what is written is read, and
 * what is no such message is refused. */
#include "core/host/request_message.h"

#include <string.h>

#include "base/cleanup.h"
#include "tap/tap.h"

#define HEAD                                                                                       \
    "\"instance\":\"wh\",\"lane\":\"l\",\"turn\":\"t\",\"priority\":1,\"attempts\":2,"             \
    "\"crashes\":0,\"age_ms\":5,\"left_ms\":6"

static int read_bytes(struct str message, struct journal_moving *m, const char **id,
                      struct arena *a)
{
    return request_message_read(message, a, id, m);
}

static void test_round(void)
{
    CLEANUP_BUF struct buf out = {0};
    struct arena arena = {0};
    struct journal_moving m;
    const char *id;
    request_message_write(&out, "offer-1",
                          &(struct journal_moving){.conn = "wh",
                                                   .lane = "lane \"1\"",
                                                   .turn = "t1",
                                                   .priority = 2,
                                                   .attempts = 3,
                                                   .crashes = 1,
                                                   .in_doubt = true,
                                                   .age_ms = 4000,
                                                   .left_ms = INT64_MAX - 7,
                                                   .memory = "m",
                                                   .agent = "main",
                                                   .conversation = "tg:1",
                                                   .source = "tg",
                                                   .route = "{\"chat\":\"1\"}",
                                                   .body = {"{\"v\":1}\na\0b", 11}});
    is_int(read_bytes((struct str){out.p, out.len}, &m, &id, &arena), 0, "the message is read");
    is_str(id, "offer-1", "id");
    is_str(m.conn, "wh", "instance");
    is_str(m.lane, "lane \"1\"", "lane");
    is_str(m.turn, "t1", "turn");
    is_int(m.priority, 2, "priority");
    is_int(m.attempts, 3, "attempts");
    is_int(m.crashes, 1, "crashes");
    ok(m.in_doubt, "the request is in doubt");
    is_int(m.age_ms, 4000, "age");
    ok(m.left_ms == INT64_MAX - 7, "remaining time");
    is_str(m.memory, "m", "memory");
    is_str(m.agent, "main", "agent");
    is_str(m.conversation, "tg:1", "conversation");
    is_str(m.source, "tg", "source");
    is_str(m.route, "{\"chat\":\"1\"}", "route");
    ok(m.body.len == 11 && memcmp(m.body.p, "{\"v\":1}\na\0b", 11) == 0, "the body is any bytes");
    arena_fini(&arena);
}

static void test_without_record(void)
{
    struct arena arena = {0};
    struct journal_moving m;
    const char *id;
    is_int(read_bytes(STR("{\"id\":\"o\"," HEAD ",\"later\":[1]}\nx"), &m, &id, &arena), 0,
           "an unknown member is ignored");
    ok(!m.agent && !m.memory && !m.in_doubt, "optional members are missing");
    is_int(read_bytes(STR("{\"id\":\"o\"," HEAD ",\"left_ms\":-9}\nx"), &m, &id, &arena), 0,
           "a request may be about to expire");
    arena_fini(&arena);
}

static void test_nonsense(void)
{
    static const char *const wrong[] = {
        "",
        "\n",
        "[]\nx",
        "{}\nx",
        "{\"id\":\"o\"," HEAD "}",
        "{\"id\":\"o\"," HEAD "}\n",
        "{" HEAD "}\nx",
        "{\"id\":1," HEAD "}\nx",
        "{\"id\":\"o\"," HEAD ",\"attempts\":-1}\nx",
        "{\"id\":\"o\"," HEAD ",\"agent\":\"main\"}\nx",
        "{\"id\":\"o\"," HEAD "\nx",
        "{\"id\":\"o\",\"instance\":\"wh\"}\nx",
    };
    struct arena arena = {0};
    struct journal_moving m;
    const char *id;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        is_int(read_bytes((struct str){wrong[i], strlen(wrong[i])}, &m, &id, &arena), -1,
               "refused: %s", wrong[i]);
    arena_fini(&arena);
}

int main(void)
{
    plan_lazy();
    test_round();
    test_without_record();
    test_nonsense();
    return 0;
}
