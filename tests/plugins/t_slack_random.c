/* SPDX-License-Identifier: MIT
 * R2, R8, R22: random responses and events of Slack in random order. The connector does not crash,
 * shows nothing live after an outcome, and every outcome is delivered or a dead letter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "plugins/fake_plugin.h"
#include "tap/tap.h"

#define ROUNDS 300
#define STEPS 120

static uint64_t seed;

static unsigned pick(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % n;
}

#define PICK(list) list[pick(sizeof list / sizeof *list)]

static const char *const bodies[] = {
    "{\"ok\":true,\"ts\":\"2.1\",\"user_id\":\"UBOT\",\"url\":\"wss://s.test/1\"}",
    "{\"ok\":true,\"ts\":\"2.1\",\"user_id\":\"UBOT\",\"url\":\"wss://s.test/1\"}",
    "{\"ok\":true,\"upload_url\":\"https://f.test/up\",\"file_id\":\"F1\"}",
    "{\"ok\":true,\"messages\":[],\"response_metadata\":{\"next_cursor\":\"x\"}}",
    ("{\"ok\":true,\"messages\":[{\"metadata\":{\"event_type\":\"turncast_answer\",\"event_"
     "payload\":"
     "{\"key\":\"a\"}}}, 7, {\"files\":[{\"id\":\"F1\"},null]}]}"),
    "{\"ok\":true,\"ts\":7,\"messages\":7,\"url\":[],\"user_id\":{},\"upload_url\":1}",
    "{\"ok\":1}",
    "{}",
    "[]",
    "",
    "<!DOCTYPE html>",
    "{\"ok\":false}",
    "{\"ok\":false,\"error\":7}",
    "{\"ok\":false,\"error\":\"ratelimited\"}",
    "{\"ok\":false,\"error\":\"internal_error\"}",
    "{\"ok\":false,\"error\":\"invalid_blocks\"}",
    "{\"ok\":false,\"error\":\"invalid_chunks\"}",
    "{\"ok\":false,\"error\":\"msg_too_long\"}",
    "{\"ok\":false,\"error\":\"message_not_found\"}",
    "{\"ok\":false,\"error\":\"message_not_in_streaming_state\"}",
    "{\"ok\":false,\"error\":\"channel_type_not_supported\"}",
    "{\"ok\":false,\"error\":\"channel_not_found\"}",
    "{\"ok\":false,\"error\":\"missing_scope\",\"needed\":[]}",
    "{\"ok\":false,\"error\":\"token_revoked\"}",
};

static const char *const frames[] = {
    "{\"type\":\"hello\"}",
    "{\"type\":\"disconnect\",\"reason\":\"warning\"}",
    "{\"type\":\"disconnect\"}",
    "{\"type\":\"disconnect\",\"reason\":\"too_many_websockets\"}",
    "{\"envelope_id\":\"e\",\"type\":\"events_api\",\"payload\":{\"event_id\":\"E1\",\"event\":{"
    "\"type\":\"message\",\"channel\":\"D1\",\"user\":\"U1\",\"ts\":\"1.5\",\"text\":\"<@U2 <a|> "
    "&amp <http://x|<>\"}}}",
    "{\"envelope_id\":\"e\",\"type\":\"events_api\",\"payload\":{\"event_id\":\"E2\",\"event\":{"
    "\"type\":\"app_mention\",\"channel\":\"C1\",\"user\":\"U1\",\"ts\":\"1.6\",\"thread_ts\":"
    "\"1.1\",\"text\":\"\",\"files\":[{\"name\":\"a\",\"url_private\":\"https://f.slack.com/"
    "a\"},{},7,{\"url_private\":\"https://f.slack.com/b\",\"size\":\"x\"}]}}}",
    "{\"envelope_id\":\"e\",\"type\":\"events_api\",\"payload\":{\"event\":{\"type\":"
    "\"agent_session_stopped\",\"channel\":\"C1\",\"thread_ts\":\"1.1\",\"user\":\"U1\"}}}",
    "{\"envelope_id\":\"e\",\"type\":\"interactive\",\"payload\":{\"type\":\"block_actions\","
    "\"user\":{\"id\":\"U1\"},\"actions\":[{\"action_id\":\"turncast:s:t\",\"value\":\"s:t\"},7]}}",
    "{\"envelope_id\":\"e\",\"type\":\"interactive\",\"payload\":{\"type\":\"block_actions\","
    "\"user\":{\"id\":\"U1\"},\"channel\":{\"id\":\"C1\"},\"actions\":[{\"action_id\":"
    "\"turncast:a:ticket-q:allow\",\"value\":\"a:ticket-q:allow\"}]}}",
    "{\"envelope_id\":\"e\",\"type\":\"interactive\",\"payload\":{\"type\":\"block_actions\","
    "\"user\":{\"id\":\"U1\"},\"channel\":{\"id\":\"C1\"},\"state\":{\"values\":{\"q.0\":{\"x\":{"
    "\"selected_option\":{\"value\":\"a%2\"}}},\"m.%\":{\"y\":{\"value\":\"b\"},\"z\":7},\"w.1\":7,"
    "\"\":{\"x\":{}}}},\"actions\":[{\"action_id\":\"turncast:a:ticket-p:answer\",\"value\":\"a:"
    "ticket-p:"
    "answer\"}]}}",
    "{\"envelope_id\":\"e\",\"type\":\"events_api\",\"payload\":{\"event_id\":\"E3\",\"event\":{"
    "\"type\":\"message\",\"channel\":\"C1\",\"user\":\"U1\",\"ts\":\"1.7\",\"thread_ts\":\"1.1\","
    "\"text\":\"deny: no\"}}}",
    "{\"envelope_id\":\"e\",\"type\":\"events_api\",\"payload\":{\"event\":{\"type\":\"message\","
    "\"channel\":{},\"user\":[],\"files\":7}}}",
    "{\"envelope_id\":{},\"type\":\"events_api\"}",
    "{\"type\":7}",
    "[[[[",
    "",
};

static const struct {
    const char *kind, *payload;
} events[] = {
    {"narration", "{\"text\":\"A paragraph.\\n\\nAnother \"}"},
    {"narration", "{\"text\":\"one.\\n\\n<!here> @channel\\n\\n\",\"message_id\":\"m2\"}"},
    {"narration", "{\"text\":\"```\\ncode\\n\\n\"}"},
    {"thinking", "{\"text\":\"Hm.\"}"},
    {"tool_call", "{\"name\":\"Bash\",\"args\":{\"command\":\"ls\"},\"tool_use_id\":\"c1\"}"},
    {"tool_call", "{\"name\":\"x\",\"args\":{\"a\":[1]},\"tool_use_id\":\"c2\"}"},
    {"tool_result", "{\"tool_use_id\":\"c1\",\"content\":\"x\",\"is_error\":true}"},
    {"tool_result", "{\"tool_use_id\":\"c2\",\"content\":\"x\"}"},
    {"request", "{\"request_id\":\"r\",\"kind\":\"ask\",\"state\":\"open\",\"questions\":[7,{}]}"},
    {"request", "{\"request_id\":\"r\",\"kind\":\"ask\",\"state\":\"resolved\"}"},
    {"request",
     ("{\"request_id\":\"q\",\"kind\":\"approval\",\"state\":\"open\",\"blocking\":true,\"tool\":"
      "\"Bash\",\"subject\":\"rm <!here>\",\"args\":{\"command\":\"rm "
      "<!here>\",\"x\":1},\"choices\":"
      "[{\"id\":\"allow\",\"label\":\"Allow\"},7,{\"id\":\"deny\"}],\"to\":[\"test\",\"test:C2\","
      "\"\",7]}")},
    {"request", ("{\"request_id\":\"p\",\"kind\":\"ask\",\"state\":\"open\",\"blocking\":true,"
                 "\"choices\":[{\"id\":"
                 "\"answer\"}],\"questions\":[{\"id\":\"0\",\"prompt\":\"?\",\"options\":[\"a\",{"
                 "\"label\":\"b\","
                 "\"description\":\"c\"}]},{\"id\":\"1\",\"options\":[7,{}],\"multi\":true}]}")},
    {"request", "{\"request_id\":\"q\",\"kind\":\"approval\",\"state\":\"resolved\",\"decision\":"
                "\"allow\",\"by\":\"Ann\"}"},
    {"request", "{\"request_id\":\"p\",\"kind\":\"ask\",\"state\":\"resolved\",\"decision\":"
                "\"answered\",\"answers\":{\"0\":\"a\",\"1\":[7]}}"},
    {"notice", "{\"level\":\"warn\",\"text\":\"careful\"}"},
    {"notice", "{\"level\":\"info\",\"text\":\"\",\"code\":\"retracted\",\"message_id\":\"m2\"}"},
};

/* Every submit or cancel gets a random result. */
static void expect_result(struct fake_host *s, const char *call)
{
    while (s->promises)
        fake_host_drop_promise(s);
    for (int i = 0; i < 40; i++) {
        struct fake_promise *const p = xcalloc(1, sizeof *p);
        *p = (struct fake_promise){.next = s->promises,
                                   .call = call,
                                   .want = json_object(),
                                   .answer = pick(2) ? xstrdup("Said *so*.") : NULL,
                                   .result = (enum tc_accepted)pick(7)};
        s->promises = p;
    }
}

static void forget(struct fake_host *s)
{
    while (s->acts)
        fake_host_drop_act(&s->acts);
}

static struct fake_request *on_wire(struct fake_host *s, bool lobby)
{
    struct fake_request *found = NULL;
    unsigned n = 0;
    for (struct fake_request *r = s->requests; r; r = r->next)
        if (r->state == FAKE_ON_WIRE && (lobby || r->turn != &s->lobby) && pick(++n) == 0)
            found = r;
    return found;
}

static void answer(struct fake_host *s, struct fake_request *r, bool well)
{
    const unsigned fate = well ? 9 : pick(10);
    expect_result(s, "submit");
    if (fate == 0)
        fake_host_reply(s, r, TC_NOT_SENT, 0, "", 0);
    else if (fate == 1)
        fake_host_reply(s, r, TC_AMBIGUOUS, pick(2) ? 0 : 502, "", 0);
    else if (fate == 2)
        fake_host_reply(s, r, TC_REJECTED, pick(2) ? 429 : 404, "", pick(2) ? 2000 : 0);
    else
        fake_host_reply(s, r, TC_OK, 200, well ? bodies[pick(2)] : PICK(bodies), 0);
}

static bool has_live(const struct fake_host *s, const struct fake_turn *t)
{
    for (const struct fake_request *r = s->requests; r; r = r->next)
        if (r->turn == t && r->state == FAKE_WAITS && r->http.priority == TC_P_LIVE &&
            r->attempts == 0 && strncmp(r->http.lane, "signs:", 6) != 0)
            return true;
    return false;
}

static void send_frame(struct fake_host *s, int64_t socket, const char *frame)
{
    if (s->sockets[socket] == 0)
        return;
    if (pick(8) == 0)
        fake_host_frame(s, socket, TC_SOCKET_CLOSED, "gone");
    else
        fake_host_frame(s, socket, TC_SOCKET_TEXT, frame);
}

static void step(struct fake_host *s, struct fake_turn *t)
{
    const unsigned what = pick(10);
    struct fake_request *const r = on_wire(s, true);
    const char *const frame = PICK(frames);
    expect_result(s, "submit");
    if (what < 3 && t) {
        const unsigned i = pick(sizeof events / sizeof *events);
        fake_host_event(s, t, events[i].kind, events[i].payload);
    } else if (what < 4 && s->socket_count > 0) {
        fake_host_advance(s, 0);
        s->lenient = strstr(frame, "deny: "); /* an answer, or a message */
        expect_result(s, strstr(frame, "stop") || strstr(frame, "s:t") ? "cancel"
                         : strstr(frame, "a:ticket")                   ? "answer"
                                                                       : "submit");
        send_frame(s, 1 + pick((unsigned)s->socket_count), frame);
        s->lenient = false;
    } else if (what < 6) {
        fake_host_advance(s, 10 + pick(pick(4) ? 2000 : 100000));
    } else if (r) {
        answer(s, r, pick(3) == 0);
    }
    forget(s);
}

/* Runs a turn with random steps, then with a Slack that works. Returns what went wrong, or NULL. */
static const char *run(const char *const *options)
{
    struct fake_host *const s = fake_plugin_new("slack", options);
    const char *wrong = NULL;
    if (fake_host_init(s))
        bail("init failed");
    struct fake_turn *t = fake_host_open(
        s, "t", NULL,
        "{\"chat\":\"C1\",\"thread\":\"1.1\",\"message\":\"1.5\",\"user\":\"U1\",\"more\":\"T1\"}",
        NULL);
    fake_host_event(s, t, "start", "{}");
    for (unsigned i = pick(STEPS); i > 0; i--)
        step(s, t);
    expect_result(s, "submit");
    fake_host_event(s, t, pick(4) ? "final" : "error",
                    pick(2) ? "{\"text\":\"A paragraph.\\n\\nAnother \",\"message\":\"x\"}"
                            : "{\"text\":\"Done.\",\"message\":\"x\"}");
    if (has_live(s, t))
        wrong = "live after the outcome";
    fake_host_event(s, t, "done", "{\"reason\":\"completed\"}");
    for (unsigned i = pick(STEPS); i > 0; i--) {
        step(s, NULL);
        if ((t = fake_host_find(s, "t")) && has_live(s, t))
            wrong = "live after the outcome";
    }
    for (int i = 0; i < 2000 && fake_host_find(s, "t"); i++) {
        struct fake_request *const own = on_wire(s, false); /* requests of other turns may be in its
                                                             * lanes */
        struct fake_request *const r = own ? own : on_wire(s, true);
        if (r)
            answer(s, r, true);
        else
            fake_host_advance(s, 10000);
        forget(s);
    }
    if (fake_host_find(s, "t"))
        wrong = "the turn does not end";
    if (s->faults.len) {
        diag("%s", s->faults.p);
        wrong = "a fault";
    }
    expect_result(s, "submit");
    fake_host_free(s);
    return wrong;
}

static const char *const streams[] = {"bot_token", "xoxb-canary", "app_token", "xapp-canary", NULL};
static const char *const edits[] = {"bot_token", "xoxb-canary", "stream", "false",
                                    "overflow",  "file",        NULL};

static void test_rounds(const char *what, const char *const *options)
{
    const char *wrong = NULL;
    unsigned round = 0;
    for (; round < ROUNDS && !wrong; round++) {
        seed = UINT64_C(88172645463325252) + round;
        for (int i = 0; i < 8; i++)
            pick(2);
        wrong = run(options);
    }
    ok(!wrong, "R22: %d rounds of random input, %s: %s in round %u", ROUNDS, what,
       wrong ? wrong : "passed", round);
}

int main(void)
{
    plan(2);
    test_rounds("with streams", streams);
    test_rounds("with edits", edits);
    return 0;
}
