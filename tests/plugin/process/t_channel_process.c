/* SPDX-License-Identifier: MIT
 * Tests of an instance in a process of its own: what crosses, and comes back. */
#include <sched.h>
#include <stdio.h>

#include "base/alloc.h"
#include "event/specimen.h"
#include "plugin/events.h"
#include "plugin/process/connector_process.h"
#include "plugin/puppet_kit.h"
#include "tap/tap.h"

/* ---- what crosses */

static void make_specimen(struct event *ev, enum tc_kind kind, struct arena *a)
{
    if (a)
        specimen_fill(ev, kind, a);
    else
        specimen_bare(ev, kind);
}

/* Of each kind with all members, and with as few as there may be. */
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
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
    CLEANUP_BUF struct buf got = {0};
    for (const char *p = puppet_written(), *end; (end = strchr(p, '\n')); p = end + 1)
        if (*p == '{')
            buf_add(&got, p, (size_t)(end - p) + 1);
    is_str(got.p, wanted.p, "events of all kinds arrive equal, in order");
    has_str(puppet_written(), "open t1 a conv {\"r\":1} mem ", "and the turn with all its strings");
    has_str(puppet_written(), "teardown\n", "then teardown");
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
    ok(puppet_wait_written("between"), "a text of 1 MiB comes to one that has nothing to do");
    puppet_say(c, turn, text + (1 << 19));
    puppet_say(c, turn, text);
    puppet_say(c, turn, "");
    puppet_cast(c, turn, TC_DONE);
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "two more, and an empty one");
    ok(strstr(puppet_written(), text) != NULL, "arrive whole");
    is_int((long long)puppet_count(puppet_written(), "\"text\":\"\""), 1, "  both");
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
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "2000 events of 40 turns");
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
    is_int((long long)seen, 2040, "  all of them");
    ok(wrong <= 40, "  each turn in order (%zu)", wrong);
    is_int((long long)kit_n_batches, 40, "  each turn has its last batch");
    for (size_t i = 0; i < kit_n_batches; i++)
        if (!kit_batches[i]->over)
            ok(false, "  and no other");
}

static bool has_all_in_order(const char *written, uint64_t last)
{
    uint64_t seq = 0;
    for (const char *p = written; seq < last && (p = strstr(p, "\"seq\":")); p++)
        if (strtoull(p + 6, NULL, 10) != ++seq)
            return false;
    return seq == last;
}

/* More than are put aside; the last ones still are when it is to stop. */
static void test_burst(void)
{
    struct channel *const c = puppet_start("burst");
    void *const turn = puppet_open_turn(c, "t1");
    c->ops->set_batching(c, true);
    for (uint64_t seq = 1; seq <= 200; seq++)
        c->ops->send(c, turn, box_of(TC_USAGE, seq));
    ok(c->ops->wait_room(c, KIT_DEADLINE_MS), "who asks for room is heard in a burst");
    for (uint64_t seq = 201; seq <= 300; seq++)
        c->ops->send(c, turn, box_of(TC_USAGE, seq));
    c->ops->set_batching(c, false);
    c->ops->set_batching(c, true);
    c->ops->send(c, turn, box_of(TC_DONE, 301));
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "a burst that does not end");
    ok(has_all_in_order(puppet_written(), 301), "  arrives, whole and in order");
}

/* Who casts looks into its page, and leaves it asleep until there is enough for it. */
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
    ok(c->ops->wait_room(c, 0), "one that has done what it was sent has room");
    is_int((long long)g->writer.sent.count, 100, "  for all but what came since");
    ok(g->writer.ring.published < g->writer.ring.written, "  and is not woken for that");
    c->ops->send(c, turn, box_of(TC_DONE, 701));
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
    ok(has_all_in_order(puppet_written(), 701), "  when it has seen all");
}

/* Of each half a dozen fit at once: none is written where another one is still to be read. */
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
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "more than there is room for");
    ok(has_all_in_order(puppet_written(), 301), "  arrives, whole and in order");
    ok(!strstr(kit_logged(), ": process "), "  in one life");
}

/* ---- letters and replies */

static void test_requests(void)
{
    struct channel *const c = puppet_start("letters");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_say(c, turn, "send-all k1");
    ok(kit_wait_batches(1), "a request comes");
    const struct outbound_request *const l = puppet_newest_request();
    const struct tc_http *const h = &l->http;
    is_str(l->turn, "t1", "  of its turn");
    ok(l->id % 2 == 1, "  with an odd id");
    is_str(h->method, "PUT", "  method");
    is_str(h->url, "https://example.org/{option:key}", "  URL, without the secret");
    is_int((long long)h->header_count, 2, "  headers");
    is_str(h->headers[1].value, "\xc3\xa9", "  their values");
    is_mem(h->body, h->body_len, "a\0b", 3, "  body");
    is_str(h->lane, "lane", "  lane");
    is_str(h->key, "k1", "  key");
    ok(h->priority == TC_P_NOTICE && h->rates == 3 && h->flags == (TC_DURABLE | TC_IDEMPOTENT) &&
           h->timeout_ms == 5 && h->max_age_ms == 6 && h->delay_ms == 7,
       "  and the numbers");
    c->ops->reply(c, turn, puppet_reply_to(l, "judge", false));
    ok(kit_wait_batches(2), "its reply is answered");
    const struct callback_batch *const b = puppet_newest_batch();
    ok(b->settles == BATCH_REQUEST && b->request == l->id && !b->failed, "  by name");
    ok(b->verdict.next == TC_NEXT_FAIL && b->verdict.hold_ms == 1234 &&
           b->verdict.scope == TC_HOLD_INSTANCE,
       "  with a verdict");
    is_str(b->verdict.reason, "because", "  and its reason");
    ok(puppet_wait_written(
           "reply all 0 200 5:judge /saved none 3 1 https://example.org/{option:key}\n"),
       "the plugin was told all of it");
    puppet_say(c, turn, "remember shown so far");
    ok(kit_wait_batches(3), "what it remembers");
    is_str(puppet_newest_batch()->memory, "shown so far", "  comes");
    puppet_say(c, turn, "send last");
    ok(kit_wait_batches(4), "a request before the end");
    puppet_cast(c, turn, TC_FINAL);
    ok(kit_wait_batches(5), "an outcome is settled");
    ok(puppet_newest_batch()->settles == BATCH_OUTCOME && !puppet_newest_batch()->failed,
       "  as one");
    puppet_cast(c, turn, TC_DONE);
    ok(puppet_wait_written("\"done\""), "done is seen");
    is_int((long long)kit_n_batches, 5, "  but a reply is to come");
    c->ops->reply(c, turn, puppet_reply_to(puppet_newest_request(), "thanks", true));
    ok(kit_wait_batches(6) && puppet_newest_batch()->over, "with which the turn is over");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
}

/* A request of an earlier run of the host. */
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
    ok(kit_wait_batches(2), "a request that it is told to perform");
    const struct callback_batch *const b = puppet_newest_batch();
    ok(b->settles == BATCH_REQUEST && b->verdict.next == TC_NEXT_LATER, "  is to end later");
    const struct outbound_result *const r = b->results;
    if (!ok(r && !r->next && r->request == l->id, "  and has ended"))
        bail("no result");
    ok(r->outcome == TC_REJECTED && r->status == 404 && r->hold_ms == 9, "  as it says");
    is_mem(r->body.p, r->body.len, "a\0b", 3, "  with a body");
    is_str(r->error, "not there", "  and an error");
    c->ops->reply(c, turn, puppet_reply_to(l, "done", true));
    ok(kit_wait_batches(3), "its last reply comes after that");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
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
    ok(kit_wait_batches(1), "a reply to what an earlier run asked");
    ok(puppet_newest_batch()->request == 12 && puppet_newest_batch()->over, "ends its turn");
    c->ops->reply(c, NULL, puppet_reply_to(l, "lobby", true));
    ok(kit_wait_batches(2) && !*puppet_newest_batch()->turn, "one of the lobby");
    outbound_request_unref(l);
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
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
       "an outcome that the callback could not deal with");
    is_int((long long)c->ops->health(c).failed, 1, "  is counted");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
}

/* ---- questions, routes, sockets, hits */

static void test_asks(void)
{
    struct channel *const c = puppet_start("asks");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_say(c, turn, "submit do it");
    puppet_say(c, turn, "cancel t5");
    ok(puppet_wait_written("submitted 1 t9 wait a bit\n"), "a question is answered");
    ok(puppet_wait_written("cancelled 2\n"), "another, too");
    has_str(kit_told.p,
            "submit:asks:m1:m2:c:th:u:n:do it:q:{\"to\":1}:/a=x:/b=-:+log:+tg;cancel:t5:u:-;",
            "the host was asked all of it");
    kit_holds_asks = true;
    puppet_say(c, turn, "submit later");
    puppet_say(c, turn, "narrates");
    ok(kit_wait_told("later"), "one that takes its time");
    ok(!strstr(puppet_written(), "narrates"), "  is waited for");
    ok(c->ops->wait_room(c, 0), "  but does not block who has events");
    host_call_complete(kit_ask, TC_ACCEPTED, "t10", NULL);
    ok(puppet_wait_written("submitted 0 t10 -\n") && puppet_wait_written("narrates"),
       "  and answered");
    puppet_say(c, turn, "submit never");
    ok(kit_wait_told("never"), "one at the end");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "  is refused, so that it ends");
    has_str(puppet_written(), "submitted 6 - -\n", "  with not kept");
    host_call_complete(kit_ask, TC_ACCEPTED, "t11", NULL);
    kit_holds_asks = false;
}

static struct buf answered;

static void on_answered(void *arg, const struct tc_answer *a)
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

static void hit(struct channel *c, const char *name, const char *query)
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
    h->answered = on_answered;
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
    hit(c, "one", "a=b");
    ok(kit_wait(is_answered, (char[]){"one:201:text/x:POST /in a=b 2 5:bo;"}), "a hit is answered");
    hit(c, "two", "submit hello");
    ok(kit_wait(is_answered, (char[]){"two:201:text/x:POST /in submit hello 2 5:bo;"}),
       "one in which a question is asked, too");
    hit(c, "three", "fail");
    ok(kit_wait(is_answered, (char[]){"three:none;"}), "one that fails is not");
    hit(c, "four", "crash");
    hit(c, "five", "x");
    ok(kit_wait(is_answered, (char[]){"four:none;"}), "nor one that it dies of");
    ok(kit_wait(is_answered, (char[]){"five:none;"}), "nor one behind that");
    hit(c, "six", "x");
    ok(is_answered((char[]){"six:none;"}), "nor one while it is down: at once");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
}

static void test_later_hits(void)
{
    buf_reset(&answered);
    struct channel *const c = puppet_start("later");
    void *const turn = puppet_open_turn(c, "t1");
    hit(c, "one", "later");
    ok(kit_wait(is_answered, (char[]){"one:later;"}), "an answer is promised");
    hit(c, "two", "later");
    ok(kit_wait(is_answered, (char[]){"two:later;"}), "another one");
    puppet_say(c, turn, "respond 2 done");
    ok(kit_wait(is_answered, (char[]){"two:202:-:done;"}), "one comes from another callback");
    puppet_say(c, turn, "respond 2 again");
    puppet_say(c, turn, "respond 1 first");
    ok(kit_wait(is_answered, (char[]){"one:202:-:first;"}), "and the other one");
    ok(!strstr(answered.p, "again"), "a second answer is ignored");
    hit(c, "three", "later");
    ok(kit_wait(is_answered, (char[]){"three:later;"}), "one more");
    hit(c, "four", "crash");
    ok(kit_wait(is_answered, (char[]){"three:none;"}), "a death answers it with nothing");
    ok(puppet_wait_written("resumed"), "in another life");
    puppet_say(c, turn, "respond 3 late");
    hit(c, "five", "later");
    ok(kit_wait(is_answered, (char[]){"five:later;"}), "a late answer is ignored");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
    ok(is_answered((char[]){"five:none;"}), "with nothing for the last one");
}

static void frame(struct channel *c, int64_t socket, enum tc_socket_event event, const char *text)
{
    c->ops->frame(c, &(struct tc_frame){socket, event, text, strlen(text)});
}

static void test_run_time_secrets(void)
{
    struct channel *const c = puppet_start("secrets");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_say(c, turn, "secret bot.token run-time-canary");
    ok(kit_wait_told("secret:bot.token:run-time-canary;"), "a secret reaches the host");
    ok(kit_wait_log("after: ***"), "and is masked in what the connector logs from then on");
    puppet_say(c, turn, "secret bot.token");
    ok(kit_wait_told("secret:bot.token:-;"), "it is forgotten");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
}

static void test_stored_texts(void)
{
    kit_forget();
    kit_logged();
    const struct conf_instance spec = puppet_spec_of("stores");
    struct tc_err err;
    struct channel *const c = kit_make(&spec, "puppet", &kit_host, &err);
    c->ops->load(c, "cursor", "4");
    is_int(c->ops->wait_started(c, &err), 0, "an instance");
    has_str(puppet_written(), "stored 4\n", "has in init what was stored before");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    puppet_say(c, turn, "store cursor 5");
    ok(kit_wait_told("store:cursor:5;"), "what it stores reaches the host");
    puppet_say(c, turn, "crash-once");
    ok(puppet_wait_written("stored 5\n"), "and its next life");
    puppet_say(c, turn, "store cursor");
    ok(kit_wait_told("store:cursor:-;"), "it is removed");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
}

static void test_sockets(void)
{
    struct channel *const c = puppet_start("sockets");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_say(c, turn, "socket wss://a.example/");
    ok(kit_wait_told("open:1:wss://a.example/:11:12;header:X-Bot={option:key};"),
       "a socket is opened, with its headers");
    frame(c, 1, TC_SOCKET_OPEN, "");
    frame(c, 1, TC_SOCKET_TEXT, "submit from a frame");
    ok(puppet_wait_written("frame 1 1 19:submit from a frame\n"), "what comes on it arrives");
    puppet_say(c, turn, "frame 1 hello");
    ok(kit_wait_told("send:1:hello;"), "what it says goes out");
    puppet_say(c, turn, "bytes 1");
    ok(kit_wait_told("bytes:1:2;"), "and bytes");
    frame(c, 1, TC_SOCKET_BINARY, "b\xff");
    ok(puppet_wait_written("frame 1 3 2:b\xff\n"), "bytes come in");
    puppet_say(c, turn, "route /in");
    ok(kit_wait_told("route:/in;"), "a route");
    puppet_say(c, turn, "crash-once");
    ok(kit_wait_told("close:1;"), "a death closes it");
    ok(puppet_wait_written("resumed"), "in another life");
    puppet_say(c, turn, "socket wss://b.example/");
    ok(kit_wait_told("open:2:wss://b.example/:11:12;"), "the host knows it by another number");
    is_int((long long)puppet_count(puppet_written(), "socket 1\n"), 2, "the plugin by its own");
    frame(c, 1, TC_SOCKET_CLOSED, "of the first life");
    frame(c, 2, TC_SOCKET_OPEN, "");
    puppet_say(c, turn, "frame 1 again");
    ok(kit_wait_told("send:2:again;"), "translated on the way out");
    frame(c, 2, TC_SOCKET_CLOSED, "gone");
    ok(puppet_wait_written("frame 1 2 4:gone\n"), "and on the way in");
    ok(!strstr(puppet_written(), "of the first"), "the first life's is forgotten");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
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
