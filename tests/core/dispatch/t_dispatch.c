/* SPDX-License-Identifier: MIT
 * Who sees what, and that no fault of one instance reaches another (dispatch.h). */
#include "core/dispatch/dispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "tap/tap.h"

#define DEADLINE_MS 20000
#define HANG_MS 2000 /* how long the healthy one beside a hanging one may take */
#define INSTANCES_MAX 8

static char log_path[512];

static void begin_log(void)
{
    snprintf(log_path, sizeof log_path, "%s/log", tap_tmpdir());
    FILE *const f = fopen(log_path, "w");
    log_setup(LOG_TEXT, LOG_WARN, dup(fileno(f)));
    fclose(f);
}

/* What was logged since the last call; static. */
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

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* ---- configurations made by hand ---- */

static char conf_file[] = "my.conf";
static struct conf conf;
static struct conf_instance instances[INSTANCES_MAX];
static struct conf_option pairs[INSTANCES_MAX][3];
static char texts[INSTANCES_MAX][2][512];
static char fault_dir[512];
static char *dirs[2] = {fault_dir, NULL};

static void begin_conf(void)
{
    const char *const build = getenv("TURNCAST_BUILDDIR");
    snprintf(fault_dir, sizeof fault_dir, "%s/tests/fault", build ? build : ".");
    memset(instances, 0, sizeof instances);
    conf = (struct conf){.file = conf_file, .plugin_dirs = dirs, .instances = instances};
}

static char *mutable(const char *s)
{
    return (char *)(uintptr_t)s;
}

/* Short deadlines are for those that miss them; a healthy instance may be slow. */
static bool is_impatient(const char *plugin)
{
    return strcmp(plugin, "sleeps") == 0 || strncmp(plugin, "hangs", 5) == 0;
}

/* Appends an instance; key may be NULL. */
static struct conf_instance *add(const char *name, const char *plugin, const char *key,
                                 const char *value)
{
    const size_t i = conf.n_instances++;
    snprintf(texts[i][0], sizeof texts[i][0], "%s", name);
    snprintf(texts[i][1], sizeof texts[i][1], "%s", value ? value : "");
    pairs[i][0] = (struct conf_option){mutable(key), texts[i][1], NULL, 20, NULL, false};
    pairs[i][1] = (struct conf_option){0};
    instances[i] = (struct conf_instance){
        .name = texts[i][0],
        .plugin = mutable(plugin),
        .enabled = true,
        .queue_events = 64,
        .queue_bytes = 1 << 20,
        .init_ms = is_impatient(plugin) ? 50 : DEADLINE_MS,
        .callback_ms = is_impatient(plugin) ? 50 : DEADLINE_MS,
        .options = pairs[i],
        .line = (int)i + 10,
    };
    return &instances[i];
}

static const char *temp(const char *name)
{
    static char paths[4][600];
    static unsigned next;
    char *const path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", tap_tmpdir(), name);
    return path;
}

static struct dispatch *start(unsigned *failed)
{
    unsigned refused;
    struct dispatch *const d = dispatch_new(&conf, NULL, &refused);
    if (failed)
        *failed = refused;
    return d;
}

/* ---- a turn ---- */

static struct dispatch_turn *turn;
static uint64_t seq;

static struct event draft(enum tc_kind kind)
{
    struct event ev;
    event_init(&ev, kind);
    ev.meta.seq = ++seq;
    ev.meta.ts = 1700000000.0;
    ev.meta.src = "claude";
    ev.meta.correlation_id = "t1";
    ev.meta.session_id = "s1";
    return ev;
}

static void cast(struct event ev)
{
    ev.u.meta = &ev.meta;
    dispatch_event(turn, &ev);
}

static void cast_kind(enum tc_kind kind)
{
    cast(draft(kind));
}

static void cast_narration(const char *text, const char *audience)
{
    struct event ev = draft(TC_NARRATION);
    ev.meta.audience = audience;
    ev.u.narration.text = text;
    ev.u.narration.text_len = strlen(text);
    cast(ev);
}

static void cast_message(void)
{
    struct event ev = draft(TC_MESSAGE);
    ev.u.message.role = "assistant";
    ev.u.message.text = "all";
    ev.u.message.text_len = 3;
    ev.u.message.reasoning = "why";
    ev.u.message.reasoning_len = 3;
    cast(ev);
}

static void cast_thinking(void)
{
    struct event ev = draft(TC_THINKING);
    ev.u.thinking.text = "hm";
    ev.u.thinking.text_len = 2;
    cast(ev);
}

static void cast_final(const char *text)
{
    struct event ev = draft(TC_FINAL);
    ev.u.final.text = text;
    ev.u.final.text_len = strlen(text);
    cast(ev);
}

static void cast_tool(bool failed)
{
    struct event call = draft(TC_TOOL_CALL);
    call.u.tool_call.name = "Bash";
    call.u.tool_call.tool_use_id = "u1";
    cast(call);
    struct event result = draft(TC_TOOL_RESULT);
    result.u.tool_result.tool_use_id = "u1";
    result.u.tool_result.content = "out";
    result.u.tool_result.content_len = 3;
    result.u.tool_result.is_error = failed;
    cast(result);
}

static void open_turn(struct dispatch *d, struct visibility v)
{
    seq = 0;
    turn = dispatch_open_turn(
        d, &(struct dispatch_turn_spec){.id = "t1", .agent = "claude", .visibility = v});
    cast_kind(TC_START);
}

static void close_turn(void)
{
    cast_kind(TC_DONE);
    dispatch_close_turn(turn);
}

/* The "type" of each line, a minus before those marked so; static. */
static const char *kinds_in(const char *path)
{
    static char out[4096];
    size_t n;
    char *const text = tap_slurp(path, &n);
    out[0] = '\0';
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        const char *const type = strstr(line, "\"type\":\"") + strlen("\"type\":\"");
        strcat(out, *line == '-' ? "-" : "");
        strncat(out, type, strcspn(type, "\""));
        strcat(out, " ");
    }
    free(text);
    return out;
}

#define SEEN "start narration thinking tool_call tool_result tool_call tool_result narration "

static void test_who_sees_what(void)
{
    begin_conf();
    add("everything", "recorder", "path", temp("all"));
    pairs[0][1] = (struct conf_option){mutable("mark"), mutable("true"), NULL, 20, NULL, false};
    struct conf_instance *const people = add("people", "recorder", "path", temp("people"));
    people->sees_all_set = true;
    struct conf_instance *const internal = add("internal", "recorder", "path", temp("internal"));
    internal->sees_all_set = true;
    internal->audience = mutable("internal");
    struct conf_instance *const asks = add("asks", "recorder", "path", temp("asks"));
    asks->wants_raw = asks->wants_state = true;
    add("states", "staterecorder", "path", temp("states"));
    struct dispatch *const d = start(NULL);
    is_int((long long)dispatch_count_running(d), 5, "five instances run");
    open_turn(d, visibility_default());
    cast_narration("hi", NULL);
    cast_thinking();
    cast_tool(false);
    cast_tool(true);
    cast_narration("secret", "internal");
    cast_message();
    cast_kind(TC_STATE);
    cast_kind(TC_RAW);
    cast_final("bye");
    close_turn();
    is_int(dispatch_free(d, DEADLINE_MS), 0, "all instances end in time");
    is_str(kinds_in(temp("all")),
           "start narration -thinking -tool_call -tool_result -tool_call -tool_result -narration "
           "message final done ",
           "visibility all: all events except raw and state");
    is_str(kinds_in(temp("people")), "start narration message final done ", "visible events");
    is_str(kinds_in(temp("internal")), "start narration final done ", "events of another audience");
    is_str(kinds_in(temp("asks")), SEEN "message state raw final done ", "raw and state on demand");
    is_str(kinds_in(temp("states")), SEEN "message state final done ", "TC_WANTS_STATE adds state");
    size_t n;
    char *text = tap_slurp(temp("people"), &n);
    has_str(text, "\"text\":\"all\"", "an instance for users receives the message");
    ok(!strstr(text, "\"why\""), "  the message has no hidden reasoning");
    ok(!strstr(text, "secret"), "the audience internal does not leak");
    free(text);
    text = tap_slurp(temp("all"), &n);
    has_str(text, "\"reasoning\":\"why\"", "visibility all: the reasoning");
    free(text);
}

static void cast_pair(const char *of_call, const char *id, bool failed)
{
    struct event call = draft(TC_TOOL_CALL), result = draft(TC_TOOL_RESULT);
    call.meta.audience = of_call;
    result.meta.audience = "internal";
    call.u.tool_call.tool_use_id = result.u.tool_result.tool_use_id = id;
    result.u.tool_result.is_error = failed;
    cast(call);
    cast(result);
}

static void test_pairs(void)
{
    begin_conf();
    add("paired", "recorder", "path", temp("paired"))->sees_all_set = true;
    struct dispatch *const d = start(NULL);
    open_turn(d, (struct visibility){SHOW_ON, SHOW_ON, SHOW_ON, SHOW_ON, SHOW_ON});
    cast_pair(NULL, "a", false);
    cast_pair("internal", "c", true);
    close_turn();
    dispatch_free(d, DEADLINE_MS);
    is_str(kinds_in(temp("paired")), "start tool_call tool_result notice done ", "pairs");
}

/* ---- faults ---- */

/* One turn of more events than the queue holds. */
static void cast_long_turn(struct dispatch *d)
{
    dispatch_set_backpressure(d, 50);
    open_turn(d, visibility_default());
    for (int i = 0; i < 300; i++) {
        cast_narration("some words", NULL);
        cast_thinking();
        cast_tool(i % 2);
    }
    cast_final("bye");
    close_turn();
}

static char *healthy;
static size_t healthy_len;

/* Runs the plugin (NULL: none) beside a recorder; the recorder's output must be what it is alone.
 */
static unsigned run_beside(const char *plugin, const char *key, const char *value, unsigned *failed)
{
    begin_conf();
    logged();
    if (plugin)
        add("faulty", plugin, key, value);
    add("healthy", "recorder", "path", temp("healthy"));
    struct dispatch *const d = start(failed);
    cast_long_turn(d);
    const unsigned abandoned = dispatch_free(d, plugin ? HANG_MS : DEADLINE_MS);
    size_t n;
    char *const text = tap_slurp(temp("healthy"), &n);
    if (plugin) {
        is_mem(text, n, healthy, healthy_len,
               "beside %s the output of the healthy instance is unchanged", plugin);
        free(text);
    } else {
        healthy = text;
        healthy_len = n;
    }
    return abandoned;
}

static void test_refused(const char *plugin, const char *line)
{
    unsigned failed = 0;
    is_int(run_beside(plugin, NULL, NULL, &failed), 0, "no instance is abandoned");
    is_int(failed, 1, "%s is not started", plugin);
    const char *const text = logged();
    has_str(text, line, "  the log has the reason");
    is_int((long long)lines_of(text), 1, "  the log has no other line");
}

static void test_faults(void)
{
    unsigned failed;
    run_beside(NULL, NULL, NULL, &failed);
    is_str(failed ? "refused" : "", "", "the recorder starts alone");
    ok(healthy_len > 1200 * 50, "the recorder received all events: %zu bytes", healthy_len);

    test_refused("oldmajor", "oldmajor.so: built for plugin API 0.3");
    test_refused("newminor", "newminor.so: requires plugin API 1.999");
    test_refused("nosymbol", "nosymbol.so: does not export turncast_plugin");
    test_refused("undefined", "undefined symbol: a_function_that_nobody_has");
    test_refused("nobody", "nobody: plugin not found: no nobody.so in ");
    test_refused("/dev/null", "/dev/null: is not a regular file");
    test_refused("hangsinit",
                 "my.conf:10: instance faulty: disabled: init did not return within 50 ms");
    test_refused("recorder", "my.conf:10: instance faulty: disabled: "
                             "plugins.instances.faulty.path: missing required option "
                             "(file to write");

    is_int(run_beside("initfails", NULL, NULL, &failed), 0, "no instance is abandoned");
    is_int(failed, 1, "initfails is not started");
    const char *text = logged();
    has_str(text, "instance faulty: no luck today", "  the log has the plugin's reason");
    has_str(text, "my.conf:10: instance faulty: disabled: init failed", "  the host logs it, too");

    is_int(run_beside("fails", NULL, NULL, &failed), 0, "no instance is abandoned");
    is_int(failed, 0, "a plugin whose callbacks fail keeps running");
    text = logged();
    has_str(text, "instance faulty: callback on_event returned an error in turn t1\n",
            "  the log has the failed callback");
    ok(lines_of(text) <= 3, "  the failures are logged at most three times");
}

static bool is_recovered(void *arg)
{
    (void)arg;
    return strstr(logged(), "callback returned") != NULL;
}

static void test_hangs(void)
{
    unsigned failed;
    const int64_t before = clock_mono_ms();
    const char *const gate = temp("gate");
    is_int(run_beside("sleeps", "gate", gate, &failed), 1, "a hanging callback is abandoned");
    const char *text = logged();
    has_str(text, "host: instance faulty: queue full and not draining", "  a full queue is logged");
    has_str(text, "instance faulty: on_start has not returned for ", "  the callback is logged");
    has_str(text, "instance faulty: did not stop in time (in on_start); abandoned", "  is logged");
    tap_spew(gate, "", 0);
    ok(tap_wait(is_recovered, NULL, DEADLINE_MS), "  the log says when the callback returns");

    is_int(run_beside("hangsteardown", NULL, NULL, &failed), 1, "a hanging teardown is abandoned");
    text = logged();
    has_str(text, "instance faulty: did not stop in time (in teardown); abandoned", "  is logged");
    is_int((long long)lines_of(text), 1, "  the log has one line");
    ok(clock_mono_ms() - before < 8000, "the host does not wait for an abandoned instance");
}

static void take_health(void *ctx, const struct dispatch_instance *i)
{
    *(struct channel_health *)ctx = i->health;
}

static double fill_of_only(const struct dispatch *d)
{
    struct channel_health health = {.fill = -1};
    dispatch_each_instance(d, take_health, &health);
    return health.fill;
}

static bool is_hung(void *d)
{
    struct channel_health health = {.fill = -1};
    dispatch_each_instance(d, take_health, &health);
    return health.hung;
}

/* One that hangs tells by what waits for it what it was cast. */
static void test_kinds(void)
{
    const char *const gate = temp("kinds");
    begin_conf();
    add("deaf", "sleeps", "gate", gate);
    struct dispatch *const d = start(NULL);
    open_turn(d, visibility_default());
    ok(tap_wait(is_hung, d, DEADLINE_MS), "the callback of an instance hangs");
    double before = fill_of_only(d);
    for (int i = 0; i < 20; i++)
        cast_kind(TC_NOTICE);
    is_real(fill_of_only(d), before, "  an event without a callback in the plugin is not queued");
    cast_narration("b", NULL);
    ok(fill_of_only(d) > before, "  an event with a callback in the plugin is queued");
    before = fill_of_only(d);
    cast_final("bye");
    ok(fill_of_only(d) > before, "  a final is queued");
    tap_spew(gate, "", 0);
    close_turn();
    is_int(dispatch_free(d, DEADLINE_MS), 0, "  the instance ends after the callback returns");
}

/* Event by event, or in bursts that are larger than its queue. */
static void cast_to_slow(bool bursts)
{
    begin_conf();
    add("slow", "recorder", "path", temp("slow"));
    pairs[0][1] = (struct conf_option){mutable("delay_us"), mutable("100"), NULL, 20, NULL, false};
    add("healthy", "recorder", "path", temp("healthy"));
    struct dispatch *const d = start(NULL);
    dispatch_set_backpressure(d, DEADLINE_MS);
    open_turn(d, visibility_default());
    for (int i = 0; i < 300; i++) {
        if (bursts && i % 50 == 0)
            dispatch_set_batching(turn, true);
        cast_narration("some words", NULL);
        cast_thinking();
        cast_tool(i % 2);
        if (bursts && i % 50 == 49)
            dispatch_set_batching(turn, false);
    }
    cast_final("bye");
    close_turn();
    is_int(dispatch_free(d, DEADLINE_MS), 0, "a slow instance ends after its queue is empty");
    size_t n;
    char *text = tap_slurp(temp("slow"), &n);
    is_mem(text, n, healthy, healthy_len, "with backpressure a slow instance receives every event");
    free(text);
    text = tap_slurp(temp("healthy"), &n);
    is_mem(text, n, healthy, healthy_len, "the other instance receives every event");
    free(text);
}

static void test_slow(void)
{
    cast_to_slow(false);
    cast_to_slow(true);
}

static void test_old_plugin(void)
{
    begin_conf();
    add("old", "old10", NULL, NULL);
    struct dispatch *const d = start(NULL);
    open_turn(d, visibility_default());
    cast_narration("hello ", NULL);
    cast_narration("world", NULL);
    cast_final("bye");
    close_turn();
    logged();
    dispatch_free(d, DEADLINE_MS);
    has_str(logged(), "instance old: heard hello world|bye", "a plugin of API 1.0 runs");
}

static void test_paced(void)
{
    begin_conf();
    add("paced", "paced", "path", temp("paced"));
    struct dispatch *const d = start(NULL);
    open_turn(d, visibility_default());
    for (int i = 0; i < 50; i++)
        cast_narration("x", NULL);
    close_turn();
    is_int(dispatch_free(d, DEADLINE_MS), 0, "dispatch_free does not wait for the pace of updates");
    size_t n, requests = 0;
    char *const text = tap_slurp(temp("paced"), &n);
    for (size_t i = 0; i < n; i++)
        requests += text[i] == 'x';
    is_int((long long)requests, 50, "no character of the narration is lost");
    ok(lines_of(text) <= 3, "the narration is delivered in at most two pieces");
    has_str(text, "x\ndone\n", "done is delivered last");
    free(text);
}

static void copy(const char *name)
{
    char from[600], to[600];
    snprintf(from, sizeof from, "%s/%s.so", fault_dir, name);
    snprintf(to, sizeof to, "%s/auto/%s.so", tap_tmpdir(), name);
    size_t n;
    char *const text = tap_slurp(from, &n);
    tap_spew(to, text, n);
    free(text);
}

static void take_name(void *ctx, const struct dispatch_instance *i)
{
    *(const char **)ctx = i->name;
}

static void test_autoload(void)
{
    begin_conf();
    add("mine", "fails", NULL, NULL)->enabled = false;
    mkdir(temp("auto"), 0755);
    copy("fails");
    copy("nosymbol");
    copy("old10");
    snprintf(fault_dir, sizeof fault_dir, "%s/auto", tap_tmpdir());
    struct dispatch *d = start(NULL);
    is_int((long long)dispatch_count_running(d), 0, "without autoload a plugin is not loaded");
    dispatch_free(d, DEADLINE_MS);

    conf.autoload = true;
    unsigned failed;
    d = start(&failed);
    is_int((long long)dispatch_count_running(d), 1, "with autoload a plugin is loaded");
    const char *name = NULL;
    dispatch_each_instance(d, take_name, &name);
    is_str(name, "old10", "  the plugin has its own name, unless an instance is configured");
    is_int(failed, 1, "  a file that is not a plugin is refused");
    dispatch_free(d, DEADLINE_MS);
}

static void test_same_name(void)
{
    begin_conf();
    add("one", "fails", NULL, NULL);
    add("one", "old10", NULL, NULL);
    unsigned failed;
    logged();
    struct dispatch *const d = start(&failed);
    is_int((long long)dispatch_count_running(d), 1, "a duplicate name is refused");
    has_str(logged(), "instance one: disabled: duplicate name;", "  the name is logged");
    dispatch_free(d, DEADLINE_MS);
    is_int(dispatch_free(NULL, 0), 0, "dispatch_free accepts NULL");
}

int main(void)
{
    plan_lazy();
    umask(022);
    begin_log();
    test_who_sees_what();
    test_pairs();
    test_faults();
    test_hangs();
    test_kinds();
    test_slow();
    test_old_plugin();
    test_paced();
    test_autoload();
    test_same_name();
    free(healthy);
}
