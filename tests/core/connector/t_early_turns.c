/* SPDX-License-Identifier: MIT
 * Outcomes reach an instance in the order of their turns, although a turn can end while the
 * instance still starts, and an older outcome is in the journal only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/connector/connector_instance.h"
#include "core/turn/turn_record.h"
#include "event/codec.h"
#include "io/journal/journal_async.h"
#include "tap/tap.h"

#define DEADLINE_MS 20000
#define LONG_TEXT ((size_t)1 << 20)
#define TOO_MANY 33 /* long texts, more than are held back */

static struct loop *loop;
static struct journal_async *journal;
static struct connector_instance *instance;
static char state_dir[600], record[600];

/* ---- the instance ---- */

static void start_instance(void)
{
    static char file[] = "my.conf", name[] = "rec", plugin[] = "recorder", key[] = "path";
    const char *const build = getenv("TURNCAST_BUILDDIR");
    CLEANUP_FREE char *path = xasprintf("%s/tests/fault/recorder.so", build ? build : ".");
    struct conf_option pairs[2] = {{key, record, NULL, 1, NULL, false}};
    struct conf_instance spec = {.name = name,
                                 .plugin = plugin,
                                 .enabled = true,
                                 .queue_events = 64,
                                 .queue_bytes = 1 << 20,
                                 .init_ms = DEADLINE_MS,
                                 .callback_ms = DEADLINE_MS,
                                 .isolation = CONF_THREAD,
                                 .options = pairs};
    const struct conf conf = {.file = file, .instances = &spec, .n_instances = 1};
    const struct connector_services services = {.loop = loop, .journal = journal};
    struct tc_err err = {0};
    struct loaded_plugin *const loaded = loader_probe_file(path, &err);
    instance = loaded ? connector_start(&conf, &spec, loaded, &services, &err) : NULL;
    if (!instance)
        bail("%s", err_format(&err));
}

static bool is_running(void)
{
    return connector_instance_state(instance, NULL) == CHANNEL_RUNNING;
}

static void run(void)
{
    connector_instance_launch(instance);
    for (unsigned i = 0; !is_running() && i < DEADLINE_MS / 10; i++)
        loop_run_once(loop, 10);
    if (!is_running())
        bail("the instance does not start");
    connector_resume_deliveries(instance);
}

/* ---- turns ---- */

static void send_event(void *handle, const char *turn, enum tc_kind kind, const char *text)
{
    struct event ev;
    event_init(&ev, kind);
    ev.meta.correlation_id = turn;
    ev.meta.src = "test";
    ev.meta.session_id = "";
    ev.u.meta = &ev.meta;
    if (kind == TC_FINAL)
        ev.u.final.text = text;
    if (kind == TC_NOTICE) {
        ev.u.notice.level = "info";
        ev.u.notice.text = text;
    }
    connector_send_event(instance, handle, shared_event_new(&ev));
}

static void *open_turn(const char *turn)
{
    void *const handle = connector_open_turn(
        instance, &(struct channel_turn){.id = turn, .agent = "a", .conversation = "c"});
    if (!handle)
        bail("the turn was not opened");
    send_event(handle, turn, TC_START, NULL);
    return handle;
}

static void end_turn(void *handle, const char *turn)
{
    send_event(handle, turn, TC_FINAL, "answer");
    send_event(handle, turn, TC_DONE, NULL);
}

/* Ends a turn in the journal; its outcome is to be delivered to the instance. */
static void store_outcome(const char *turn)
{
    CLEANUP_BUF struct buf line = {0};
    struct event ev = turn_record_restart_error(turn);
    ev.u.meta = &ev.meta;
    codec_encode(&line, &ev);
    const struct journal_turn t = {.id = turn, .agent = "a", .conv = "c", .source = "s"};
    const struct journal_target to = {"rec", "c", {line.p, line.len}};
    const struct journal_outcome outcome = {
        .turn = turn, .error = "host_restart", .targets = &to, .n = 1};
    journal_async_admit_turn(journal, &t, NULL, NULL);
    journal_async_end_turn(journal, &outcome, NULL, NULL);
}

/* ---- what the instance was told ---- */

/* The text behind the key in a line of JSON. */
static struct str member(const char *line, const char *key)
{
    const char *const at = strstr(line, key);
    const char *const text = at ? at + strlen(key) : "?";
    return (struct str){text, strcspn(text, "\"")};
}

static const char *words(void)
{
    static struct buf out;
    size_t len;
    CLEANUP_FREE char *all = tap_slurp(record, &len);
    char *rest = all;
    buf_reset(&out);
    buf_add_str(&out, "");
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        const struct str turn = member(line, "\"correlation_id\":\"");
        const struct str type = member(line, "\"type\":\"");
        buf_printf(&out, "%s%.*s:%.*s", out.len ? " " : "", (int)turn.len, turn.p, (int)type.len,
                   type.p);
    }
    return out.p;
}

/* Runs the loop until the instance has no work left. */
static void settle(void)
{
    for (unsigned i = 0; connector_instance_is_busy(instance) && i < DEADLINE_MS / 10; i++)
        loop_run_once(loop, 10);
    if (connector_instance_is_busy(instance))
        diag("the instance is still busy: %.1000s", words());
}

static void is_told(const char *wanted, const char *title)
{
    settle();
    is_str(words(), wanted, "%s", title);
}

static void begin(void)
{
    static int n;
    struct tc_err err = {0};
    snprintf(state_dir, sizeof state_dir, "%s/state%d", tap_tmpdir(), n);
    snprintf(record, sizeof record, "%s/record%d", tap_tmpdir(), n++);
    tap_spew(record, "", 0);
    loop = loop_new();
    journal = journal_async_open(loop, state_dir, NULL, NULL, &err);
    if (!journal)
        bail("%s", err_format(&err));
    start_instance();
}

static void end(void)
{
    connector_instance_stop(instance);
    ok(connector_instance_free(instance, INT64_MAX), "the instance ends");
    journal_async_close(journal);
    loop_free(loop);
}

/* ---- tests ---- */

static void test_ended_early(void)
{
    begin();
    store_outcome("t1");
    end_turn(open_turn("t2"), "t2");
    run();
    is_told("t2:start t1:start t1:error t1:done t2:final t2:done",
            "an outcome from before a restart comes before that of a turn that ended while the "
            "instance started");
    end();
}

static void test_several(void)
{
    begin();
    store_outcome("t1");
    store_outcome("t2");
    void *const handle = open_turn("t3");
    end_turn(handle, "t3");
    end_turn(open_turn("t4"), "t4");
    run();
    is_told("t3:start t4:start t1:start t1:error t1:done t2:start t2:error t2:done "
            "t3:final t3:done t4:final t4:done",
            "several turns that ended early keep their order");
    end();
}

static void test_ends_meanwhile(void)
{
    begin();
    store_outcome("t1");
    void *const handle = open_turn("t2");
    run();
    end_turn(handle, "t2");
    is_told("t2:start t1:start t1:error t1:done t2:final t2:done",
            "the same holds for a turn that ends before the journal has replied");
    end();
}

static void test_nothing_stored(void)
{
    begin();
    void *const handle = open_turn("t1");
    send_event(handle, "t1", TC_FINAL, "answer");
    void *const other = open_turn("t2");
    run();
    end_turn(other, "t2");
    send_event(handle, "t1", TC_DONE, NULL);
    is_told(
        "t1:start t2:start t1:final t2:final t2:done t1:done",
        "without another outcome, that of an early turn waits for the start of the instance only, "
        "and holds up no other event");
    end();
}

static void test_own_outcome(void)
{
    begin();
    store_outcome("t1");
    store_outcome("t2");
    end_turn(open_turn("t2"), "t2");
    run();
    is_told("t2:start t1:start t1:error t1:done t2:final t2:done",
            "the instance gets the stored outcome of the early turn itself once");
    end();
}

static void test_too_much(void)
{
    begin();
    store_outcome("t1");
    CLEANUP_FREE char *text = xcalloc(LONG_TEXT + 1, 1);
    memset(text, 'x', LONG_TEXT);
    void *const handle = open_turn("t2");
    for (unsigned i = 0; i < TOO_MANY; i++)
        send_event(handle, "t2", i ? TC_NOTICE : TC_FINAL, text);
    send_event(handle, "t2", TC_DONE, NULL);
    run();
    settle();
    has_str(words(), "t2:done t1:start t1:error t1:done",
            "more than the limit is not held back: nothing is lost");
    end();
}

static void test_ends_before_it_runs(void)
{
    begin();
    store_outcome("t1");
    end_turn(open_turn("t2"), "t2");
    end();
    is_str(words(), "", "an instance that never runs is told nothing");
}

int main(void)
{
    plan_lazy();
    test_ended_early();
    test_several();
    test_ends_meanwhile();
    test_nothing_stored();
    test_own_outcome();
    test_too_much();
    test_ends_before_it_runs();
    return 0;
}
