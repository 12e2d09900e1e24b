/* SPDX-License-Identifier: MIT
 * Which instances are told of a turn: by their scopes, and by what is asked at them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys/clock.h"
#include "core/dispatch/dispatch.h"
#include "tap/tap.h"

#define DEADLINE_MS 20000

static char conf_file[] = "my.conf", plugin[] = "recorder", path_key[] = "path";
static char log_name[] = "log", chat_name[] = "tg", other_name[] = "sl";
static char paths[3][600], fault_dir[512];
static char *dirs[2] = {fault_dir, NULL};
static struct conf_option options[3][2];
static struct conf_instance instances[3];
static struct conf conf;
static struct dispatch *d;
static struct dispatch_turn *turn;
static uint64_t seq;

/* A log, and two chats that people write in. */
static void configure(void)
{
    char *const names[] = {log_name, chat_name, other_name};
    const char *const build = getenv("TURNCAST_BUILDDIR");
    snprintf(fault_dir, sizeof fault_dir, "%s/tests/fault", build ? build : ".");
    conf = (struct conf){
        .file = conf_file, .plugin_dirs = dirs, .instances = instances, .n_instances = 3};
    for (size_t i = 0; i < 3; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s", tap_tmpdir(), names[i]);
        options[i][0] = (struct conf_option){path_key, paths[i], NULL, 20, NULL, false};
        instances[i] = (struct conf_instance){.name = names[i],
                                              .plugin = plugin,
                                              .enabled = true,
                                              .grants = i ? CONF_SUBMIT | CONF_ANSWER : 0,
                                              .queue_events = 64,
                                              .queue_bytes = 1 << 20,
                                              .isolation = CONF_THREAD,
                                              .init_ms = DEADLINE_MS,
                                              .callback_ms = DEADLINE_MS,
                                              .options = options[i]};
    }
}

/* services: or NULL */
static void begin_with(const struct connector_services *services)
{
    unsigned failed;
    configure();
    d = dispatch_new(&conf, services, &failed);
    is_int(failed, 0, "all instances run");
}

static void begin(void)
{
    begin_with(NULL);
}

static void end(void)
{
    is_int(dispatch_free(d, DEADLINE_MS), 0, "all instances end in time");
}

/* "start final done", of one of the three. */
static const char *kinds_of(size_t i)
{
    static char out[2000];
    size_t n;
    char *const text = tap_slurp(paths[i], &n);
    char *save = NULL;
    out[0] = '\0';
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        const char *const type = strstr(line, "\"type\":\"") + strlen("\"type\":\"");
        strcat(out, *out ? " " : "");
        strncat(out, type, strcspn(type, "\""));
    }
    free(text);
    return out;
}

static bool was_told(size_t i, const char *text)
{
    size_t n;
    char *const all = tap_slurp(paths[i], &n);
    const bool found = strstr(all, text) != NULL;
    free(all);
    return found;
}

/* ---- turns ---- */

static struct event draft(enum tc_kind kind)
{
    struct event ev;
    event_init(&ev, kind);
    ev.meta = (struct tc_meta){.seq = ++seq,
                               .ts = 1700000000.0,
                               .src = "claude",
                               .correlation_id = "t",
                               .session_id = "s"};
    return ev;
}

static void cast(struct event ev)
{
    ev.u.meta = &ev.meta;
    dispatch_event(turn, &ev);
}

static void open_unstarted(const char *submitter, const char *conversation, const char *named)
{
    const enum visibility_switch on = SHOW_ON;
    turn = dispatch_open_turn(d, &(struct dispatch_turn_spec){.id = "t",
                                                              .agent = "claude",
                                                              .conversation = conversation,
                                                              .submitter = submitter,
                                                              .instances = named,
                                                              .visibility = {on, on, on, on, on}});
    seq = 0;
}

static void open_turn(const char *submitter, const char *conversation, const char *named)
{
    open_unstarted(submitter, conversation, named);
    cast(draft(TC_START));
}

static void cast_request(const char *id, const char *state, const char *to)
{
    struct event ev = draft(TC_REQUEST);
    ev.u.request = (struct tc_request){.meta = NULL,
                                       .request_id = id,
                                       .kind = "approval",
                                       .state = state,
                                       .tool = "Bash",
                                       .args = "{}",
                                       .choices = to ? "[]" : NULL,
                                       .to = to,
                                       .blocking = true};
    cast(ev);
}

static void cast_call(void)
{
    struct event call = draft(TC_TOOL_CALL), result = draft(TC_TOOL_RESULT);
    call.u.tool_call.name = "Bash";
    call.u.tool_call.args = "{\"command\":\"SECRET\"}";
    call.u.tool_call.tool_use_id = result.u.tool_result.tool_use_id = "u";
    cast(call);
    cast(result);
}

static struct event final(void)
{
    struct event ev = draft(TC_FINAL);
    ev.u.final.text = "bye";
    ev.u.final.text_len = 3;
    return ev;
}

static void close_turn(void)
{
    cast(final());
    cast(draft(TC_DONE));
    dispatch_close_turn(turn);
}

static void add_name(void *ctx, const char *name)
{
    buf_printf(ctx, "%s ", name);
}

static void add_recipient(void *ctx, const char *instance, struct str line)
{
    (void)line;
    add_name(ctx, instance);
}

/* wanted: the instances that the outcome is stored for, as "log tg ". */
static void is_owed_to(const char *wanted, const char *what)
{
    CLEANUP_BUF struct buf names = {0};
    struct event ev = final();
    ev.u.meta = &ev.meta;
    dispatch_each_recipient(turn, &ev, add_recipient, &names);
    is_str(names.len ? names.p : "", wanted, "%s", what);
}

#define WHOLE "start tool_call tool_result final done"

static void test_own(void)
{
    begin();
    open_turn("tg", "tg:1", NULL);
    cast_call();
    is_owed_to("log tg ", "the outcome is stored for the instances that see the turn");
    ok(dispatch_shows(d, "tg", "t") && dispatch_shows(d, "log", "t"),
       "both instances show the turn");
    ok(!dispatch_shows(d, "sl", "t") && !dispatch_shows(d, "none", "t"),
       "no other instance shows the turn");
    ok(!dispatch_shows(d, "tg", "u"), "the instance does not show another turn");
    cast(final());
    ok(dispatch_shows(d, "tg", "t"), "the turn is shown until it is done");
    cast(draft(TC_DONE));
    ok(!dispatch_shows(d, "tg", "t"), "the turn is not shown after that");
    dispatch_close_turn(turn);
    end();
    is_str(kinds_of(0), WHOLE, "an instance without submit sees all turns");
    is_str(kinds_of(1), WHOLE, "a chat instance sees the turns that began there");
    is_str(kinds_of(2), "", "another chat instance sees nothing of the turn");
    ok(!was_told(2, "SECRET"), "  another chat instance sees no tool call");
}

static void test_foreign(void)
{
    begin();
    open_turn("http", "http:ann:claude:x", NULL);
    close_turn();
    open_turn(NULL, NULL, NULL);
    close_turn();
    end();
    is_str(kinds_of(0), "start final done start final done",
           "an instance without submit sees turns of HTTP and run");
    is_str(kinds_of(1), "", "a chat instance sees no turns of HTTP and run");
}

static void test_named(void)
{
    begin();
    open_turn("http", "http:ann:claude:x", "sl");
    is_owed_to("log sl ", "the outcome is stored for a named instance");
    close_turn();
    end();
    is_str(kinds_of(1), "", "an instance that is not named sees nothing");
    is_str(kinds_of(2), "start final done", "a named instance sees the turn");
}

static void test_admitted(void)
{
    CLEANUP_BUF struct buf names = {0};
    begin();
    dispatch_each_admitted(
        d, &(struct conf_scope_turn){.agent = "claude", .conversation = "sl:1", .source = "sl"},
        add_name, &names);
    is_str(names.p, "log sl ", "the instances of a turn are known before it begins");
    end();
}

/* As a reload does: what is read of a scope is read when a turn begins. */
static void test_change(void)
{
    begin();
    open_turn("http", "http:ann:claude:x", NULL);
    instances[1].scope.turns = CONF_TURNS_ALL;
    close_turn();
    open_turn("http", "http:ann:claude:x", NULL);
    instances[1].scope.turns = CONF_TURNS_OWN;
    is_owed_to("log tg ", "a running turn keeps the instances it began with");
    close_turn();
    end();
    is_str(kinds_of(1), "start final done", "the next turn has the new scope");
}

/* ---- requests that a rule sends elsewhere ---- */

static void test_asked(void)
{
    begin();
    open_turn("tg", "tg:1", NULL);
    cast_call();
    cast_request("r1", "open", "[\"tg\",\"sl:C1:2\"]");
    cast_request("r2", "open", "[\"tg:1\"]");
    is_owed_to("log tg ", "no outcome is stored for an instance that only receives a request");
    cast_request("r2", "resolved", NULL);
    cast_request("r1", "resolved", NULL);
    cast_request("r1", "resolved", NULL);
    close_turn();
    end();
    is_str(kinds_of(1),
           "start tool_call tool_result request request request request request final done",
           "the instance where the turn began sees all of it");
    is_str(kinds_of(2), "start request request done",
           "an instance that receives a request sees it and its decision");
    ok(was_told(2, "\"resumed\":true"), "  its start has resumed = true");
    ok(was_told(2, "r1") && !was_told(2, "r2"), "  it does not see requests for other instances");
    ok(!was_told(2, "SECRET"), "  it sees no tool call");
}

static void asks(const char *to, bool wanted)
{
    begin();
    open_turn("tg", "tg:1", NULL);
    cast_request("r1", "open", to);
    close_turn();
    end();
    is_str(kinds_of(2), wanted ? "start request done" : "", "an open request to %s", to);
}

static void test_places(void)
{
    asks("[\"sl\"]", true);
    asks("[\"x\",\"sl\"]", true);
    asks("[\"sl:C\"]", true);
    asks("[\"sl2\"]", false);
    asks("[\"osl\"]", false);
    asks("[\"tg:sl\"]", false);
    asks("[\"tg:\\\"sl\\\"\"]", false);
    asks("[\"tg:[\\\"sl\"]", false);
    asks("[]", false);
    asks("", false);
}

/* A turn that ends with what was asked still open. */
static void test_unanswered(void)
{
    begin();
    open_turn("tg", "tg:1", NULL);
    cast_request("r1", "open", "[\"sl\"]");
    cast_request("r2", "open", "[\"sl\"]");
    close_turn();
    end();
    is_str(kinds_of(2), "start request request done",
           "an instance that received a request sees the end of the turn");
}

static void open_guest(const char *memory, bool is_part)
{
    const enum visibility_switch on = SHOW_ON;
    turn = dispatch_open_guest(
        d, &(struct dispatch_guest_spec){.turn = {.id = "t",
                                                  .agent = "claude",
                                                  .conversation = "http:1",
                                                  .submitter = "http",
                                                  .visibility = {on, on, on, on, on}},
                                         .instance = "sl",
                                         .memory = memory,
                                         .is_part = is_part});
    seq = 0;
    cast(draft(TC_START));
}

static void test_guest(void)
{
    begin();
    open_guest(NULL, false);
    ok(dispatch_has_guest(turn), "a turn of another host is opened as a guest");
    ok(dispatch_shows(d, "sl", "t") && !dispatch_shows(d, "tg", "t"),
       "the guest is shown at that instance only");
    cast_call();
    cast_request("r1", "open", "[\"tg\"]");
    struct event outcome = final();
    dispatch_end_guest(turn, &outcome);
    ok(!dispatch_has_guest(turn), "the guest ends with its outcome");
    dispatch_close_turn(turn);
    end();
    is_str(kinds_of(0), "", "an instance for which the guest was not opened sees nothing");
    is_str(kinds_of(1), "", "an instance that a request of the guest names sees nothing");
    is_str(kinds_of(2), "start tool_call tool_result request final done",
           "the instance of the guest sees the turn");
    ok(was_told(2, "\"reason\":\"completed\""), "the instance sees the reason of the end");
}

static void test_guest_suspended(void)
{
    begin();
    open_guest("{}", false);
    dispatch_suspend_guest(turn);
    dispatch_close_turn(turn);
    end();
    is_str(kinds_of(2), "start done", "a suspended guest ends with done");
    ok(was_told(2, "\"reason\":\"suspended\""), "the reason of the end is suspended");
}

static void test_guest_asked(void)
{
    begin();
    open_guest(NULL, true);
    cast_call();
    cast_request("r1", "open", "[\"sl:C\"]");
    ok(!dispatch_shows(d, "sl", "t"), "a turn of which it receives requests alone is not shown");
    cast_request("r1", "resolved", NULL);
    dispatch_suspend_guest(turn);
    dispatch_close_turn(turn);
    is_str(dispatch_open_guest(
               d, &(struct dispatch_guest_spec){.turn = {.id = "t"}, .instance = "none"})
               ? "open"
               : "none",
           "none", "a guest for an unknown instance is not opened");
    end();
    is_str(kinds_of(2), "start request request done",
           "a guest opened for a request sees the request only");
}

/* ---- turns that another host has adopted ---- */

static bool leads(void *ctx, const char *instance)
{
    (void)ctx;
    (void)instance;
    return true;
}

/* The chat tg was led by another host meanwhile, which has adopted the turn. */
static bool is_adopted(void *ctx, const char *instance, const char *id)
{
    (void)ctx;
    return strcmp(instance, "tg") == 0 && strcmp(id, "t") == 0;
}

static void test_adopted(void)
{
    const struct connector_services services = {.leads = leads, .is_adopted = is_adopted};
    begin_with(&services);
    open_turn("tg", "tg:1", "sl");
    is_owed_to("log sl ",
               "no outcome is stored for an instance whose turn another host has adopted");
    close_turn();
    end();
    is_str(kinds_of(1), "", "an instance whose turn another host has adopted sees nothing");
    is_str(kinds_of(2), "start final done", "another instance sees the turn");
}

/* ---- this host gains the lead ---- */

static bool is_leader;

static bool leads_now(void *ctx, const char *instance)
{
    (void)ctx;
    (void)instance;
    return is_leader;
}

static void on_changed(void *ctx, const struct tc_err *err)
{
    bool *const is_done = ctx;
    ok(!err, "the change is made");
    *is_done = true;
}

/* Starts all instances; or the one whose lead this host has gained. */
static void change(struct loop *loop, const char *led)
{
    bool is_done = false;
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    const struct dispatch_change_spec spec = {.done = on_changed, .ctx = &is_done};
    if (led)
        dispatch_change_lead(d, led, &spec);
    else
        dispatch_change_start(d, &spec);
    while (!is_done && clock_mono_ms() < end)
        loop_run_once(loop, 20);
}

static void test_lead(bool is_started)
{
    const struct connector_services services = {.loop = loop_new(), .leads = leads_now};
    is_leader = false;
    configure();
    d = dispatch_new_empty(&conf, &services);
    change(services.loop, NULL);
    open_unstarted("tg", "tg:1", NULL);
    if (is_started)
        cast(draft(TC_START));
    is_leader = true;
    change(services.loop, "tg");
    if (!is_started)
        cast(draft(TC_START));
    close_turn();
    end();
    is_str(kinds_of(1), "start final done", "a turn that %s before the host leads starts once",
           is_started ? "has started" : "was opened");
    loop_free(services.loop);
}

int main(void)
{
    plan_lazy();
    test_own();
    test_foreign();
    test_named();
    test_admitted();
    test_change();
    test_asked();
    test_places();
    test_unanswered();
    test_guest();
    test_guest_suspended();
    test_guest_asked();
    test_adopted();
    test_lead(false);
    test_lead(true);
}
