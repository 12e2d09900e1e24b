/* SPDX-License-Identifier: MIT
 * What a host needs on the NATS servers, and what is told of what it lacks. */
#include "core/bus/bus_permission.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "tap/tap.h"

static struct bus_permission list[BUS_PERMISSIONS_MAX];

static const struct bus_permission *find(size_t n, bool is_subscription, const char *subject)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].is_subscription == is_subscription && strcmp(list[i].subject, subject) == 0)
            return &list[i];
    return NULL;
}

/* The pattern of the manual that permits the subject: "PREFIX.>". */
static bool permits(const char *pattern, const char *subject)
{
    const size_t len = strlen(pattern) - 1;
    return pattern[len] == '>' && strncmp(pattern, subject, len) == 0 && subject[len];
}

/* Of a host h1 whose prefix is tc; ">": published, "<": subscribed to. */
static const char *const all[] = {
    ">$JS.API.INFO",
    ">$JS.API.STREAM.INFO.doctor",
    ">$JS.API.STREAM.CREATE.doctor",
    ">$JS.API.DIRECT.GET.doctor",
    ">$JS.API.CONSUMER.DURABLE.CREATE.doctor.doctor",
    ">$JS.API.CONSUMER.MSG.NEXT.doctor.doctor",
    ">$JS.ACK.doctor.doctor",
    ">_INBOX.doctor",
    "<_INBOX.doctor.*",
    ">tc.h.doctor.doctor",
    "<tc.h.h1.*",
    "<tc.live.*.doctor",
    "<tc.known.*.*",
    "<tc.conf.*",
    ">tc.ev.doctor.doctor",
    ">tc.state.doctor.doctor",
    ">$KV.tc_host.doctor",
    ">$KV.tc_lead.doctor",
    ">$KV.tc_conf.doctor",
    ">tc.turn.doctor.doctor",
    ">tc.work.doctor.doctor",
    ">$KV.tc_run.doctor",
    ">$KV.tc_home.doctor",
    ">$KV.tc_lock.doctor",
};

static void test_list(struct arena *a)
{
    static const char *const publish[] = {"tc.>", "$JS.API.>", "$JS.ACK.>", "_INBOX.>", "$KV.tc_>"};
    static const char *const subscribe[] = {"tc.>", "_INBOX.>"};
    char host[] = "h1";
    const struct conf c = {.bus.prefix = "tc", .host_name = host};
    const size_t n = bus_permission_list(&c, a, list);
    for (size_t i = 0; i < n; i++) {
        const char *const *const known = list[i].is_subscription ? subscribe : publish;
        const size_t k = list[i].is_subscription ? 2 : 4;
        bool is_known = strncmp(list[i].subject, "$KV.tc_", 7) == 0;
        for (size_t j = 0; j < k; j++)
            is_known |= permits(known[j], list[i].subject);
        ok(is_known && permits(list[i].pattern, list[i].subject) && !list[i].is_missing,
           "%s is of %s, which the manual permits", list[i].subject, list[i].pattern);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ok(find(n, all[i][0] == '<', all[i] + 1), "%s", all[i]);
    is_int((long)n, sizeof all / sizeof *all, "the list has no other subjects");
    ok(find(n, false, "$KV.tc_lock.doctor") && find(n, false, "tc.work.doctor.doctor") &&
           find(n, true, "tc.h.h1.*") && find(n, false, "tc.h.doctor.doctor"),
       "the list has buckets, streams and requests between hosts");
    ok(!find(n, true, "agentos.ag-ui.runs"), "without bus.runs the list has no subjects of runs");
}

static size_t list_runs(struct arena *a, bool ag_ui, bool ai_sdk)
{
    char host[] = "h1", inbox[] = "_INBOX.>", own[] = "replies.>";
    char *replies[] = {inbox, own, NULL};
    const struct conf c = {
        .bus = {.prefix = "x",
                .runs = {.key = "k", .replies = replies, .ag_ui = ag_ui, .ai_sdk = ai_sdk}},
        .host_name = host};
    const size_t n = bus_permission_list(&c, a, list);
    ok(find(n, false, "replies.doctor") && find(n, false, "$KV.x_lock.doctor"),
       "the list has replies to runs, and another prefix");
    return n;
}

static void test_runs(struct arena *a)
{
    size_t n = list_runs(a, true, false);
    ok(find(n, true, "agentos.ag-ui.runs") && find(n, true, "agentos.ag-ui.runs.h1") &&
           !find(n, true, "agentos.ai-sdk.runs"),
       "the list has the subjects of AG-UI");
    n = list_runs(a, false, true);
    ok(find(n, true, "agentos.ai-sdk.runs") && !find(n, true, "agentos.ag-ui.runs"),
       "the list has the subjects of the AI SDK");
}

static void test_missing(struct arena *a)
{
    CLEANUP_BUF struct buf out = {0};
    char host[] = "h1";
    const struct conf c = {.bus.prefix = "tc", .host_name = host};
    const size_t n = bus_permission_list(&c, a, list);
    list[n] =
        (struct bus_permission){.pattern = "behind.>", .subject = "behind", .is_missing = true};
    bus_permission_record(list, n, "Permissions Violation for Publish to \"tc.ev.doctor\"");
    bus_permission_record(list, n, "Permissions Violation for Publish to \"other\"");
    bus_permission_record(list, n,
                          "Permissions Violation for Subscription to \"tc.ev.doctor.doctor\"");
    bus_permission_record(list, n, "Slow Consumer");
    bus_permission_record(list, n, "Permissions Violation for Publish to");
    bus_permission_record(list, n, "Permissions Violation for Publish to \"");
    bus_permission_record(list, n, "Permissions Violation for Subscription to");
    bus_permission_record(list, n, "Trouble with \"tc.ev.doctor.doctor\"");
    bus_permission_write(list, n, &out);
    is_int((long)out.len, 0, "refusals of other subjects and other errors are ignored");
    bus_permission_record(list, n, "Permissions Violation for Subscription to \"tc.h.h1.*\"");
    bus_permission_write(list, n, &out);
    is_str(out.p, "subscribe: [\"tc.h.>\"]", "a refused subscription is reported with its pattern");
    buf_reset(&out);
    bus_permission_record(list, n,
                          "Permissions Violation for Publish to \"$JS.API.STREAM.INFO.doctor\"");
    bus_permission_record(list, n,
                          "Permissions Violation for Publish to \"$JS.API.DIRECT.GET.doctor\"");
    bus_permission_record(list, n, "Permissions Violation for Publish to \"$KV.tc_lock.doctor\"");
    bus_permission_write(list, n, &out);
    is_str(out.p, "publish: [\"$JS.API.>\", \"$KV.tc_lock.>\"], subscribe: [\"tc.h.>\"]",
           "each pattern is reported once, in the form of the server's configuration");
}

/* The first one of the list, and what is behind its end. */
static void test_first(struct arena *a)
{
    CLEANUP_BUF struct buf out = {0};
    char host[] = "h1";
    const struct conf c = {.bus.prefix = "tc", .host_name = host};
    const size_t n = bus_permission_list(&c, a, list);
    list[n] = (struct bus_permission){.pattern = "behind.>", .subject = "behind"};
    bus_permission_record(list, n, "Permissions Violation for Publish to \"behind\"");
    ok(!list[n].is_missing, "entries after the end of the list are not examined");
    bus_permission_record(list, n, "Permissions Violation for Publish to \"$JS.API.INFO\"");
    bus_permission_record(list, n,
                          "Permissions Violation for Publish to \"$JS.API.STREAM.INFO.doctor\"");
    bus_permission_write(list, n, &out);
    is_str(out.p, "publish: [\"$JS.API.>\"]",
           "two refused subjects of one pattern are reported as one pattern");
}

int main(void)
{
    struct arena a = {0};
    plan_lazy();
    test_list(&a);
    test_runs(&a);
    test_missing(&a);
    test_first(&a);
    arena_fini(&a);
    return 0;
}
