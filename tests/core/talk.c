/* SPDX-License-Identifier: MIT
 * Owns the configuration, the agent and the person of the conversations' tests. */
#include "core/talk.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys/clock.h"
#include "core/request/approvals.h"
#include "core/stage.h"
#include "fake/children.h"
#include "tap/tap.h"

#define DEADLINE_MS 30000

struct talk talk;

static unsigned messages;

/* ---- the host's side ---- */

static char *word(const char *text)
{
    return (char *)(uintptr_t)text;
}

static char mark[64], dump[512], state_dir[512], resume_arg[] = "mark={session_id}";
static char *none[] = {NULL}, *resume[] = {resume_arg, NULL};
static char *people[] = {(char[]){"1"}, (char[]){"2"}, NULL};
static char *words[40];
static struct conf_agent agent;

static void talk_open_inbound(void)
{
    talk.reception = inbound_new(&(struct inbound_spec){
        .conf = &talk.conf,
        .dispatch = &talk.log,
        .journal = &talk.disk,
        .conversations = talk.all,
        .switches = talk.switches,
        .sessions = talk.sessions,
        .bindings = talk.bindings,
        .history = talk.history,
        .usage = talk.usage,
        .requests = talk.requests,
        .approvals = talk.approvals,
        .pairing = talk.pairing,
    });
}

void talk_renew(void)
{
    inbound_free(talk.reception);
    pairing_free(talk.pairing);
    talk.pairing = pairing_new(&talk.disk);
    talk_open_inbound();
}

/* An agent that works until it is told to answer (SIGUSR1), unless `others` say otherwise. */
void talk_begin(const char *const *others)
{
    static const char *const slow[] = {SAY_INIT, "print_on=10", SAY_HI, "sleep", NULL};
    size_t n = 0;
    words[n++] = word(children_agent());
    words[n++] = mark;
    words[n++] = dump;
    for (others = others ? others : slow; *others; others++)
        words[n++] = word(*others);
    words[n] = NULL;
    agent = (struct conf_agent){
        .name = word("fake"),
        .prefix = none,
        .command = words,
        .resume = resume,
        .dialect = word("claude"),
        .env_pass = none,
        .env_set = none,
        .grace.exit_ms = 100,
        .grace.term_ms = 100,
        .max_line = 16 << 20,
        .attempts = 1,
    };
    talk.agent = &agent;
    talk.instances[0] = (struct conf_instance){
        .name = word("tg"), .grants = CONF_SUBMIT | CONF_CANCEL, .allow = people};
    talk.instances[1] =
        (struct conf_instance){.name = word("sl"), .grants = CONF_SUBMIT, .allow = people};
    talk.conf = (struct conf){
        .file = word("my.conf"),
        .agents = &agent,
        .n_agents = 1,
        .instances = talk.instances,
        .n_instances = 2,
        .show = {-1, -1, -1, -1, -1},
        .state_dir = state_dir,
        .store = talk.store,
        .conversations =
            {.queue = 3, .max_turns = 32, .per_user = 32, .max_warm = 4, .drain_ms = 20000},
    };
    talk.disk = (struct journal_async){.loop = talk.loop};
    talk.log.conf = &talk.conf;
    talk.settings = settings_worker_new(talk.loop, &talk.conf);
    talk.switches = visibility_cache_new(talk.settings, &talk.conf);
    talk.sessions = session_store_new(&talk.disk, talk.settings);
    talk.bindings = bindings_new(&talk.disk);
    talk.pairing = pairing_new(&talk.disk);
    talk.history = session_history_new(&talk.disk);
    talk.usage = usage_log_new(&talk.disk);
    talk.approvals = approvals_new(&talk.disk);
    talk.requests = request_registry_new(
        &(struct request_registry_spec){.loop = talk.loop, .approvals = talk.approvals});
    talk.all = turn_scheduler_new(&(struct turn_scheduler_spec){
        .conf = &talk.conf,
        .loop = talk.loop,
        .journal = &talk.disk,
        .switches = talk.switches,
        .sessions = talk.sessions,
        .bindings = talk.bindings,
        .history = talk.history,
        .usage = talk.usage,
        .dispatch = &talk.log,
        .requests = talk.requests,
    });
    talk_open_inbound();
}

static bool is_disk_quiet(const void *arg)
{
    (void)arg;
    return talk.disk.pending == 0;
}

void talk_end(const char *what)
{
    talk_spin(is_disk_quiet, NULL); /* as journal_async_close does */
    is_int(turn_scheduler_count_running(talk.all), 0, "%s: nothing runs", what);
    settings_worker_free(talk.settings);
    inbound_free(talk.reception);
    turn_scheduler_free(talk.all);
    request_registry_free(talk.requests);
    approvals_free(talk.approvals);
    session_store_free(talk.sessions);
    bindings_free(talk.bindings);
    pairing_free(talk.pairing);
    session_history_free(talk.history);
    usage_log_free(talk.usage);
    visibility_cache_free(talk.switches);
    is_int(children_marked(mark), 0, "%s: no process is left", what);
    fake_ledger_fini(&talk.disk);
    cast_log_fini(&talk.log);
}

/* ---- the person's side ---- */

void host_call_complete(struct host_call *a, enum tc_accepted accepted, const char *turn,
                        const char *answer)
{
    struct said *const s = (struct said *)(void *)a;
    s->answered = true;
    s->accepted = accepted;
    snprintf(s->turn, sizeof s->turn, "%s", turn ? turn : "");
    snprintf(s->answer, sizeof s->answer, "%s", answer ? answer : "");
}

void talk_spin(bool (*there)(const void *arg), const void *arg)
{
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!there(arg) && clock_mono_ms() < until)
        loop_run_once(talk.loop, 100);
}

bool talk_is_answered(const void *arg)
{
    return ((const struct said *)arg)->answered;
}

static struct said talk_submit(const char *instance, struct tc_inbound in)
{
    struct said s = {.in = in};
    snprintf(s.id, sizeof s.id, "m%u", ++messages);
    s.in.size = sizeof s.in;
    s.in.id = s.id;
    s.in.route = "{\"r\":1}";
    s.ask = (struct host_call){.kind = HOST_CALL_SUBMIT, .instance = instance, .inbound = &s.in};
    inbound_handle(talk.reception, &s.ask);
    talk_spin(talk_is_answered, &s);
    s.in.id = NULL; /* it points into another copy */
    return s;
}

struct said talk_as(const char *instance, const char *user, const char *chat, const char *text)
{
    return talk_submit(instance, (struct tc_inbound){.chat = chat, .user = user, .text = text});
}

struct said talk_name(const char *named, const char *text)
{
    const char *const names[] = {named};
    return talk_submit(
        "tg", (struct tc_inbound){
                  .chat = "A", .user = "1", .text = text, .instances = names, .instance_count = 1});
}

struct said talk_say(const char *text)
{
    return talk_as("tg", "1", "A", text);
}

struct said talk_cancel(const char *instance, const char *user, const char *turn)
{
    struct said s = {
        .ask = {.kind = HOST_CALL_CANCEL, .instance = instance, .turn = turn, .user = user}};
    inbound_handle(talk.reception, &s.ask);
    return s;
}

void talk_is(struct said s, enum tc_accepted accepted, const char *answer, const char *what)
{
    is_int(s.accepted, accepted, "%s", what);
    if (answer)
        is_str(s.answer, answer, "%s: the answer to the user", what);
}

bool talk_is_logged(const void *text)
{
    return strstr(cast_log_text(&talk.log), text);
}

void talk_await_log(const char *text, const char *what)
{
    talk_spin(talk_is_logged, text);
    ok(talk_is_logged(text), "%s: %s in %s", what, text, cast_log_text(&talk.log));
}

static bool has_states(const void *arg)
{
    return strcmp(fake_ledger_states(&talk.disk), arg) == 0;
}

void talk_await_states(const char *states, const char *what)
{
    talk_spin(has_states, states);
    is_str(fake_ledger_states(&talk.disk), states, "%s", what);
}

static bool is_quiet(const void *arg)
{
    (void)arg;
    return turn_scheduler_count_running(talk.all) == 0 &&
           !strstr(fake_ledger_states(&talk.disk), "waiting");
}

void talk_await_quiet(void)
{
    talk_spin(is_quiet, NULL);
}

void talk_end_quiet(const char *what)
{
    talk_await_quiet();
    talk_end(what);
}

/* What is noted is the shim, whose child is the agent. */
static pid_t agent_below(int64_t shim)
{
    char path[80];
    long pid = 0;
    snprintf(path, sizeof path, "/proc/%lld/task/%lld/children", (long long)shim, (long long)shim);
    FILE *const f = fopen(path, "re");
    if (!f || fscanf(f, "%ld", &pid) != 1 || pid <= 1)
        bail("no agent below %lld", (long long)shim);
    fclose(f);
    return (pid_t)pid;
}

/* The i-th turn gets its answer. */
void talk_finish(size_t i)
{
    kill(agent_below(talk.disk.turns[i].pid), SIGUSR1);
}

static bool works(const void *arg)
{
    const char *at = cast_log_text(&talk.log);
    unsigned n = 0;
    while ((at = strstr(at, "n(hi)")) && ++n)
        at++;
    return n >= *(const unsigned *)arg;
}

/* So many turns have begun to speak. */
void talk_await_working(unsigned n)
{
    talk_spin(works, &n);
    ok(works(&n), "number of agents that are working: %u", n);
}

bool talk_dumped(const char *piece)
{
    size_t len;
    char *const text = tap_slurp(strchr(dump, '=') + 1, &len);
    const bool found = strstr(text, piece);
    free(text);
    return found;
}

void talk_init(void)
{
    stage_init();
    talk.loop = stage_loop();
    snprintf(mark, sizeof mark, "%s", children_mark());
    snprintf(dump, sizeof dump, "dump=%s/dump", tap_tmpdir());
    snprintf(state_dir, sizeof state_dir, "%s/state", tap_tmpdir());
}
