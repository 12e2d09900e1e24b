/* SPDX-License-Identifier: MIT
 * Tests of the NATS client with nats-server: messages, requests, conditional publishes, and a
 * server that is killed, suspended, or refuses the password. */
#include "io/nats/nats_client.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "io/nats_server.h"
#include "tap/tap.h"

#define DEADLINE_MS 30000

static struct loop *loop;
static struct nats_server server;

struct state {
    bool up;
    unsigned changes;
    char text[200];
};

static void on_changed(void *ctx, bool connected, const char *text)
{
    struct state *const s = ctx;
    s->up = connected;
    s->changes++;
    snprintf(s->text, sizeof s->text, "%s", text);
}

/* Runs the loop until *flag is `wanted`. */
static bool await(const bool *flag, bool wanted)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while (*flag != wanted && clock_mono_ms() < end)
        loop_run_once(loop, 20);
    return *flag == wanted;
}

struct reply {
    bool is_there;
    enum nats_client_result result;
    char data[2000];
};

static void on_reply(void *ctx, enum nats_client_result result, const struct nats_client_message *m)
{
    struct reply *const r = ctx;
    r->is_there = true;
    r->result = result;
    snprintf(r->data, sizeof r->data, "%.*s", m ? (int)m->data.len : 0, m ? m->data.p : "");
}

static const struct reply *request(struct nats_client *c, const struct nats_client_publication *p,
                                   int64_t timeout_ms)
{
    static struct reply r;
    r = (struct reply){0};
    nats_client_request(c, p, timeout_ms, on_reply, &r);
    ok(!r.is_there, "the callback never runs before the call returns");
    await(&r.is_there, true);
    return &r;
}

static const struct reply *request_api(struct nats_client *c, const char *subject, const char *body)
{
    const struct nats_client_publication p = {.subject = subject, .data = {body, strlen(body)}};
    return request(c, &p, 5000);
}

struct received {
    bool is_there;
    unsigned n;
    int status;
    char subject[100], data[100], reply[100], stored[100];
    uint64_t sequence;
};

static void on_message(void *ctx, const struct nats_client_message *m)
{
    struct received *const h = ctx;
    h->is_there = true;
    h->n++;
    h->sequence = m->sequence;
    h->status = m->status;
    snprintf(h->subject, sizeof h->subject, "%s", m->subject);
    snprintf(h->reply, sizeof h->reply, "%s", m->reply ? m->reply : "");
    snprintf(h->stored, sizeof h->stored, "%s", m->stored ? m->stored : "");
    snprintf(h->data, sizeof h->data, "%.*s", (int)m->data.len, m->data.p);
}

static struct nats_client *connect_as(struct state *s, const char *credentials)
{
    struct tc_err err = {0};
    const char *const urls[] = {server.url, NULL};
    *s = (struct state){0};
    struct nats_client *const c =
        nats_client_new(&(struct nats_client_spec){.loop = loop,
                                                   .urls = urls,
                                                   .name = "test",
                                                   .credentials = credentials,
                                                   .changed = on_changed,
                                                   .ctx = s},
                        &err);
    if (!c)
        bail("%s", err_format(&err));
    return c;
}

static void test_messages(struct nats_client *c)
{
    struct received h = {0};
    struct nats_client_subscription *const s = nats_client_subscribe(c, "a.*", on_message, &h);
    const struct reply *r = request_api(c, "nobody.here", "x");
    ok(r->result == NATS_CLIENT_NOBODY, "a request without a receiver ends at once");
    nats_client_publish(c, &(struct nats_client_publication){.subject = "a.b", .data = STR("hi")});
    ok(await(&h.is_there, true), "a message arrives");
    is_str(h.subject, "a.b", "the message has its subject");
    is_str(h.data, "hi", "the message has its data");
    r = request(c, &(struct nats_client_publication){.subject = "a.c", .data = STR("?")}, 200);
    ok(r->result == NATS_CLIENT_UNKNOWN, "a request without a reply ends at its deadline");
    ok(*h.reply, "the receiver gets the subject for replies");
    nats_client_unsubscribe(s);
    r = request_api(c, "a.d", "x");
    ok(r->result == NATS_CLIENT_NOBODY && h.n == 2,
       "a subscription that was ended gets no message");
}

struct sent {
    unsigned n;
    bool sent; /* of the last message */
};

static void on_sent(void *ctx, bool sent)
{
    struct sent *const s = ctx;
    s->n++;
    s->sent = sent;
}

/* Runs the loop until this number of messages has a result. */
static bool await_sent(const struct sent *s, unsigned n)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while (s->n < n && clock_mono_ms() < end)
        loop_run_once(loop, 20);
    return s->n == n;
}

static void test_sends(struct nats_client *c)
{
    struct received one = {0}, other = {0}, replies = {0};
    struct sent sent = {0};
    CLEANUP_BUF struct buf large = {0};
    struct nats_client_subscription *const subscriptions[] = {
        nats_client_subscribe_queue(c, "q.a", "group", on_message, &one),
        nats_client_subscribe_queue(c, "q.a", "group", on_message, &other),
        nats_client_subscribe(c, "answers.*", on_message, &replies)};
    const struct nats_client_publication p = {
        .subject = "q.a", .data = STR("x"), .reply = "answers.1", .host = "h1"};
    for (int i = 0; i < 20; i++)
        nats_client_send(c, &p, on_sent, &sent);
    ok(!sent.n && await_sent(&sent, 20) && sent.sent, "messages are sent");
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while (one.n + other.n < 20 && clock_mono_ms() < end)
        loop_run_once(loop, 20);
    is_int(one.n + other.n, 20, "each message reaches one member of a queue group");
    is_str(one.n ? one.reply : other.reply, "answers.1",
           "the receiver gets the subject for replies");
    ok(!replies.n, "no reply arrives");
    nats_client_send(
        c,
        &(struct nats_client_publication){.subject = "q.b", .data = STR(""), .reply = "answers.2"},
        on_sent, &sent);
    ok(await(&replies.is_there, true), "the server replies if nobody has subscribed");
    is_str(replies.subject, "answers.2", "the reply has the subject for replies");
    is_int(replies.status, 503, "the reply has the status");
    buf_reserve(&large, 2 << 20);
    memset(large.p, 'x', 2 << 20);
    nats_client_send(
        c, &(struct nats_client_publication){.subject = "q.a", .data = {large.p, 2 << 20}}, on_sent,
        &sent);
    ok(await_sent(&sent, 22) && !sent.sent, "a message above the limit fails");
    for (size_t i = 0; i < sizeof subscriptions / sizeof *subscriptions; i++)
        nats_client_unsubscribe(subscriptions[i]);
}

#define STREAM                                                                                     \
    "{\"name\":\"S\",\"subjects\":[\"s.>\"],\"storage\":\"file\",\"allow_direct\":true,"           \
    "\"republish\":{\"src\":\"s.>\",\"dest\":\"told.>\"}}"

static const struct reply *publish_at(struct nats_client *c, uint64_t expected, const char *data)
{
    const struct nats_client_publication p = {.subject = "s.x",
                                              .data = {data, strlen(data)},
                                              .is_conditional = true,
                                              .expected = expected};
    return request(c, &p, 5000);
}

static void test_stream(struct nats_client *c)
{
    struct received h = {0};
    struct nats_client_subscription *const s = nats_client_subscribe(c, "told.>", on_message, &h);
    has_str(request_api(c, "$JS.API.STREAM.CREATE.S", STREAM)->data, "\"did_create\":true",
            "a stream is created");
    has_str(publish_at(c, 0, "one")->data, "\"seq\":1", "the first message of a subject is stored");
    has_str(publish_at(c, 0, "other")->data, "10071",
            "a second message with the same expected sequence is refused");
    has_str(publish_at(c, 1, "two")->data, "\"seq\":2",
            "the next message with the right sequence is stored");
    while (h.sequence < 2 && await(&h.is_there, true))
        h.is_there = false;
    is_str(h.stored, "s.x", "the republished message names its original subject");
    is_int(h.n, 2, "a refused message is not republished");
    is_str(request_api(c, "$JS.API.DIRECT.GET.S", "{\"last_by_subj\":\"s.x\"}")->data, "two",
           "the last message of a subject is read");
    nats_client_unsubscribe(s);
}

static void test_too_big(struct nats_client *c)
{
    const size_t len = (size_t)2 << 20;
    char *const big = calloc(1, len);
    const struct reply *const r =
        request(c, &(struct nats_client_publication){.subject = "s.big", .data = {big, len}}, 5000);
    ok(r->result == NATS_CLIENT_UNSENT, "a request above the limit of the server is not sent");
    free(big);
}

/* Kills the server during a request, and starts it again on the same port. */
static void test_killed(struct nats_client *c, struct state *state)
{
    struct received h = {0};
    struct reply open = {0}, forgotten = {0};
    struct nats_client_subscription *const s = nats_client_subscribe(c, "k.>", on_message, &h);
    nats_client_request(c, &(struct nats_client_publication){.subject = "k.0", .data = STR("")},
                        60000, on_reply, &forgotten);
    nats_client_forget(c, &forgotten);
    nats_client_request(c, &(struct nats_client_publication){.subject = "k.1", .data = STR("")},
                        60000, on_reply, &open);
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while (h.n < 2 && clock_mono_ms() < end)
        loop_run_once(loop, 20);
    nats_server_kill(&server);
    ok(await(&state->up, false), "the loss of the connection is reported");
    ok(await(&open.is_there, true) && open.result == NATS_CLIENT_UNKNOWN,
       "an open request ends with the connection");
    ok(!forgotten.is_there, "the callback of a forgotten request does not run");
    const struct reply *r = request_api(c, "k.2", "x");
    ok(r->result == NATS_CLIENT_UNSENT, "a request without a connection is not sent");
    if (!nats_server_start(&server, ""))
        bail("the server cannot be restarted");
    ok(await(&state->up, true), "the client connects again by itself");
    h.is_there = false;
    nats_client_publish(c, &(struct nats_client_publication){.subject = "k.3", .data = STR("")});
    ok(await(&h.is_there, true), "subscriptions survive a new connection");
    is_str(h.subject, "k.3", "the request that was not sent is not sent later");
    nats_client_unsubscribe(s);
}

/* While the server is suspended, the loop goes on, and a request ends at its deadline. */
static void test_stopped(struct nats_client *c)
{
    nats_server_stop(&server);
    const int64_t begin = clock_mono_ms();
    const struct reply *const r =
        request(c, &(struct nats_client_publication){.subject = "p", .data = STR("")}, 300);
    ok(r->result == NATS_CLIENT_UNKNOWN && clock_mono_ms() - begin < 10000,
       "a request to a suspended server ends at its deadline");
    kill(server.pid, SIGCONT);
}

static void test_refused(void)
{
    struct state state;
    nats_server_kill(&server);
    if (!nats_server_start(&server, "authorization { user: ann, password: right }"))
        bail("the server does not start");
    struct nats_client *c = connect_as(&state, "ann:wrong");
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while (!state.changes && clock_mono_ms() < end)
        loop_run_once(loop, 20);
    ok(state.changes && !state.up, "a wrong password is reported: %s", state.text);
    ok(!strstr(state.text, "wrong"), "the report does not contain the password");
    nats_client_free(c);
    c = connect_as(&state, "ann:right");
    ok(await(&state.up, true), "the right password connects");
    ok(!strstr(state.text, "right"), "the report does not contain the password: %s", state.text);
    nats_client_free(c);
}

static void test_no_server(void)
{
    struct state state;
    nats_server_kill(&server);
    struct nats_client *const c = connect_as(&state, "ann:right");
    const struct reply *const r = request_api(c, "a", "x");
    ok(r->result == NATS_CLIENT_UNSENT, "a request without a server is not sent");
    is_str(state.text, "no server can be reached", "the report says that no server can be reached");
    if (!nats_server_start(&server, "authorization { user: ann, password: right }"))
        bail("the server does not start");
    ok(await(&state.up, true), "the client connects to a server that starts later");
    nats_client_free(c);
}

/* The server sends faster than the loop reads: messages wait for the loop when the client is freed.
 * */
static void test_ended_under_load(void)
{
    struct state state;
    struct received h = {0};
    struct nats_client *const c = connect_as(&state, "ann:right");
    ok(await(&state.up, true), "connected: %s", state.text);
    nats_client_subscribe(c, "load", on_message, &h);
    for (int i = 0; i < 20000; i++)
        nats_client_publish(c,
                            &(struct nats_client_publication){.subject = "load", .data = STR("x")});
    nats_client_free(c);
    ok(h.n == 0, "a client is freed while messages wait for the loop");
}

int main(void)
{
    struct state state;
    plan_lazy();
    loop = loop_new();
    if (!nats_server_start(&server, "")) {
        skip(1, "no nats-server");
        return 0;
    }
    struct nats_client *const c = connect_as(&state, NULL);
    ok(!nats_client_is_connected(c), "the client connects only while the loop runs");
    ok(await(&state.up, true) && nats_client_is_connected(c), "connected: %s", state.text);
    test_messages(c);
    test_sends(c);
    test_stream(c);
    test_too_big(c);
    test_stopped(c);
    test_killed(c, &state);
    nats_client_free(c);
    test_refused();
    test_no_server();
    test_ended_under_load();
    nats_server_kill(&server);
    loop_free(loop);
    return 0;
}
