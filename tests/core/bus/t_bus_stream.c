/* SPDX-License-Identifier: MIT
 * Names on the servers, the configuration of streams, and which ones that are there can be used. */
#include "core/bus/bus_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "event/json/json_reader.h"
#include "tap/tap.h"

static const struct bus_names names = {"tc", "h1"};

static void test_names(void)
{
    CLEANUP_BUF struct buf b = {0};
    bus_stream_name(&b, &names, BUS_EVENTS);
    buf_add_char(&b, ' ');
    bus_stream_name(&b, &names, BUS_STATES);
    buf_add_char(&b, ' ');
    bus_stream_name(&b, &names, BUS_HOSTS);
    buf_add_char(&b, ' ');
    bus_stream_name(&b, &names, BUS_CONF);
    is_str(b.p, "TC_EV TC_STATE KV_tc_host KV_tc_conf", "names of streams");
    buf_reset(&b);
    bus_stream_subject(&b, &names, BUS_EVENTS, "h1", "t");
    buf_add_char(&b, ' ');
    bus_stream_subject(&b, &names, BUS_STATES, "*", "*");
    buf_add_char(&b, ' ');
    bus_stream_subject(&b, &names, BUS_HOSTS, "h2", NULL);
    is_str(b.p, "tc.ev.h1.t tc.state.*.* $KV.tc_host.h2", "subjects for publishing");
    buf_reset(&b);
    bus_stream_subject(&b, &names, BUS_TURNS, "new.telegram", "t");
    buf_add_char(&b, ' ');
    bus_stream_subject(&b, &names, BUS_WORK, "host", "h2");
    is_str(b.p, "tc.turn.new.telegram.t tc.work.host.h2", "subjects of work");
    buf_reset(&b);
    bus_stream_stored_subject(&b, &names, BUS_EVENTS, "*", "t");
    buf_add_char(&b, ' ');
    bus_stream_stored_subject(&b, &names, BUS_STATES, "*", "*");
    buf_add_char(&b, ' ');
    bus_stream_stored_subject(&b, &names, BUS_CONF, "vis.*", NULL);
    is_str(b.p, "tc.live.*.t tc.known.*.* tc.conf.vis.*", "subjects for listening");
    buf_reset(&b);
    bus_stream_request_subject(&b, &names, "h2", "cancel");
    is_str(b.p, "tc.h.h2.cancel", "subjects of requests");
    ok(bus_stream_is_token("0a-_Z") && !bus_stream_is_token("") && !bus_stream_is_token("a.b") &&
           !bus_stream_is_token("*") && !bus_stream_is_token("a b"),
       "tokens of a subject");
}

/* As STREAM.INFO answers, with one part replaced. */
static char *info(enum bus_stream stream, const char *from, const char *to)
{
    CLEANUP_BUF struct buf config = {0};
    struct buf b = {0};
    bus_stream_config(&config, &names, stream, 1);
    const char *const at = from ? strstr(config.p, from) : NULL;
    if (from && !at)
        bail("no %s in %s", from, config.p);
    buf_add_str(&b, "{\"config\":");
    buf_add(&b, config.p, at ? (size_t)(at - config.p) : config.len);
    if (at)
        buf_printf(&b, "%s%s", to, at + strlen(from));
    buf_add_char(&b, '}');
    return buf_steal(&b);
}

static void judge(enum bus_stream stream, const char *from, const char *to,
                  enum bus_stream_fit wanted, const char *wanted_why)
{
    CLEANUP_FREE char *text = info(stream, from, to);
    CLEANUP_BUF struct buf why = {0};
    ok(json_reader_is_valid((struct str){text, strlen(text)}),
       "the configuration is valid JSON: %s", text);
    is_int(bus_stream_compare((struct str){text, strlen(text)}, &names, stream, 1, &why), wanted,
           "%s instead of %s", to ? to : "nothing", from ? from : "nothing");
    is_str(why.len ? why.p : "", wanted_why, "the reported difference");
}

static void test_compare(void)
{
    for (int i = 0; i < BUS_STREAMS; i++)
        judge((enum bus_stream)i, NULL, NULL, BUS_STREAM_SAME, "");
    judge(BUS_EVENTS, "tc.ev.>\"]", "tc.ev.\\u003e\"]", BUS_STREAM_SAME, "");
    judge(BUS_EVENTS, "tc.ev.>\"]", "tc.other.>\"]", BUS_STREAM_USELESS, "subjects");
    judge(BUS_EVENTS, "\"limits\"", "\"workqueue\"", BUS_STREAM_USELESS, "retention");
    judge(BUS_WORK, "\"workqueue\"", "\"limits\"", BUS_STREAM_USELESS, "retention");
    judge(BUS_EVENTS, "\"allow_direct\":true", "\"allow_direct\":false", BUS_STREAM_USELESS,
          "allow_direct");
    judge(BUS_EVENTS, "\"dest\":\"tc.live.>\"", "\"dest\":\"x.>\"", BUS_STREAM_USELESS,
          "republish");
    judge(BUS_STATES, "\"republish\"", "\"other\"", BUS_STREAM_USELESS, "republish");
    judge(BUS_HOSTS, "\"max_age\":15000000000", "\"max_age\":1000000000", BUS_STREAM_USELESS,
          "max_age");
    judge(BUS_CONF, "\"src\":\"$KV.tc_conf.>\"", "\"src\":\"$KV.>\"", BUS_STREAM_USELESS,
          "republish");
    judge(BUS_CONF, "\"max_age\":0", "\"max_age\":7", BUS_STREAM_OTHER_LIMITS,
          "max_age 7 instead of 0");
    judge(BUS_EVENTS, "\"max_age\":86400000000000", "\"max_age\":5", BUS_STREAM_OTHER_LIMITS,
          "max_age 5 instead of 86400000000000");
    judge(BUS_EVENTS, "\"num_replicas\":1", "\"num_replicas\":3", BUS_STREAM_OTHER_LIMITS,
          "num_replicas 3 instead of 1");
    judge(BUS_EVENTS, "\"max_msgs_per_subject\":20000", "\"max_msgs_per_subject\":1",
          BUS_STREAM_OTHER_LIMITS, "max_msgs_per_subject 1 instead of 20000");
}

static void test_nonsense(void)
{
    CLEANUP_BUF struct buf why = {0};
    is_int(bus_stream_compare(STR("{\"config\":"), &names, BUS_EVENTS, 1, &why), BUS_STREAM_USELESS,
           "a configuration that is not JSON is unusable");
}

int main(void)
{
    plan_lazy();
    test_names();
    test_compare();
    test_nonsense();
    return 0;
}
