/* SPDX-License-Identifier: MIT
 * Tests of an instance in its own process: the messages in both directions. */
#include <sched.h>
#include <stdio.h>

#include "base/alloc.h"
#include "event/specimen.h"
#include "plugin/events.h"
#include "plugin/process/connector_process.h"
#include "plugin/puppet_kit.h"
#include "tap/tap.h"

/* ---- events */

static void make_specimen(struct event *ev, enum tc_kind kind, struct arena *a)
{
    if (a)
        specimen_fill(ev, kind, a);
    else
        specimen_bare(ev, kind);
}

/* An event of each kind with all members, and one with as few as possible. */
static void test_every_event(void)
{
    struct arena arena = {0};
    CLEANUP_BUF struct buf wanted = {0};
    struct channel *const c = puppet_start("events");
    void *const turn =
        c->ops->open(c, &(struct channel_turn){"t1", "a", "conv", "{\"r\":1}", "mem", 0, false});
    for (unsigned kind = 0; kind < TC_KINDS; kind++)
        for (int full = 0; full < 2; full++) {
            struct event ev;
            make_specimen(&ev, (enum tc_kind)kind, full ? &arena : NULL);
            struct shared_event *const shared = shared_event_new(&ev);
            size_t len;
            if (kind == TC_DONE) {
                shared_event_unref(shared);
                continue;
            }
            buf_printf(&wanted, "%s\n", shared_event_json_line(shared, &len));
            c->ops->send(c, turn, shared);
        }
    struct event done;
    specimen_fill(&done, TC_DONE, &arena);
    struct shared_event *const last = shared_event_new(&done);
    size_t len;
    buf_printf(&wanted, "%s\n", shared_event_json_line(last, &len));
    c->ops->send(c, turn, last);
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
    CLEANUP_BUF struct buf got = {0};
    for (const char *p = puppet_written(), *end; (end = strchr(p, '\n')); p = end + 1)
        if (*p == '{')
            buf_add(&got, p, (size_t)(end - p) + 1);
    is_str(got.p, wanted.p, "events of all kinds arrive unchanged and in order");
    has_str(puppet_written(), "open t1 a conv {\"r\":1} mem ",
            "the turn arrives with all its strings");
    has_str(puppet_written(), "teardown\n", "teardown is called last");
    arena_fini(&arena);
}

static void test_big_texts(void)
{
    struct channel *const c = puppet_start("big");
    void *const turn = puppet_open_turn(c, "t1");
    char *const text = xmalloc((1 << 20) + 1);
    memset(text, 'x', 1 << 20);
    text[1 << 20] = '\0';
    puppet_say(c, turn, "before");
    puppet_wait_written("before");
    puppet_say(c, turn, text);
    puppet_say(c, turn, "between");
    ok(puppet_wait_written("between"), "a text of 1 MiB arrives at an idle process");
    puppet_say(c, turn, text + (1 << 19));
    puppet_say(c, turn, text);
    puppet_say(c, turn, "");
    puppet_cast(c, turn, TC_DONE);
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0,
           "the instance ends after two more large texts and an empty one");
    ok(strstr(puppet_written(), text) != NULL, "the large texts arrive complete");
    is_int((long long)puppet_count(puppet_written(), "\"text\":\"\""), 1, "the empty text arrives");
    free(text);
}

static void test_many(void)
{
    struct channel *const c = puppet_start("many");
    void *turns[40];
    char id[32];
    for (size_t i = 0; i < 40; i++) {
        snprintf(id, sizeof id, "turn-%zu", i);
        turns[i] = puppet_open_turn(c, id);
    }
    for (uint64_t seq = 1; seq <= 50; seq++)
        for (size_t i = 0; i < 40; i++) {
            c->ops->send(c, turns[i], box_of(TC_USAGE, 1000 * i + seq));
            c->ops->wait_room(c, KIT_DEADLINE_MS);
        }
    for (size_t i = 0; i < 40; i++)
        puppet_cast(c, turns[i], TC_DONE);
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends after 2000 events of 40 turns");
    uint64_t last[40] = {0};
    size_t seen = 0, wrong = 0;
    for (const char *p = puppet_written(); (p = strstr(p, "\"seq\":")); p++, seen++) {
        const uint64_t seq = strtoull(p + 6, NULL, 10);
        if (seq == 1 && strstr(p, "\"done\"") == strchr(p, ',') + 8)
            continue;
        if (seq >= 40000 || (seq % 1000 != 1 && seq != last[seq / 1000] + 1))
            wrong++;
        if (seq < 40000)
            last[seq / 1000] = seq;
    }
    is_int((long long)seen, 2040, "all events arrive");
    ok(wrong <= 40, "the events of each turn arrive in order (%zu)", wrong);
    is_int((long long)kit_n_batches, 40, "each turn has its last batch");
    for (size_t i = 0; i < kit_n_batches; i++)
        if (!kit_batches[i]->over)
            ok(false, "no other batch arrives");
}

static bool has_all_in_order(const char *written, uint64_t last)
{
    uint64_t seq = 0;
    for (const char *p = written; seq < last && (p = strstr(p, "\"seq\":")); p++)
        if (strtoull(p + 6, NULL, 10) != ++seq)
            return false;
    return seq == last;
}

/* More events than fit into the ring; the last ones are still waiting when the instance is stopped.
 * */
static void test_burst(void)
{
    struct channel *const c = puppet_start("burst");
    void *const turn = puppet_open_turn(c, "t1");
    c->ops->set_batching(c, true);
    for (uint64_t seq = 1; seq <= 200; seq++)
        c->ops->send(c, turn, box_of(TC_USAGE, seq));
    ok(c->ops->wait_room(c, KIT_DEADLINE_MS), "waiting for room succeeds during a burst");
    for (uint64_t seq = 201; seq <= 300; seq++)
        c->ops->send(c, turn, box_of(TC_USAGE, seq));
    c->ops->set_batching(c, false);
    c->ops->set_batching(c, true);
    c->ops->send(c, turn, box_of(TC_DONE, 301));
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends during a burst");
    ok(has_all_in_order(puppet_written(), 301), "all events of the burst arrive in order");
}

/* The dispatcher reads the status page, and does not wake the process for a few events. */
static void test_room(void)
{
    struct channel *const c = puppet_start("room");
    const struct connector_process *const g = connector_process_of(c);
    void *const turn = puppet_open_turn(c, "t1");
    c->ops->set_batching(c, true);
    for (uint64_t seq = 1; seq <= 600; seq++)
        c->ops->send(c, turn, box_of(TC_USAGE, seq));
    c->ops->set_batching(c, false);
    kit_round(0);
    while (atomic_load(&g->sup.status->handled) < 600)
        sched_yield();
    c->ops->set_batching(c, true);
    for (uint64_t seq = 601; seq <= 700; seq++)
        c->ops->send(c, turn, box_of(TC_USAGE, seq));
    ok(c->ops->wait_room(c, 0), "a process that has handled its events has room");
    is_int((long long)g->writer.sent.count, 100,
           "the counters of the status page free the room of the handled events");
    ok(g->writer.ring.published < g->writer.ring.written, "the process is not woken for this");
    c->ops->send(c, turn, box_of(TC_DONE, 701));
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
    ok(has_all_in_order(puppet_written(), 701), "all events have arrived in order");
}

/* Half a dozen events fill the ring; unread ones must not be overwritten. */
static void test_wide(void)
{
    struct channel *const c = puppet_start("wide");
    void *const turn = puppet_open_turn(c, "t1");
    static char text[14000];
    memset(text, 'x', sizeof text - 1);
    for (uint64_t seq = 1; seq <= 300; seq++) {
        c->ops->send(c, turn, narration(seq, text, NULL));
        kit_round(0);
    }
    c->ops->send(c, turn, box_of(TC_DONE, 301));
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends after more events than fit");
    ok(has_all_in_order(puppet_written(), 301), "all events arrive in order");
    ok(!strstr(kit_logged(), ": process "), "the process was not restarted");
}

/* ---- requests and replies */

static void test_requests(void)
{
    struct channel *const c = puppet_start("letters");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_say(c, turn, "send-all k1");
    ok(kit_wait_batches(1), "a request arrives");
    const struct outbound_request *const l = puppet_newest_request();
    const struct tc_http *const h = &l->http;
    is_str(l->turn, "t1", "the request has its turn");
    ok(l->id % 2 == 1, "the request has an odd id");
    is_str(h->method, "PUT", "the request has its method");
    is_str(h->url, "https://example.org/{option:key}",
           "the request has its URL, without the secret");
    is_int((long long)h->header_count, 2, "the request has its headers");
    is_str(h->headers[1].value, "\xc3\xa9", "the headers have their values");
    is_mem(h->body, h->body_len, "a\0b", 3, "the request has its body");
    is_str(h->lane, "lane", "the request has its lane");
    is_str(h->key, "k1", "the request has its key");
    ok(h->priority == TC_P_NOTICE && h->rates == 3 && h->flags == (TC_DURABLE | TC_IDEMPOTENT) &&
           h->timeout_ms == 5 && h->max_age_ms == 6 && h->delay_ms == 7,
       "the request has its numbers");
    c->ops->reply(c, turn, puppet_reply_to(l, "judge", false));
    ok(kit_wait_batches(2), "the reply is answered by a batch");
    const struct callback_batch *const b = puppet_newest_batch();
    ok(b->settles == BATCH_REQUEST && b->request == l->id && !b->failed,
       "the batch has the id of the request");
    ok(b->verdict.next == TC_NEXT_FAIL && b->verdict.hold_ms == 1234 &&
           b->verdict.scope == TC_HOLD_INSTANCE,
       "the batch has the verdict");
    is_str(b->verdict.reason, "because", "the verdict has its reason");
    ok(puppet_wait_written(
           "reply all 0 200 5:judge /saved none 3 1 https://example.org/{option:key}\n"),
       "the plugin gets the complete reply");
    puppet_say(c, turn, "remember shown so far");
    ok(kit_wait_batches(3), "the memory of the turn arrives");
    is_str(puppet_newest_batch()->memory, "shown so far", "the memory has its text");
    puppet_say(c, turn, "send last");
    ok(kit_wait_batches(4), "a request before the outcome arrives");
    puppet_cast(c, turn, TC_FINAL);
    ok(kit_wait_batches(5), "the batch of the outcome arrives");
    ok(puppet_newest_batch()->settles == BATCH_OUTCOME && !puppet_newest_batch()->failed,
       "the batch settles the outcome");
    puppet_cast(c, turn, TC_DONE);
    ok(puppet_wait_written("\"done\""), "the plugin gets done");
    is_int((long long)kit_n_batches, 5, "the turn is not over while a reply is missing");
    c->ops->reply(c, turn, puppet_reply_to(puppet_newest_request(), "thanks", true));
    ok(kit_wait_batches(6) && puppet_newest_batch()->over, "the turn is over after its last reply");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
}

/* A request from an earlier process of the host. */
static struct outbound_reply *offer_of(const struct outbound_request *l, const char *body)
{
    struct outbound_reply *const r = puppet_reply_to(l, body, false);
    r->reply.outcome = TC_YOUR_TURN;
    r->verdict = (struct tc_verdict){.next = TC_NEXT_LATER};
    return r;
}

static void test_performed(void)
{
    struct channel *const c = puppet_start("performs");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_say(c, turn, "send k1");
    kit_wait_batches(1);
    const struct outbound_request *const l = puppet_newest_request();
    c->ops->reply(c, turn, offer_of(l, "perform"));
    ok(kit_wait_batches(2), "the batch of a request that the plugin executes arrives");
    const struct callback_batch *const b = puppet_newest_batch();
    ok(b->settles == BATCH_REQUEST && b->verdict.next == TC_NEXT_LATER,
       "the verdict is to finish later");
    const struct outbound_result *const r = b->results;
    if (!ok(r && !r->next && r->request == l->id, "the batch has the result of the request"))
        bail("no result");
    ok(r->outcome == TC_REJECTED && r->status == 404 && r->hold_ms == 9,
       "the result has its status");
    is_mem(r->body.p, r->body.len, "a\0b", 3, "the result has its body");
    is_str(r->error, "not there", "the result has its error");
    c->ops->reply(c, turn, puppet_reply_to(l, "done", true));
    ok(kit_wait_batches(3), "the last reply is answered after the result");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
}

static void test_late_reply(void)
{
    struct channel *const c = puppet_start("late");
    const char *why;
    void *const turn = c->ops->open(
        c, &(struct channel_turn){.id = "old", .agent = "", .requests = 1, .over = true});
    struct outbound_request *const l =
        outbound_request_new(12, "old", TC_HTTP(.url = "https://a/", .tag = "x"), &why);
    c->ops->reply(c, turn, puppet_reply_to(l, "hello", true));
    ok(kit_wait_batches(1), "the reply to a request of an earlier process is answered");
    ok(puppet_newest_batch()->request == 12 && puppet_newest_batch()->over,
       "this reply ends the turn");
    c->ops->reply(c, NULL, puppet_reply_to(l, "lobby", true));
    ok(kit_wait_batches(2) && !*puppet_newest_batch()->turn,
       "the reply to a request of the lobby is answered");
    outbound_request_unref(l);
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
}

static void test_failing_callback(void)
{
    struct channel *const c = puppet_start("failing");
    void *const turn = puppet_open_turn(c, "t1");
    struct event ev = draft(TC_FINAL, 2);
    ev.u.final.text = "fail";
    ev.u.final.text_len = 4;
    c->ops->send(c, turn, shared_event_new(&ev));
    ok(kit_wait_batches(1) && puppet_newest_batch()->failed &&
           puppet_newest_batch()->settles == BATCH_OUTCOME,
       "the batch of an outcome whose callback has failed arrives");
    is_int((long long)c->ops->health(c).failed, 1, "the failure is counted");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
}

/* ---- calls, routes, sockets, hits */

static void test_asks(void)
{
    struct channel *const c = puppet_start("asks");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_say(c, turn, "submit do it");
    puppet_say(c, turn, "cancel t5");
    ok(puppet_wait_written("submitted 1 t9 wait a bit\n"), "a call is answered");
    ok(puppet_wait_written("cancelled 2\n"), "a second call is answered");
    has_str(kit_told.p,
            "submit:asks:m1:m2:c:th:u:n:do it:q:{\"to\":1}:/a=x:/b=-:+log:+tg;cancel:t5:u:-;",
            "the host got both calls with all arguments");
    kit_holds_asks = true;
    puppet_say(c, turn, "submit later");
    puppet_say(c, turn, "narrates");
    ok(kit_wait_told("later"), "a call whose answer takes a while arrives");
    ok(!strstr(puppet_written(), "narrates"), "the process waits for the answer");
    ok(c->ops->wait_room(c, 0), "waiting for room does not block meanwhile");
    host_call_complete(kit_ask, TC_ACCEPTED, "t10", NULL);
    ok(puppet_wait_written("submitted 0 t10 -\n") && puppet_wait_written("narrates"),
       "the call is answered");
    puppet_say(c, turn, "submit never");
    ok(kit_wait_told("never"), "a call arrives before the end");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends while a call is open");
    has_str(puppet_written(), "submitted 6 - -\n", "the open call is answered with not kept");
    host_call_complete(kit_ask, TC_ACCEPTED, "t11", NULL);
    kit_holds_asks = false;
}

static struct buf answered;

static void record_answer(void *arg, const struct tc_answer *a)
{
    buf_printf(&answered, "%s:", (const char *)arg);
    if (a && a->later)
        buf_add_str(&answered, "later;");
    else if (a)
        buf_printf(&answered, "%d:%s:%.*s;", a->status, a->content_type ? a->content_type : "-",
                   (int)a->body_len, a->body);
    else
        buf_add_str(&answered, "none;");
}

static void send_hit(struct channel *c, const char *name, const char *query)
{
    struct channel_hit *const h = xcalloc(1, sizeof *h);
    struct tc_header *const headers = arena_alloc(&h->arena, 2 * sizeof *headers);
    headers[0] = (struct tc_header){"A", "1"};
    headers[1] = (struct tc_header){"B", "2"};
    h->hit = (struct tc_hit){.method = "POST",
                             .path = "/in",
                             .query = arena_strdup(&h->arena, query),
                             .headers = headers,
                             .header_count = 2,
                             .body = "bo\0dy",
                             .body_len = 5};
    h->answered = record_answer;
    h->arg = (void *)(uintptr_t)name;
    c->ops->hit(c, h);
}

static bool is_answered(void *text)
{
    return answered.p && strstr(answered.p, text);
}

static void test_hits(void)
{
    buf_reset(&answered);
    struct channel *const c = puppet_start("hits");
    send_hit(c, "one", "a=b");
    ok(kit_wait(is_answered, (char[]){"one:201:text/x:POST /in a=b 2 5:bo;"}), "a hit is answered");
    send_hit(c, "two", "submit hello");
    ok(kit_wait(is_answered, (char[]){"two:201:text/x:POST /in submit hello 2 5:bo;"}),
       "a hit during which a call is made is answered");
    send_hit(c, "three", "fail");
    ok(kit_wait(is_answered, (char[]){"three:none;"}),
       "a hit whose callback fails is not answered");
    send_hit(c, "four", "crash");
    send_hit(c, "five", "x");
    ok(kit_wait(is_answered, (char[]){"four:none;"}),
       "a hit that crashes the process is not answered");
    ok(kit_wait(is_answered, (char[]){"five:none;"}),
       "a hit that waits behind the crash is not answered");
    send_hit(c, "six", "x");
    ok(is_answered((char[]){"six:none;"}), "a hit while the process is not running fails at once");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
}

static void test_later_hits(void)
{
    buf_reset(&answered);
    struct channel *const c = puppet_start("later");
    void *const turn = puppet_open_turn(c, "t1");
    send_hit(c, "one", "later");
    ok(kit_wait(is_answered, (char[]){"one:later;"}), "a hit announces a later response");
    send_hit(c, "two", "later");
    ok(kit_wait(is_answered, (char[]){"two:later;"}), "a second hit announces a later response");
    puppet_say(c, turn, "respond 2 done");
    ok(kit_wait(is_answered, (char[]){"two:202:-:done;"}),
       "the response comes from another callback");
    puppet_say(c, turn, "respond 2 again");
    puppet_say(c, turn, "respond 1 first");
    ok(kit_wait(is_answered, (char[]){"one:202:-:first;"}),
       "the response to the first hit arrives");
    ok(!strstr(answered.p, "again"), "a second response is ignored");
    send_hit(c, "three", "later");
    ok(kit_wait(is_answered, (char[]){"three:later;"}), "a third hit announces a later response");
    send_hit(c, "four", "crash");
    ok(kit_wait(is_answered, (char[]){"three:none;"}),
       "a crash ends an announced response without one");
    ok(puppet_wait_written("resumed"), "the process is restarted");
    puppet_say(c, turn, "respond 3 late");
    send_hit(c, "five", "later");
    ok(kit_wait(is_answered, (char[]){"five:later;"}), "a late response is ignored");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
    ok(is_answered((char[]){"five:none;"}),
       "the end of the instance ends an announced response without one");
}

static void deliver_frame(struct channel *c, int64_t socket, enum tc_socket_event event,
                          const char *text)
{
    c->ops->frame(c, &(struct tc_frame){socket, event, text, strlen(text)});
}

static void test_run_time_secrets(void)
{
    struct channel *const c = puppet_start("secrets");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_say(c, turn, "secret bot.token run-time-canary");
    ok(kit_wait_told("secret:bot.token:run-time-canary;"), "a secret reaches the host");
    ok(kit_wait_log("after: ***"), "the secret is masked in later log messages of the connector");
    puppet_say(c, turn, "secret bot.token");
    ok(kit_wait_told("secret:bot.token:-;"), "the secret is removed");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
}

static void test_stored_texts(void)
{
    kit_forget();
    kit_logged();
    const struct conf_instance spec = puppet_spec_of("stores");
    struct tc_err err;
    struct channel *const c = kit_make(&spec, "puppet", &kit_host, &err);
    c->ops->load(c, "cursor", "4");
    is_int(c->ops->wait_started(c, &err), 0, "an instance starts");
    has_str(puppet_written(), "stored 4\n", "init reads the text that was stored before");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    puppet_say(c, turn, "store cursor 5");
    ok(kit_wait_told("store:cursor:5;"), "a stored text reaches the host");
    puppet_say(c, turn, "crash-once");
    ok(puppet_wait_written("stored 5\n"), "a restarted process has the stored text");
    puppet_say(c, turn, "store cursor");
    ok(kit_wait_told("store:cursor:-;"), "the text is removed");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
}

static void test_sockets(void)
{
    struct channel *const c = puppet_start("sockets");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_say(c, turn, "socket wss://a.example/");
    ok(kit_wait_told("open:1:wss://a.example/:11:12;header:X-Bot={option:key};"),
       "a socket is opened with its headers");
    deliver_frame(c, 1, TC_SOCKET_OPEN, "");
    deliver_frame(c, 1, TC_SOCKET_TEXT, "submit from a frame");
    ok(puppet_wait_written("frame 1 1 19:submit from a frame\n"), "a received frame arrives");
    puppet_say(c, turn, "frame 1 hello");
    ok(kit_wait_told("send:1:hello;"), "a frame is sent");
    puppet_say(c, turn, "bytes 1");
    ok(kit_wait_told("bytes:1:2;"), "a binary frame is sent");
    deliver_frame(c, 1, TC_SOCKET_BINARY, "b\xff");
    ok(puppet_wait_written("frame 1 3 2:b\xff\n"), "a received binary frame arrives");
    puppet_say(c, turn, "route /in");
    ok(kit_wait_told("route:/in;"), "a route is opened");
    puppet_say(c, turn, "crash-once");
    ok(kit_wait_told("close:1;"), "a crash closes the socket");
    ok(puppet_wait_written("resumed"), "the process is restarted");
    puppet_say(c, turn, "socket wss://b.example/");
    ok(kit_wait_told("open:2:wss://b.example/:11:12;"),
       "the new socket has another number in the host");
    is_int((long long)puppet_count(puppet_written(), "socket 1\n"), 2,
           "the new socket has the first number in the plugin");
    deliver_frame(c, 1, TC_SOCKET_CLOSED, "of the first life");
    deliver_frame(c, 2, TC_SOCKET_OPEN, "");
    puppet_say(c, turn, "frame 1 again");
    ok(kit_wait_told("send:2:again;"), "the number is translated for sent frames");
    deliver_frame(c, 2, TC_SOCKET_CLOSED, "gone");
    ok(puppet_wait_written("frame 1 2 4:gone\n"), "the number is translated for received frames");
    ok(!strstr(puppet_written(), "of the first"), "events of the old socket are dropped");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
}

int main(void)
{
    plan_lazy();
    kit_begin();
    const unsigned fds = kit_count_fds(), children = kit_count_children();
    test_every_event();
    test_big_texts();
    test_many();
    test_burst();
    test_room();
    test_wide();
    test_requests();
    test_performed();
    test_late_reply();
    test_failing_callback();
    test_asks();
    test_hits();
    test_later_hits();
    test_run_time_secrets();
    test_stored_texts();
    test_sockets();
    is_int(kit_count_children(), children, "no process is left");
    is_int(kit_count_fds(), fds, "no descriptor is left");
    buf_fini(&answered);
    kit_end();
}
