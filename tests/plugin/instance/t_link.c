/* SPDX-License-Identifier: MIT
 * Tests of the websocket that the host keeps open for a plugin (tc_link_keep), with a clock that
 * only moves when the test says so. */
#include <stdio.h>

#include "base/sys/clock.h"
#include "plugin/actor.h"
#include "tap/tap.h"

#define SECOND 1000

/* ---- the plugin ---- */

static enum { OPENS, ASKS, ASKS_NOTHING, FAILS, OPENS_WRONG } connects_how;
static struct buf connects; /* the arguments of connect */
static struct buf results;  /* of the services */

static int connect_link(struct tc_turn *lobby, int status, unsigned unopened)
{
    buf_printf(&connects, "%d:%u;", status, unopened);
    switch (connects_how) {
    case OPENS:
        return tc_link_open(lobby, TC_SOCKET(.url = "wss://a.test/"));
    case ASKS:
        return tc_http(lobby, TC_HTTP(.url = "https://a.test/where", .tag = "where"));
    case ASKS_NOTHING:
        return 0;
    case OPENS_WRONG:
        return tc_link_open(lobby, TC_SOCKET(.url = "ftp://a.test/"));
    case FAILS:
        break;
    }
    return -1;
}

static const char *heartbeat(struct tc_turn *lobby)
{
    return tc_sprint(lobby, "%s", "beat");
}

static const struct tc_link_fault faults[] = {{4004, "mend the token"}, {0}};
static struct tc_link table;

static void keep(struct tc_turn *t)
{
    buf_printf(&results, "keep=%d;", tc_link_keep(t->inst, &table));
}

#define STEP(name, call)                                                                           \
    static void name(struct tc_turn *t)                                                            \
    {                                                                                              \
        buf_printf(&results, #name "=%d;", call);                                                  \
    }
STEP(greet, tc_link_hello(t, 10 * SECOND))
STEP(greet_without_beats, tc_link_hello(t, 0))
STEP(become_ready, tc_link_ready(t, "new session"))
STEP(answer_beat, tc_link_alive(t))
STEP(renew_at_once, tc_link_renew(t, 0))
STEP(renew_later, tc_link_renew(t, 7 * SECOND))
STEP(renew_in_backoff, tc_link_renew(t, -1))
STEP(replace_at_once, tc_link_replace(t, 0))
STEP(replace_in_backoff, tc_link_replace(t, -1))
STEP(stop, tc_link_stop(t, "switched off"))
STEP(open_now, tc_link_open(t, TC_SOCKET(.url = "wss://b.test/")))
STEP(send_text, tc_link_send(t, "hello"))

/* ---- the host ---- */

static struct instance *begin(struct tc_link how)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    how.size = sizeof how;
    how.service = "Test";
    how.connect = connect_link;
    table = how;
    connects_how = OPENS;
    buf_reset(&connects);
    buf_reset(&results);
    actor_logged();
    actor_deliver(in, t, TC_START, keep);
    return in;
}

static void pass(struct instance *in, int64_t ms)
{
    clock_fake_advance(ms);
    instance_call_on_wake(in);
}

static int64_t due_ms(const struct instance *in)
{
    const int64_t due = instance_next_wake_ms(in);
    return due == INT64_MAX ? -1 : due - clock_mono_ms();
}

static void frame(struct instance *in, int64_t socket, enum tc_socket_event event, const char *text,
                  void (*inside)(struct tc_turn *))
{
    const struct tc_frame f = {.socket = socket, .event = event, .text = text, .len = strlen(text)};
    buf_reset(&actor_told);
    buf_reset(&results);
    actor_inside = inside;
    instance_call_on_frame(in, &f);
    actor_inside = NULL;
}

static void text(struct instance *in, int64_t socket, void (*inside)(struct tc_turn *))
{
    frame(in, socket, TC_SOCKET_TEXT, "x", inside);
}

static void end(struct instance *in, int64_t socket, const char *reason)
{
    frame(in, socket, TC_SOCKET_CLOSED, reason, NULL);
}

static const char *told(void)
{
    static char copy[512];
    snprintf(copy, sizeof copy, "%s", actor_told.len ? actor_told.p : "");
    buf_reset(&actor_told);
    return copy;
}

static void between(int64_t found, int64_t least, int64_t most, const char *what)
{
    ok(found >= least && found <= most, "%s: %lld of %lld to %lld", what, (long long)found,
       (long long)least, (long long)most);
}

/* Heartbeats are sent; connection 1 is in use. */
static struct instance *begin_ready(void)
{
    struct instance *const in = begin((struct tc_link){.heartbeat = heartbeat});
    pass(in, 1);
    text(in, 1, greet);
    text(in, 1, become_ready);
    actor_logged();
    return in;
}

/* ---- tests ---- */

static void test_backoff(void)
{
    struct instance *const in = begin((struct tc_link){0});
    is_str(results.p, "keep=0;", "tc_link_keep");
    is_str(told(), "", "opens nothing in the callback");
    pass(in, 1);
    is_str(told(), "open:1:wss://a.test/:0;", "but at once");
    is_int(due_ms(in), 20 * SECOND, "20 s for the greeting");
    pass(in, 20 * SECOND);
    is_str(told(), "close:1;", "then the connection is given up");
    is_int(due_ms(in), -1, "  and its end awaited");
    end(in, 1, "closed");
    has_str(actor_logged(), "connection to Test lost: closed; reconnecting", "which is logged");
    static const int64_t most[] = {SECOND,      2 * SECOND,  4 * SECOND,  8 * SECOND,
                                   16 * SECOND, 32 * SECOND, 64 * SECOND, 64 * SECOND};
    for (int i = 0; i < 8; i++) {
        between(due_ms(in), most[i] - most[i] / 3, most[i], "the back-off");
        pass(in, due_ms(in));
        end(in, i + 2, "reset");
    }
    ok(!strstr(actor_logged(), "lost"), "the attempts that follow are not logged");
    is_str(connects.p, "0:0;0:1;0:2;0:3;0:4;0:5;0:6;0:7;0:8;", "connect is told of each in vain");
    pass(in, due_ms(in));
    text(in, 10, become_ready);
    has_str(actor_logged(), "connected to Test (new session)", "one that is ready");
    is_int(due_ms(in), -1, "  needs no timer without heartbeats");
    end(in, 10, "reset");
    has_str(actor_logged(), "connection to Test lost: reset", "  and ends the back-off");
    between(due_ms(in), 660, SECOND, "  whose next one is short");
    pass(in, due_ms(in));
    is_str(connects.p + strlen(connects.p) - 4, "0:0;", "  and the number in vain");
    instance_free(in);
}

static void test_limits(void)
{
    struct instance *in =
        begin((struct tc_link){.hello_ms = 5000, .backoff_ms = 300, .backoff_max_ms = 500});
    pass(in, 1);
    is_int(due_ms(in), 5000, "another limit of the greeting");
    text(in, 1, greet_without_beats);
    is_int(due_ms(in), 5000, "  which counts again until it is ready");
    end(in, 1, "reset");
    between(due_ms(in), 200, 300, "another back-off");
    pass(in, due_ms(in));
    end(in, 2, "reset");
    between(due_ms(in), 334, 500, "  which is cut");
    instance_free(in);

    in = begin((struct tc_link){.hello_ms = -1});
    pass(in, 1);
    is_int(due_ms(in), -1, "a service without a greeting: no limit");
    frame(in, 1, TC_SOCKET_OPEN, "", NULL);
    is_str(told(), "", "  the plugin is not told that it is open");
    has_str(actor_logged(), "connected to Test", "  and then it is ready");
    instance_free(in);
}

static void test_heartbeats(void)
{
    struct instance *const in = begin((struct tc_link){.heartbeat = heartbeat});
    pass(in, 1);
    text(in, 1, greet);
    is_str(results.p, "greet=0;", "tc_link_hello");
    between(due_ms(in), 1, 10 * SECOND, "the first heartbeat");
    text(in, 1, greet);
    is_str(results.p, "greet=-1;", "  of one greeting");
    text(in, 1, become_ready);
    pass(in, due_ms(in));
    is_str(told(), "frame:1:1:x;send:1:4;", "is sent");
    is_int(due_ms(in), 10 * SECOND, "the next one");
    text(in, 1, answer_beat);
    pass(in, 10 * SECOND);
    has_str(told(), "send:1:4;", "is sent after the answer");
    actor_logged();
    pass(in, 10 * SECOND);
    is_str(told(), "close:1;", "without one the connection is given up");
    has_str(actor_logged(), "Test does not answer heartbeats; reconnecting", "  which is logged");
    end(in, 1, "closed");
    is_str(actor_logged(), "", "  once");
    is_int(due_ms(in), 1, "another one follows at once");
    pass(in, 1);
    text(in, 2, greet);
    text(in, 2, become_ready);
    end(in, 2, "reset");
    between(due_ms(in), 1334, 2 * SECOND, "not so after one that has not lasted");
    instance_free(in);
}

static void test_joining(void)
{
    struct instance *const in = begin((struct tc_link){.heartbeat = heartbeat});
    pass(in, 1);
    text(in, 1, greet);
    for (int i = 0; i < 3; i++) {
        pass(in, due_ms(in));
        has_str(told(), "send:1:4;", "a heartbeat before it is ready");
        text(in, 1, answer_beat);
    }
    actor_logged();
    pass(in, due_ms(in));
    is_str(told(), "frame:1:1:x;close:1;", "not a fourth one");
    has_str(actor_logged(), "Test does not begin a session; reconnecting", "  which is logged");
    end(in, 1, "closed");
    pass(in, 1);
    text(in, 2, greet);
    text(in, 2, answer_beat);
    end(in, 2, "reset");
    between(due_ms(in), 1334, 2 * SECOND, "an answered heartbeat alone does not end the back-off");
    instance_free(in);
}

static void test_stop(void)
{
    struct instance *in = begin((struct tc_link){.faults = faults});
    pass(in, 1);
    end(in, 1, "closed by the service: 4009 timed out");
    pass(in, due_ms(in));
    is_str(connects.p, "0:0;4009:1;", "connect is told the status");
    actor_logged();
    end(in, 2, "closed by the service: 4004 no");
    has_str(actor_logged(),
            "disconnected from Test for good: mend the token; then restart the instance",
            "a fault");
    is_int(due_ms(in), -1, "  after which nothing is tried");
    actor_deliver(in, actor_open(in, "t2"), TC_START, keep);
    is_int(due_ms(in), -1, "  nor when it is to be kept once more");
    instance_free(in);

    in = begin((struct tc_link){.faults = faults});
    pass(in, 1);
    text(in, 1, become_ready);
    actor_logged();
    text(in, 1, stop);
    has_str(told(), "close:1;", "the plugin ends it");
    has_str(actor_logged(), "for good: switched off;", "  which is logged");
    text(in, 1, stop);
    is_str(results.p ? results.p : "", "", "  after which no frame is passed on");
    end(in, 1, "closed");
    is_str(actor_logged(), "", "  and nothing more is logged");
    is_int(due_ms(in), -1, "  or tried");
    instance_free(in);
}

static void test_renew(void)
{
    struct instance *const in = begin_ready();
    text(in, 1, answer_beat);
    text(in, 1, renew_later);
    is_str(told(), "frame:1:1:x;close:1;", "tc_link_renew");
    is_int(due_ms(in), -1, "  no heartbeat follows");
    text(in, 1, answer_beat);
    is_str(told(), "", "  and no frame of that connection is passed on");
    end(in, 1, "closed");
    is_str(actor_logged(), "", "  which is no loss");
    is_int(due_ms(in), 7 * SECOND, "  the next one as late as it says");
    pass(in, 7 * SECOND);
    is_str(told(), "open:2:wss://a.test/:0;", "  and not before");
    end(in, 2, "reset");
    between(due_ms(in), 1334, 2 * SECOND, "  the one behind it after the back-off");
    pass(in, due_ms(in));
    text(in, 3, greet);
    text(in, 3, become_ready);
    text(in, 3, renew_at_once);
    end(in, 3, "closed");
    between(due_ms(in), 2667, 4 * SECOND, "at once means later, when the last one did not last");
    pass(in, due_ms(in));
    text(in, 4, greet);
    text(in, 4, become_ready);
    text(in, 4, answer_beat);
    text(in, 4, renew_at_once);
    end(in, 4, "closed");
    is_int(due_ms(in), 1, "else at once");
    pass(in, 1);
    text(in, 5, greet);
    text(in, 5, become_ready);
    text(in, 5, answer_beat);
    actor_logged();
    text(in, 5, renew_in_backoff);
    end(in, 5, "gone");
    has_str(actor_logged(), "connection to Test lost: gone", "after the back-off: logged");
    between(due_ms(in), 660, SECOND, "  and waited for");
    instance_free(in);
}

static void test_replace(void)
{
    struct instance *const in = begin((struct tc_link){0});
    pass(in, 1);
    text(in, 1, become_ready);
    actor_logged();
    text(in, 1, replace_at_once);
    is_str(results.p, "replace_at_once=0;", "tc_link_replace");
    is_str(told(), "frame:1:1:x;", "  closes nothing");
    text(in, 1, replace_at_once);
    is_str(results.p, "replace_at_once=-1;", "  once");
    pass(in, 1);
    is_str(told(), "frame:1:1:x;open:2:wss://a.test/:0;", "  opens the next one");
    frame(in, 2, TC_SOCKET_OPEN, "", NULL);
    text(in, 1, send_text);
    is_str(told(), "frame:1:1:x;send:1:5;", "the old one is in use, and answered there");
    text(in, 1, become_ready);
    is_str(results.p, "become_ready=-1;", "  but is not the new one");
    text(in, 1, renew_at_once);
    is_str(results.p, "renew_at_once=-1;", "  nor renewed");
    text(in, 2, become_ready);
    is_str(told(), "frame:2:1:x;close:1;", "until the next one is ready");
    is_str(actor_logged(), "", "  which is not worth a line");
    text(in, 1, send_text);
    is_str(told(), "", "then it is not heard any more");
    end(in, 1, "closed");
    is_int(due_ms(in), -1, "  and its end is nothing");

    text(in, 2, replace_in_backoff);
    between(due_ms(in), 660, SECOND, "later, if the service has too many");
    end(in, 2, "gone");
    is_str(actor_logged(), "", "the end of the old one is not worth a line");
    pass(in, due_ms(in));
    text(in, 3, become_ready);
    is_str(told(), "frame:3:1:x;", "and nothing is left to close");
    instance_free(in);
}

static void reply(struct instance *in, const char *tag, enum tc_next next,
                  void (*inside)(struct tc_turn *))
{
    struct outbound_reply *const r = actor_reply(1, TC_OK, false);
    r->reply.tag = tag;
    buf_reset(&actor_told);
    actor_wish = (struct tc_verdict){.next = next, .reason = "why not"};
    actor_inside = inside;
    instance_call_on_reply(in, NULL, r);
    actor_inside = NULL;
    actor_wish = (struct tc_verdict){0};
}

static void test_asking(void)
{
    struct instance *const in = begin((struct tc_link){.tag = "where"});
    connects_how = ASKS;
    actor_forget_batches();
    pass(in, 1);
    is_int((long long)actor_n_batches, 1, "a request that asks where to connect");
    is_int(due_ms(in), -1, "  has the time that it needs");
    reply(in, "other", TC_NEXT_DONE, NULL);
    reply(in, "where", TC_NEXT_AGAIN, NULL);
    is_int(due_ms(in), -1, "  not ended by other replies, nor by one after which it is repeated");
    is_str(actor_logged(), "", "  and not logged");
    reply(in, "where", TC_NEXT_DONE, open_now);
    is_str(told(), "open:1:wss://b.test/:0;", "on_reply opens the websocket");
    end(in, 1, "reset");
    pass(in, due_ms(in));
    reply(in, "where", TC_NEXT_DONE, NULL);
    between(due_ms(in), 1334, 2 * SECOND, "on_reply opens nothing: asked again");
    pass(in, due_ms(in));
    reply(in, "where", TC_NEXT_DONE, renew_later);
    is_int(due_ms(in), 7 * SECOND, "  or when it says");
    pass(in, 7 * SECOND);
    reply(in, "where", TC_NEXT_DONE, open_now);
    text(in, 2, become_ready);
    end(in, 2, "reset");
    pass(in, due_ms(in));
    reply(in, "where", TC_NEXT_DONE, open_now);
    text(in, 3, become_ready);
    text(in, 3, replace_at_once);
    pass(in, 1);
    actor_logged();
    reply(in, "where", TC_NEXT_FAIL, NULL);
    has_str(actor_logged(), "cannot ask Test where to connect: why not; retrying", "logged");
    instance_free(in);
}

static void test_failing_connects(void)
{
    struct instance *const in = begin((struct tc_link){.tag = "where"});
    connects_how = FAILS;
    pass(in, 1);
    has_str(actor_logged(), "cannot connect to Test; retrying", "connect fails: logged");
    between(due_ms(in), 660, SECOND, "  and repeated");
    connects_how = ASKS_NOTHING;
    pass(in, due_ms(in));
    is_str(actor_logged(), "", "  logged once");
    between(due_ms(in), 1334, 2 * SECOND, "connect does nothing: repeated, too");
    connects_how = OPENS_WRONG;
    pass(in, due_ms(in));
    has_str(actor_logged(), "tc_socket_open: the URL is neither wss: nor ws:", "a wrong URL");
    between(due_ms(in), 2667, 4 * SECOND, "  repeated");
    instance_free(in);
}

static void use_none(struct tc_turn *t)
{
    actor_logged();
    is_int(tc_link_ready(t, NULL), -1, "a step without a link");
    has_str(actor_logged(), "tc_link_step: tc_link_keep has not been called", "  is told");
    is_int(tc_link_send(t, "x"), -1, "a text without a link");
    is_int(tc_link_keep(t->inst, TC_LINK(.service = "Test")), -1, "a table without connect");
    has_str(actor_logged(), "tc_link_keep: the service or its function connect is missing",
            "  is told");
    is_int(tc_link_keep(t->inst, NULL), -1, "no table");
    is_int(tc_link_keep(t->inst, &table), 0, "a valid one");
    is_int(tc_link_open(t, TC_SOCKET(.url = "wss://a.test/")), -1, "opened at the wrong time");
    is_int(tc_link_renew(t, 0), -1, "renewed before there is one");
    is_int(tc_link_replace(t, 0), -1, "replaced before there is one");
    is_int(tc_link_send(t, "x"), -1, "sent before there is one");
    is_int(tc_link_send(t, NULL), -1, "nothing sent");
}

static void test_misuse(void)
{
    struct instance *const in = actor_make(&actor_host);
    actor_deliver(in, actor_open(in, "t1"), TC_START, use_none);
    is_int(due_ms(in), 1, "the timer is that of tc_link_keep");
    instance_free(in);
}

int main(void)
{
    plan_lazy();
    clock_fake(1000000, 1790001000);
    actor_begin_log();
    test_backoff();
    test_limits();
    test_heartbeats();
    test_joining();
    test_stop();
    test_renew();
    test_replace();
    test_asking();
    test_failing_connects();
    test_misuse();
    buf_fini(&connects);
    buf_fini(&results);
    actor_end();
}
