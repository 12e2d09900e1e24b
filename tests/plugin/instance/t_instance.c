/* SPDX-License-Identifier: MIT
 * Tests of plugin/instance/instance.h and of the services of the host, with a plugin in this
 * program. */
#include "plugin/instance/instance.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "plugin/events.h"
#include "plugin/instance/services.h"
#include "tap/tap.h"

struct options {
    const char *token;
    int64_t depth;
};

static const struct tc_option options[] = {
    TC_OPTION(struct options, token, NULL, TC_SECRET, ""),
    TC_OPTION(struct options, depth, "3", 0, ""),
    {0},
};

struct turn_state {
    char zeros[32];
};

/* ---- the log of this test ---- */

static int log_fd;
static char log_path[512];

static void begin_log(void)
{
    snprintf(log_path, sizeof log_path, "%s/log", tap_tmpdir());
    FILE *const f = fopen(log_path, "w");
    log_fd = dup(fileno(f));
    fclose(f);
    log_setup(LOG_TEXT, LOG_DEBUG, log_fd);
}

/* Returns the log since the last call, valid until the next call. */
static const char *logged(void)
{
    static char text[8192];
    static size_t seen;
    size_t n;
    char *const all = tap_slurp(log_path, &n);
    snprintf(text, sizeof text, "%s", all + seen);
    seen = n;
    free(all);
    return text;
}

/* ---- the plugin ---- */

static struct buf calls;
static int verdict; /* the result of callbacks */
static bool zeroed;
static void (*inside)(struct tc_turn *); /* called in on_final */

static int on_narration(struct tc_turn *t, const struct tc_narration *n)
{
    struct turn_state *const state = t->state;
    zeroed = state->zeros[0] == 0 && memcmp(state->zeros, state->zeros + 1, 31) == 0;
    memset(state, 'x', sizeof *state);
    buf_printf(&calls, "narration:%s:%s;", t->id, n->text);
    return verdict;
}

static int on_thinking(struct tc_turn *t, const struct tc_thinking *th)
{
    (void)t;
    buf_printf(&calls, "thinking:%s;", th->text);
    return verdict;
}

static int on_final(struct tc_turn *t, const struct tc_final *f)
{
    (void)f;
    if (inside)
        inside(t);
    return verdict;
}

static int on_event(struct tc_turn *t, const struct tc_event *ev)
{
    (void)t;
    const struct tc_narration *const n = ev->payload;
    ok(n->meta->seq == ev->meta->seq, "the payload comes with its meta");
    buf_printf(&calls, "event:%s:%zu;", ev->name, ev->line_len);
    if (ev->kind == TC_NARRATION)
        buf_printf(&calls, "%s;", ev->line);
    return verdict;
}

static int on_idle(struct tc_instance *inst)
{
    buf_printf(&calls, "idle:%s;", inst->name);
    return 0;
}

static int init(struct tc_instance *inst)
{
    const struct options *const o = inst->conf;
    tc_log(inst, TC_INFO, "init with %s at %lld", o->token, (long long)o->depth);
    return verdict;
}

static void teardown(struct tc_instance *inst)
{
    buf_printf(&calls, "teardown:%s;", (const char *)inst->state);
}

static struct loaded_plugin loaded;
static const struct conf conf = {.file = (char[]){"my.conf"}};

static struct instance *make_instance(const char *token)
{
    loaded = (struct loaded_plugin){
        .plugin = {.name = "sample",
                   .options = options,
                   .conf_size = sizeof(struct options),
                   .state_size = 8,
                   .turn_size = sizeof(struct turn_state),
                   .init = init,
                   .teardown = teardown},
        .sink = {.on_narration = on_narration,
                 .on_thinking = on_thinking,
                 .on_final = on_final,
                 .on_event = on_event,
                 .on_idle = on_idle},
    };
    struct conf_option pairs[] = {
        {(char[]){"token"}, (char *)(uintptr_t)token, NULL, 5, NULL, false}, {0}};
    struct tc_err err;
    const struct conf_instance spec = {.name = (char[]){"my-sample"}, .options = pairs, .line = 4};
    verdict = 0;
    inside = NULL;
    buf_reset(&calls);
    struct instance *const in = instance_new(&conf, &spec, &loaded, NULL, NULL, &err);
    if (!in)
        bail("%s", err_format(&err));
    return in;
}

static struct instance_turn *open_turn(struct instance *in, const char *id)
{
    return instance_turn_new(in, &(struct channel_turn){.id = id});
}

static int deliver(struct instance *in, struct instance_turn *t, struct shared_event *shared)
{
    const int rc = instance_deliver_event(in, t, shared);
    shared_event_unref(shared);
    return rc;
}

/* ---- tests ---- */

static void test_calls(void)
{
    struct instance *const in = make_instance("a-long-secret");
    is_int(instance_init(in), 0, "init");
    has_str(logged(), "instance my-sample: init with *** at 3",
            "the log names the instance, and masks the secret");
    struct instance_turn *const t = open_turn(in, "t1");
    is_int(deliver(in, t, narration(1, "hi", NULL)), 0, "an event is delivered");
    ok(zeroed, "the state of a turn is zeroed");
    has_str(calls.p, "narration:t1:hi;event:narration:",
            "the typed callback is called first, then on_event");
    has_str(calls.p, "{\"type\":\"narration\",\"payload\":{\"text\":\"hi\"}",
            "on_event gets the JSON line");
    buf_reset(&calls);
    struct event ev = draft(TC_THINKING, 2);
    ev.u.thinking.encrypted = "opaque";
    deliver(in, t, shared_event_new(&ev));
    ok(strncmp(calls.p, "event:thinking:", 15) == 0,
       "thinking without a text does not call on_thinking");
    buf_reset(&calls);
    deliver(in, t, box_of(TC_STEP, 3));
    ok(strncmp(calls.p, "event:step:", 11) == 0, "a callback that is NULL is not called");
    is_int((long long)status_page_get_delivered(instance_status_page(in)), 4, "calls are counted");

    struct instance_turn *const second = open_turn(in, "t2");
    deliver(in, second, narration(1, "hi", NULL));
    ok(zeroed, "another turn has its own state");
    buf_reset(&calls);
    instance_call_on_idle(in);
    is_str(calls.p, "idle:my-sample;", "on_idle is called");
    instance_turn_free(t);
    buf_reset(&calls);
    instance_teardown(in);
    is_str(calls.p, "teardown:;", "teardown finds the zeroed state of the instance");
    int64_t since;
    ok(!status_page_running_callback(instance_status_page(in), &since), "no callback is running");
    instance_free(in);
}

static void test_failures(void)
{
    struct instance *const in = make_instance("a-long-secret");
    loaded.sink.on_event = NULL;
    struct instance_turn *const t = open_turn(in, "t7");
    logged();
    clock_fake(1000, 0);
    verdict = -1;
    for (uint64_t seq = 1; seq <= 5; seq++)
        is_int(deliver(in, t, narration(seq, "x", NULL)), -1,
               "the error of a callback is returned");
    is_int((long long)status_page_get_failed(instance_status_page(in)), 5, "each error is counted");
    const char *const first = logged();
    has_str(first, "instance my-sample: callback on_narration returned an error in turn t7\n",
            "the first error is logged");
    ok(strchr(first, '\n')[1] == '\0', "a burst of errors is one line");
    clock_fake_advance(1000);
    deliver(in, t, narration(6, "x", NULL));
    has_str(logged(), "returned an error in turn t7 (4 more failed before)",
            "the other errors are logged a second later");
    clock_fake_end();
    verdict = 0;
    instance_free(in);
    diag("turns that never ended are freed: the leak checker verifies it");
}

static void test_init_fails(void)
{
    struct instance *const in = make_instance("a-long-secret");
    verdict = 1;
    is_int(instance_init(in), -1, "an init that fails is an error");
    instance_free(in);
}

static void test_bad_options(void)
{
    struct conf_option pairs[] = {{(char[]){"dept"}, (char[]){"1"}, NULL, 9, NULL, false}, {0}};
    const struct conf_instance spec = {.name = (char[]){"x"}, .options = pairs, .line = 4};
    struct tc_err err;
    ok(!instance_new(&conf, &spec, &loaded, NULL, NULL, &err), "an unknown option is an error");
    is_str(err_format(&err),
           "my.conf:9: plugins.instances.x.dept: unknown option (did you mean \"depth\"?)",
           "the error names the position of the option");
}

/* ---- services of the host, called in the same way as by a plugin ---- */

static void use_services(struct tc_turn *t)
{
    char *const zeros = tc_alloc(t, 1000);
    ok(zeros && zeros[0] == 0 && zeros[999] == 0, "tc_alloc returns zeroed memory");
    is_str(tc_sprint(t, "%d-%s", 7, "x"), "7-x", "tc_sprint");
    is_str(tc_json(t, "{s:s, s:[i,b], s:n}", "a", "ü\"", "b", 1, 1, "c"),
           "{\"a\":\"ü\\\"\",\"b\":[1,true],\"c\":null}", "tc_json");
    is_str(tc_json(t, "s", "x"), "\"x\"", "tc_json of a bare value");
    is_str(tc_json(t, "[f, j]", 0.0125, "0.1"), "[0.0125,0.1]", "numbers have the shortest digits");
    is_str(tc_json(t, "{s:j, s:s?, s:[i, f, b, n], s:I}", "a", "{\"x\":[1]}", "b", NULL, "c", 1,
                   0.5, 1, "d", (long long)1 << 40),
           "{\"a\":{\"x\":[1]},\"b\":null,\"c\":[1,0.5,true,null],\"d\":1099511627776}",
           "tc_json of JSON text beside other values");
    is_str(tc_json(t, "[j*, j, j]", "[1,2]", "3", NULL), "[1,2,3,null]",
           "j* inserts the elements of an array");
    is_str(tc_json(t, "[j*]", NULL), "[]", "j* of NULL inserts nothing");
    is_str(tc_json(t, "{s:[s*, j], s:s*}", "a", NULL, "1", "b", NULL), "{\"a\":[1]}",
           "s* leaves out NULL, as in the formats of jansson");
    ok(!tc_json(t, "{s:j}", "a", "{"), "text that is not JSON is refused");
    ok(!tc_json(t, "[j*]", "7"), "j* of a value that is not an array is refused");
    ok(!tc_json(t, "{s:j", "a", "1") && !tc_json(t, "j}", "1") && !tc_json(t, "[j, z]", "1"),
       "invalid formats are refused");
    const char *const doc = "{\"a\": {\"b\": [1, \"tw\\u00f6\", {\"c\": 2.50}]}, \"e~f\": true}";
    is_str(tc_json_get(t, doc, "/a/b/1"), "twö", "tc_json_get of a string returns its text");
    is_str(tc_json_get(t, doc, "/a/b/0"), "1", "tc_json_get of a number returns its text");
    is_str(tc_json_get(t, doc, "/e~0f"), "true", "tc_json_get with an escaped key");
    is_str(tc_json_get(t, doc, "/a/b/2"), "{\"c\":2.50}",
           "tc_json_get of an object returns compact JSON");
    is_str(tc_json_get(t, doc, ""), "{\"a\":{\"b\":[1,\"tw\\u00f6\",{\"c\":2.50}]},\"e~f\":true}",
           "tc_json_get of an empty path returns the document");
    ok(!tc_json_get(t, doc, "/a/x"), "tc_json_get of a missing member returns NULL");
    logged();
    ok(!tc_json_get(t, doc, "/a/b/7") && !*logged(), "a missing element is not logged as an error");
}

static void misuse_services(struct tc_turn *t)
{
    logged();
    ok(!tc_json(t, "{s:", "a"), "tc_json with an invalid format returns NULL");
    has_str(logged(), "instance my-sample: tc_json(\"{s:\"): ", "an invalid format is logged");
    ok(!tc_json_get(t, "{\"a\":", "/a"), "tc_json_get of invalid JSON returns NULL");
    has_str(logged(), "tc_json_get(\"/a\"): the searched text is not JSON",
            "invalid JSON is logged");
    ok(!tc_json_get(t, NULL, "/a"), "tc_json_get of NULL returns NULL");
    ok(!tc_alloc(t, (size_t)1 << 40), "tc_alloc above the limit returns NULL");
    has_str(logged(), "tc_alloc(1099511627776 bytes) failed: the turn's memory limit is reached",
            "an allocation above the limit is logged");
    ok(!tc_alloc(t, SIZE_MAX), "tc_alloc of SIZE_MAX returns NULL");
    ok(t->inst->host->size == sizeof(struct tc_host), "the table of services has its size");
}

static void test_redact(struct tc_turn *t)
{
    char out[64];
    const char *const json = "{\"k\":\"my a-long-secret!\"}";
    const size_t n = tc_redact(t->inst, json, strlen(json), out, sizeof out);
    is_str(out, "{\"k\":\"my ***!\"}", "tc_redact masks secrets");
    is_int((long long)n, (long long)strlen(out), "tc_redact returns the length");
    char small[5];
    is_int((long long)tc_redact(t->inst, json, strlen(json), small, sizeof small), (long long)n,
           "tc_redact returns the full length for a small buffer");
    is_str(small, "{\"k\"", "tc_redact truncates like snprintf");
    is_int((long long)tc_redact(t->inst, json, strlen(json), NULL, 0), (long long)n,
           "tc_redact accepts no buffer");
}

static void test_encode(struct tc_turn *t)
{
    size_t len = 1;
    ok(tc_has_format(t->inst, "turncast") && !tc_has_format(t->inst, "morse"), "tc_has_format");
    ok(!tc_encode(t, TC_FORMAT(.name = "morse"), &len) && len == 0,
       "tc_encode with an unknown format returns NULL");
    has_str(logged(), "tc_encode(\"morse\"): unknown format", "an unknown format is logged");
    /* The structure of a plugin for 1.5 ends earlier; the memory behind it is not read. */
    const struct tc_format old = {.size = offsetof(struct tc_format, settings),
                                  .name = "turncast",
                                  .frames = true,
                                  .settings = (const char *)1};
    const char *const text = tc_encode(t, &old, &len);
    has_str(text, "data: {\"type\":\"final\",\"payload\":{", "tc_encode returns the event");
    is_int((long long)len, (long long)strlen(text), "tc_encode returns the length");
    ok(!tc_encode(t, TC_FORMAT(.name = "other"), &len),
       "another format in the same turn is refused");
}

static struct tc_turn *kept;

static void keep_turn(struct tc_turn *t)
{
    kept = t;
}

static void *from_another_thread(void *arg)
{
    struct tc_turn *const t = arg;
    tc_log(t->inst, TC_WARN, "log from any thread");
    return tc_alloc(t, 8);
}

static void on_a_thread(struct tc_turn *t)
{
    logged();
    pthread_t thread;
    void *got = t;
    pthread_create(&thread, NULL, from_another_thread, t);
    pthread_join(thread, &got);
    ok(!got, "a service called in another thread returns NULL");
    const char *const lines = logged();
    has_str(lines, "instance my-sample: log from any thread",
            "logging in another thread is permitted");
    has_str(lines, "plugin sample called tc_alloc with a turn that belongs to another thread",
            "a service called in another thread is logged");
}

static void run_inside(struct instance *in, struct instance_turn *t, void (*fn)(struct tc_turn *))
{
    inside = fn;
    deliver(in, t, box_of(TC_FINAL, 9));
}

static void test_services(void)
{
    struct instance *const in = make_instance("a-long-secret");
    loaded.sink.on_event = NULL;
    instance_init(in);
    struct instance_turn *const t = open_turn(in, "t1");
    run_inside(in, t, use_services);
    run_inside(in, t, misuse_services);
    run_inside(in, t, test_redact);
    run_inside(in, t, test_encode);
    run_inside(in, t, on_a_thread);
    run_inside(in, t, keep_turn);
    instance_turn_free(t);
    logged();
    ok(!tc_sprint(kept, "x"), "a service called with a turn that has ended returns NULL");
    has_str(logged(), "plugin sample called tc_sprint with a turn that has ended",
            "a service called with a turn that has ended is logged");
    for (int i = 0; i < 100; i++)
        instance_turn_free(open_turn(in, "tn"));
    ok(!services_table()->alloc(NULL, 8), "a service called without a turn returns NULL");
    has_str(logged(), "a plugin called tc_alloc with an invalid turn handle",
            "a service called without a turn is logged");
    instance_free(in);
}

int main(void)
{
    plan_lazy();
    begin_log();
    test_calls();
    test_failures();
    test_init_fails();
    test_bad_options();
    test_services();
    buf_fini(&calls);
    log_forget_secrets();
    close(log_fd);
}
