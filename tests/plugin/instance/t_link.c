/* SPDX-License-Identifier: MIT
 * Tests of the WebSocket that the host keeps open for a plugin (tc_link_keep), with a fake
 * clock. */
#include <stdio.h>

#include "base/sys/clock.h"
#include "plugin/actor.h"
#include "tap/tap.h"

#define SECOND 1000

/* ---- the plugin ---- */

static enum { OPENS, ASKS, ASKS_NOTHING, FAILS, OPENS_WRONG } connects_how;
static struct buf connects; /* the arguments of connect */
static struct buf results;  /* the results of the services */

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

static void advance_clock(struct instance *in, int64_t ms)
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

static void deliver_text(struct instance *in, int64_t socket, void (*inside)(struct tc_turn *))
{
    frame(in, socket, TC_SOCKET_TEXT, "x", inside);
}

static void end(struct instance *in, int64_t socket, const char *reason)
{
    frame(in, socket, TC_SOCKET_CLOSED, reason, NULL);
}

static const char *take_told(void)
{
    static char copy[512];
    snprintf(copy, sizeof copy, "%s", actor_told.len ? actor_told.p : "");
    buf_reset(&actor_told);
    return copy;
}

static void check_between(int64_t found, int64_t least, int64_t most, const char *what)
{
    ok(found >= least && found <= most, "%s: %lld of %lld to %lld", what, (long long)found,
       (long long)least, (long long)most);
}

/* Sends heartbeats over connection 1, which is ready. */
static struct instance *begin_ready(void)
{
    struct instance *const in = begin((struct tc_link){.heartbeat = heartbeat});
    advance_clock(in, 1);
    deliver_text(in, 1, greet);
    deliver_text(in, 1, become_ready);
    actor_logged();
    return in;
}

/* ---- tests ---- */

static void test_backoff(void)
{
    struct instance *const in = begin((struct tc_link){0});
    is_str(results.p, "keep=0;", "tc_link_keep");
    is_str(take_told(), "", "tc_link_keep opens no connection within the callback");
    advance_clock(in, 1);
    is_str(take_told(), "open:1:wss://a.test/:0;",
           "the connection is opened at once after the callback");
    is_int(due_ms(in), 20 * SECOND, "the limit of the greeting is 20 s");
    advance_clock(in, 20 * SECOND);
    is_str(take_told(), "close:1;", "a connection without a greeting is closed");
    is_int(due_ms(in), -1, "the end of the connection is awaited");
    end(in, 1, "closed");
    has_str(actor_logged(), "connection to Test lost: closed; reconnecting",
            "the lost connection is logged");
    static const int64_t most[] = {SECOND,      2 * SECOND,  4 * SECOND,  8 * SECOND,
                                   16 * SECOND, 32 * SECOND, 64 * SECOND, 64 * SECOND};
    for (int i = 0; i < 8; i++) {
        check_between(due_ms(in), most[i] - most[i] / 3, most[i], "the delay of the back-off");
        advance_clock(in, due_ms(in));
        end(in, i + 2, "reset");
    }
    ok(!strstr(actor_logged(), "lost"), "later failed attempts are not logged");
    is_str(connects.p, "0:0;0:1;0:2;0:3;0:4;0:5;0:6;0:7;0:8;",
           "connect gets the number of failed attempts");
    advance_clock(in, due_ms(in));
    deliver_text(in, 10, become_ready);
    has_str(actor_logged(), "connected to Test (new session)",
            "a connection that is ready is logged");
    is_int(due_ms(in), -1, "a ready connection without heartbeats needs no timer");
    end(in, 10, "reset");
    has_str(actor_logged(), "connection to Test lost: reset",
            "the loss of a ready connection is logged");
    check_between(due_ms(in), 660, SECOND, "the back-off begins again");
    advance_clock(in, due_ms(in));
    is_str(connects.p + strlen(connects.p) - 4, "0:0;",
           "the number of failed attempts begins again");
    instance_free(in);
}

static void test_limits(void)
{
    struct instance *in =
        begin((struct tc_link){.hello_ms = 5000, .backoff_ms = 300, .backoff_max_ms = 500});
    advance_clock(in, 1);
    is_int(due_ms(in), 5000, "a configured limit of the greeting");
    deliver_text(in, 1, greet_without_beats);
    is_int(due_ms(in), 5000, "a message before the connection is ready restarts the limit");
    end(in, 1, "reset");
    check_between(due_ms(in), 200, 300, "a configured back-off");
    advance_clock(in, due_ms(in));
    end(in, 2, "reset");
    check_between(due_ms(in), 334, 500, "a configured maximum of the back-off");
    instance_free(in);

    in = begin((struct tc_link){.hello_ms = -1});
    advance_clock(in, 1);
    is_int(due_ms(in), -1, "a service without a greeting has no limit");
    frame(in, 1, TC_SOCKET_OPEN, "", NULL);
    is_str(take_told(), "", "the plugin gets no event when the connection opens");
    has_str(actor_logged(), "connected to Test",
            "a connection without a greeting is ready at once");
    instance_free(in);
}

static void test_heartbeats(void)
{
    struct instance *const in = begin((struct tc_link){.heartbeat = heartbeat});
    advance_clock(in, 1);
    deliver_text(in, 1, greet);
    is_str(results.p, "greet=0;", "tc_link_hello");
    check_between(due_ms(in), 1, 10 * SECOND, "the delay of the first heartbeat");
    deliver_text(in, 1, greet);
    is_str(results.p, "greet=-1;", "a second greeting is refused");
    deliver_text(in, 1, become_ready);
    advance_clock(in, due_ms(in));
    is_str(take_told(), "frame:1:1:x;send:1:4;", "a heartbeat is sent");
    is_int(due_ms(in), 10 * SECOND, "the delay of the next heartbeat");
    deliver_text(in, 1, answer_beat);
    advance_clock(in, 10 * SECOND);
    has_str(take_told(), "send:1:4;", "the next heartbeat is sent after an answer");
    actor_logged();
    advance_clock(in, 10 * SECOND);
    is_str(take_told(), "close:1;", "a connection whose heartbeat is not answered is closed");
    has_str(actor_logged(), "Test does not answer heartbeats; reconnecting",
            "the missing answer is logged");
    end(in, 1, "closed");
    is_str(actor_logged(), "", "the end of that connection is not logged");
    is_int(due_ms(in), 1, "the next connection is opened at once");
    advance_clock(in, 1);
    deliver_text(in, 2, greet);
    deliver_text(in, 2, become_ready);
    end(in, 2, "reset");
    check_between(due_ms(in), 1334, 2 * SECOND, "the delay after a short connection");
    instance_free(in);
}

static void test_joining(void)
{
    struct instance *const in = begin((struct tc_link){.heartbeat = heartbeat});
    advance_clock(in, 1);
    deliver_text(in, 1, greet);
    for (int i = 0; i < 3; i++) {
        advance_clock(in, due_ms(in));
        has_str(take_told(), "send:1:4;", "heartbeats are sent before the session begins");
        deliver_text(in, 1, answer_beat);
    }
    actor_logged();
    advance_clock(in, due_ms(in));
    is_str(take_told(), "frame:1:1:x;close:1;",
           "no fourth heartbeat is sent before the session begins");
    has_str(actor_logged(), "Test does not begin a session; reconnecting",
            "the missing session is logged");
    end(in, 1, "closed");
    advance_clock(in, 1);
    deliver_text(in, 2, greet);
    deliver_text(in, 2, answer_beat);
    end(in, 2, "reset");
    check_between(due_ms(in), 1334, 2 * SECOND,
                  "the back-off continues after a heartbeat without a session");
    instance_free(in);
}

static void test_stop(void)
{
    struct instance *in = begin((struct tc_link){.faults = faults});
    advance_clock(in, 1);
    end(in, 1, "closed by the service: 4009 timed out");
    advance_clock(in, due_ms(in));
    is_str(connects.p, "0:0;4009:1;", "connect gets the close status");
    actor_logged();
    end(in, 2, "closed by the service: 4004 no");
    has_str(actor_logged(),
            "disconnected from Test for good: mend the token; then restart the instance",
            "a fault");
    is_int(due_ms(in), -1, "after a fatal status no connection is opened");
    actor_deliver(in, actor_open(in, "t2"), TC_START, keep);
    is_int(due_ms(in), -1, "tc_link_keep does not open a connection after a fatal status");
    instance_free(in);

    in = begin((struct tc_link){.faults = faults});
    advance_clock(in, 1);
    deliver_text(in, 1, become_ready);
    actor_logged();
    deliver_text(in, 1, stop);
    has_str(take_told(), "close:1;", "tc_link_stop closes the connection");
    has_str(actor_logged(), "for good: switched off;", "tc_link_stop is logged");
    deliver_text(in, 1, stop);
    is_str(results.p ? results.p : "", "", "after tc_link_stop no frame is passed on");
    end(in, 1, "closed");
    is_str(actor_logged(), "", "after tc_link_stop nothing is logged");
    is_int(due_ms(in), -1, "after tc_link_stop no connection is opened");
    instance_free(in);
}

static void test_renew(void)
{
    struct instance *const in = begin_ready();
    deliver_text(in, 1, answer_beat);
    deliver_text(in, 1, renew_later);
    is_str(take_told(), "frame:1:1:x;close:1;", "tc_link_renew closes the connection");
    is_int(due_ms(in), -1, "after tc_link_renew no heartbeat is sent");
    deliver_text(in, 1, answer_beat);
    is_str(take_told(), "", "after tc_link_renew no frame of the old connection is passed on");
    end(in, 1, "closed");
    is_str(actor_logged(), "", "tc_link_renew is not logged as a loss");
    is_int(due_ms(in), 7 * SECOND, "the next connection is opened after the given delay");
    advance_clock(in, 7 * SECOND);
    is_str(take_told(), "open:2:wss://a.test/:0;", "the next connection is opened");
    end(in, 2, "reset");
    check_between(due_ms(in), 1334, 2 * SECOND,
                  "the connection after it is opened after the back-off");
    advance_clock(in, due_ms(in));
    deliver_text(in, 3, greet);
    deliver_text(in, 3, become_ready);
    deliver_text(in, 3, renew_at_once);
    end(in, 3, "closed");
    check_between(due_ms(in), 2667, 4 * SECOND,
                  "a renewal at once after a short connection is delayed");
    advance_clock(in, due_ms(in));
    deliver_text(in, 4, greet);
    deliver_text(in, 4, become_ready);
    deliver_text(in, 4, answer_beat);
    deliver_text(in, 4, renew_at_once);
    end(in, 4, "closed");
    is_int(due_ms(in), 1, "a renewal at once after a long connection is not delayed");
    advance_clock(in, 1);
    deliver_text(in, 5, greet);
    deliver_text(in, 5, become_ready);
    deliver_text(in, 5, answer_beat);
    actor_logged();
    deliver_text(in, 5, renew_in_backoff);
    end(in, 5, "gone");
    has_str(actor_logged(), "connection to Test lost: gone",
            "the loss of the renewed connection is logged");
    check_between(due_ms(in), 660, SECOND, "the next connection after the loss is delayed");
    instance_free(in);
}

static void test_replace(void)
{
    struct instance *const in = begin((struct tc_link){0});
    advance_clock(in, 1);
    deliver_text(in, 1, become_ready);
    actor_logged();
    deliver_text(in, 1, replace_at_once);
    is_str(results.p, "replace_at_once=0;", "tc_link_replace");
    is_str(take_told(), "frame:1:1:x;", "tc_link_replace does not close the old connection");
    deliver_text(in, 1, replace_at_once);
    is_str(results.p, "replace_at_once=-1;", "a second tc_link_replace is refused");
    advance_clock(in, 1);
    is_str(take_told(), "frame:1:1:x;open:2:wss://a.test/:0;",
           "tc_link_replace opens the next connection");
    frame(in, 2, TC_SOCKET_OPEN, "", NULL);
    deliver_text(in, 1, send_text);
    is_str(take_told(), "frame:1:1:x;send:1:5;",
           "the old connection is used until the next one is ready");
    deliver_text(in, 1, become_ready);
    is_str(results.p, "become_ready=-1;", "the old connection cannot become ready");
    deliver_text(in, 1, renew_at_once);
    is_str(results.p, "renew_at_once=-1;", "the old connection cannot be renewed");
    deliver_text(in, 2, become_ready);
    is_str(take_told(), "frame:2:1:x;close:1;",
           "the old connection is closed when the next one is ready");
    is_str(actor_logged(), "", "a replacement is not logged");
    deliver_text(in, 1, send_text);
    is_str(take_told(), "", "frames of the old connection are not passed on after that");
    end(in, 1, "closed");
    is_int(due_ms(in), -1, "the end of the old connection has no effect");

    deliver_text(in, 2, replace_in_backoff);
    check_between(due_ms(in), 660, SECOND, "the delay after too many connections");
    end(in, 2, "gone");
    is_str(actor_logged(), "", "the end of the old connection is not logged");
    advance_clock(in, due_ms(in));
    deliver_text(in, 3, become_ready);
    is_str(take_told(), "frame:3:1:x;", "the old connection is not closed twice");
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
    advance_clock(in, 1);
    is_int((long long)actor_n_batches, 1, "a request for the address is sent");
    is_int(due_ms(in), -1, "the request has no limit of its own");
    reply(in, "other", TC_NEXT_DONE, NULL);
    reply(in, "where", TC_NEXT_AGAIN, NULL);
    is_int(due_ms(in), -1,
           "replies to other requests, and a reply after which the request is repeated, have no "
           "effect");
    is_str(actor_logged(), "", "a repeated request is not logged");
    reply(in, "where", TC_NEXT_DONE, open_now);
    is_str(take_told(), "open:1:wss://b.test/:0;", "on_reply opens the connection");
    end(in, 1, "reset");
    advance_clock(in, due_ms(in));
    reply(in, "where", TC_NEXT_DONE, NULL);
    check_between(due_ms(in), 1334, 2 * SECOND, "the delay after on_reply has opened nothing");
    advance_clock(in, due_ms(in));
    reply(in, "where", TC_NEXT_DONE, renew_later);
    is_int(due_ms(in), 7 * SECOND, "on_reply sets the delay");
    advance_clock(in, 7 * SECOND);
    reply(in, "where", TC_NEXT_DONE, open_now);
    deliver_text(in, 2, become_ready);
    end(in, 2, "reset");
    advance_clock(in, due_ms(in));
    reply(in, "where", TC_NEXT_DONE, open_now);
    deliver_text(in, 3, become_ready);
    deliver_text(in, 3, replace_at_once);
    advance_clock(in, 1);
    actor_logged();
    reply(in, "where", TC_NEXT_FAIL, NULL);
    has_str(actor_logged(), "cannot ask Test where to connect: why not; retrying",
            "the failed request is logged");
    instance_free(in);
}

static void test_failing_connects(void)
{
    struct instance *const in = begin((struct tc_link){.tag = "where"});
    connects_how = FAILS;
    advance_clock(in, 1);
    has_str(actor_logged(), "cannot connect to Test; retrying", "a connect that fails is logged");
    check_between(due_ms(in), 660, SECOND, "the delay after connect has failed");
    connects_how = ASKS_NOTHING;
    advance_clock(in, due_ms(in));
    is_str(actor_logged(), "", "a connect that fails again is not logged");
    check_between(due_ms(in), 1334, 2 * SECOND, "the delay after connect has done nothing");
    connects_how = OPENS_WRONG;
    advance_clock(in, due_ms(in));
    has_str(actor_logged(),
            "tc_socket_open: the URL is neither wss: nor ws:", "an invalid URL is logged");
    check_between(due_ms(in), 2667, 4 * SECOND, "  repeated");
    instance_free(in);
}

static void use_none(struct tc_turn *t)
{
    actor_logged();
    is_int(tc_link_ready(t, NULL), -1, "tc_link_ready without a link fails");
    has_str(actor_logged(), "tc_link_step: tc_link_keep has not been called",
            "tc_link_ready without a link is logged");
    is_int(tc_link_send(t, "x"), -1, "tc_link_send without a link fails");
    is_int(tc_link_keep(t->inst, TC_LINK(.service = "Test")), -1,
           "tc_link_keep without connect fails");
    has_str(actor_logged(), "tc_link_keep: the service or its function connect is missing",
            "tc_link_keep without connect is logged");
    is_int(tc_link_keep(t->inst, NULL), -1, "tc_link_keep without a table fails");
    is_int(tc_link_keep(t->inst, &table), 0, "tc_link_keep with a valid table succeeds");
    is_int(tc_link_open(t, TC_SOCKET(.url = "wss://a.test/")), -1,
           "tc_link_open outside of connect fails");
    is_int(tc_link_renew(t, 0), -1, "tc_link_renew without a connection fails");
    is_int(tc_link_replace(t, 0), -1, "tc_link_replace without a connection fails");
    is_int(tc_link_send(t, "x"), -1, "tc_link_send without a connection fails");
    is_int(tc_link_send(t, NULL), -1, "tc_link_send of NULL fails");
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
