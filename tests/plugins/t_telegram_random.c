/* SPDX-License-Identifier: MIT
 * R22: random responses of the service in random order: broken updates, broken responses, and each
 * outcome of each request, while turns are running. The connector neither crashes nor violates the
 * protocol. */
#include "plugins/fake_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "tap/tap.h"

#define ROUNDS 12000u

static uint64_t seed = 20261121;

static unsigned any(unsigned n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % n;
}

static const char *const updates[] = {
    "{\"update_id\":7,\"message\":{\"message_id\":11,\"from\":{\"id\":5,\"first_name\":\"A\"},"
    "\"chat\":"
    "{\"id\":-100,\"type\":\"supergroup\"},\"text\":\"@TestBot "
    "h\u00e4llo\",\"entities\":[{\"type\":"
    "\"mention\",\"offset\":0,\"length\":8}],\"reply_to_message\":{\"message_id\":3,\"text\":\"x\","
    "\"from\":{\"id\":99}},\"is_topic_message\":true,\"message_thread_id\":4}}",
    "{\"update_id\":8,\"message\":{\"message_id\":12,\"from\":{\"id\":5},\"chat\":{\"id\":5,"
    "\"type\":"
    "\"private\"},\"caption\":\"c\",\"media_group_id\":\"g\",\"photo\":[{\"file_id\":\"a\","
    "\"width\":9,"
    "\"file_size\":3},{\"file_id\":\"b\",\"width\":90}]}}",
    "{\"update_id\":9,\"message\":{\"message_id\":13,\"from\":{\"id\":5},\"chat\":{\"id\":5,"
    "\"type\":"
    "\"private\"},\"document\":{\"file_id\":\"d\",\"file_name\":\"../x.txt\",\"file_size\":3}}}",
    "{\"update_id\":10,\"callback_query\":{\"id\":\"q\",\"from\":{\"id\":5},\"data\":\"s:00\"}}",
    "{\"update_id\":12,\"callback_query\":{\"id\":\"q\",\"from\":{\"id\":5,\"first_name\":\"A\"},"
    "\"message\":{\"message_id\":20,\"chat\":{\"id\":5}},\"data\":\"a:ticket-r:o0.1\"}}",
    "{\"update_id\":13,\"callback_query\":{\"id\":\"q\",\"from\":{\"id\":6},\"message\":{\"message_"
    "id\":"
    "20,\"chat\":{\"id\":5}},\"data\":\"a:ticket-r:o1.0\"}}",
    "{\"update_id\":14,\"callback_query\":{\"id\":\"q\",\"from\":{\"id\":5},\"message\":{\"message_"
    "id\":"
    "20,\"chat\":{\"id\":-100}},\"data\":\"a:ticket-r:done\"}}",
    "{\"update_id\":15,\"message\":{\"message_id\":15,\"from\":{\"id\":5},\"chat\":{\"id\":5,"
    "\"type\":"
    "\"private\"},\"text\":\"mine\",\"reply_to_message\":{\"message_id\":20,\"from\":{\"id\":99},"
    "\"text\":\"\u270b Question\\nx\",\"reply_markup\":{\"inline_keyboard\":[[{\"text\":\"x\","
    "\"callback_data\":\"a:ticket-r:deny\"}]]}}}}",
    "{\"update_id\":11,\"message\":{\"message_id\":14,\"from\":{\"id\":5},\"chat\":{\"id\":-5,"
    "\"type\":"
    "\"group\"},\"migrate_to_chat_id\":-1005}}",
};

static const char *const answers[] = {
    "{\"ok\":true,\"result\":{\"message_id\":20,\"file_path\":\"d/"
    "x\",\"username\":\"TestBot\",\"id\":99}}",
    "{\"ok\":false,\"error_code\":400,\"description\":\"Bad Request: can't parse entities\"}",
    "{\"ok\":false,\"error_code\":400,\"description\":\"Bad Request: message is too long\"}",
    "{\"ok\":false,\"error_code\":400,\"description\":\"Bad Request: message to edit not found\"}",
    "{\"ok\":false,\"error_code\":400,\"description\":\"group chat was upgraded to a supergroup "
    "chat\","
    "\"parameters\":{\"migrate_to_chat_id\":-1005}}",
    "{\"ok\":false,\"error_code\":429,\"description\":\"Too Many Requests\",\"parameters\":{"
    "\"retry_after\":3}}",
    "{\"ok\":true,\"result\":[]}",
    "<html>Bad Gateway</html>",
};

static const char *const values[] = {"null",        "-1",        "1e308", "\"\"",
                                     "[]",          "{}",        "true",  "99999999999999999999",
                                     "\"\\ud800\"", "[[[[{}]]]]"};

#define PICK(list) (list)[any(sizeof(list) / sizeof *(list))]

/* Returns the text with bytes changed, removed or doubled, or with one value replaced by another
 * kind of value. */
static char *garble(const char *text)
{
    CLEANUP_BUF struct buf out = {0};
    const size_t n = strlen(text), at = any((unsigned)n), len = any(12);
    const char *const colon = strchr(text + at, ':');
    switch (any(4)) {
    case 0:
        return xstrdup(text);
    case 1: /* mostly still valid */
        if (!colon)
            return xstrdup(text);
        buf_add(&out, text, (size_t)(colon - text) + 1);
        buf_add_str(&out, PICK(values));
        buf_add_str(&out, colon + 1 + strcspn(colon + 1, ",}]"));
        break;
    case 2:
        buf_add(&out, text, at);
        buf_add_str(&out, text + (at + len < n ? at + len : n));
        break;
    default:
        buf_add(&out, text, at);
        buf_add_char(&out, (char)(' ' + any(90)));
        buf_add_str(&out, text + at);
    }
    return buf_steal(&out);
}

static void answer_one(struct fake_host *s)
{
    static const int statuses[] = {200, 200, 200, 400, 400, 403, 409, 413, 429, 500, 502, 0, 302};
    struct fake_request *const r = fake_host_find_unnamed(s, NULL);
    if (!r)
        return;
    const int status = PICK(statuses);
    char *const body = garble(PICK(answers));
    const enum tc_outcome outcome = status == 0    ? (any(2) ? TC_NOT_SENT : TC_AMBIGUOUS)
                                    : status < 300 ? TC_OK
                                    : status < 500 ? TC_REJECTED
                                                   : TC_AMBIGUOUS;
    r->state = FAKE_NAMED;
    fake_host_reply(s, r, outcome, status, status ? body : "", 0);
    fake_host_advance(s, 0);
    free(body);
}

static void send_one_webhook(struct fake_host *s)
{
    json_t *const headers =
        json_pack("{s:s}", "X-Telegram-Bot-Api-Secret-Token", "canary-secret-BB");
    char *const body = garble(PICK(updates));
    fake_host_hit(s, "POST", "/update", headers, body);
    free(body);
    json_decref(headers);
}

static void send_one_event(struct fake_host *s, unsigned number)
{
    static const char *const events[][2] = {
        {"narration", "{\"text\":\"**one**\\ntwo\"}"},
        {"thinking", "{\"text\":\"so\"}"},
        {"tool_call", "{\"name\":\"bash\",\"args\":{\"command\":\"ls\"},\"tool_use_id\":\"u\"}"},
        {"tool_result", "{\"tool_use_id\":\"u\",\"content\":\"\",\"is_error\":false}"},
        {"notice", "{\"level\":\"warn\",\"text\":\"w\"}"},
        {"request", "{\"request_id\":\"r\",\"kind\":\"ask\",\"state\":\"open\",\"blocking\":true}"},
        {"request", "{\"request_id\":\"r\",\"kind\":\"ask\",\"state\":\"open\",\"blocking\":true,"
                    "\"questions\":[{\"id\":\"a\",\"prompt\":\"p\",\"options\":[\"x\",{\"label\":"
                    "\"y\"}],\"multi\":true},{\"id\":\"b\",\"prompt\":\"p\",\"options\":[\"x\"]}],"
                    "\"choices\":[{\"id\":\"answer\"},{\"id\":\"deny\"}],\"to\":[\"test\","
                    "\"test:-100:4\",\"x\",7]}"},
        {"request",
         "{\"request_id\":\"r\",\"kind\":\"approval\",\"state\":\"open\",\"blocking\":true,"
         "\"subject\":\"\\u202els\",\"args\":{\"a\":[1]},\"expires_ms\":1890001000000,"
         "\"choices\":[{\"id\":\"allow\",\"label\":\"Allow\"},7,{}]}"},
        {"request", "{\"request_id\":\"r\",\"kind\":\"ask\",\"state\":\"resolved\",\"answers\":{"
                    "\"a\":[7,\"x\"]},\"decision\":\"answered\",\"blocking\":true}"},
    };
    char id[16];
    snprintf(id, sizeof id, "t%u", number / 40);
    struct fake_turn *t = fake_host_find(s, id);
    if (!t) {
        t = fake_host_open(s, id, NULL, any(2) ? "{\"chat\":5,\"message\":11}" : "{\"chat\":\"x\"",
                           NULL);
        fake_host_event(s, t, "start", "{}");
    } else if (number % 40 == 39 && !t->done) {
        fake_host_event(s, t, "final", "{\"text\":\"**Done** and over.\"}");
        fake_host_event(s, t, "done", "{\"reason\":\"completed\"}");
    } else if (!t->done) {
        const unsigned e = any(sizeof events / sizeof *events);
        fake_host_event(s, t, events[e][0], events[e][1]);
    }
}

/* Log messages and dead letters are permitted. */
static void forget_acts(struct fake_host *s)
{
    while (s->acts)
        fake_host_drop_act(&s->acts);
}

int main(void)
{
    static const char *const options[] = {"token",
                                          "123:canary-token-AA",
                                          "webhook",
                                          "https://example.org/x",
                                          "webhook_secret",
                                          "canary-secret-BB",
                                          "thinking",
                                          "true",
                                          "finalize",
                                          "edit",
                                          NULL};
    plan(2);
    struct fake_host *const s = fake_plugin_new("telegram", options);
    s->lenient = true;
    ok(fake_host_init(s) == 0, "the connector starts");
    struct fake_request *const me = fake_host_find_unnamed(s, "getMe");
    me->state = FAKE_NAMED;
    fake_host_reply(s, me, TC_OK, 200, answers[0], 0);
    fake_host_advance(s, 0);
    unsigned round = 0;
    for (; round < ROUNDS && !s->faults.len; round++) {
        if (any(3))
            send_one_event(s, round);
        if (any(2))
            send_one_webhook(s);
        for (unsigned i = any(4); i > 0; i--)
            answer_one(s);
        fake_host_advance(s, any(3000));
        forget_acts(s);
    }
    diag("%llu requests were sent", (unsigned long long)s->next_sent);
    if (!ok(!s->faults.len, "R22: %u rounds of random input", ROUNDS))
        diag("round %u: %s", round, s->faults.p);
    fake_host_free(s);
    return 0;
}
