/* SPDX-License-Identifier: MIT
 * Whatever an agent does, its turn ends in the right outcome within its time, and nothing of it
 * is left. Each row is one fault. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sys/log.h"
#include "core/stage.h"
#include "tap/tap.h"

#define WORDS_MAX 10

struct fault {
    const char *name;
    const char *words[WORDS_MAX];
    const char *wanted;
    int64_t idle_ms, total_ms; /* 0: none */
    int64_t at_least_ms, at_most_ms;
    const char *notice;  /* must be among the events; or NULL */
    const char *without; /* must not be among the events; or NULL */
};

#define FINAL_HI "final(hi) done(completed)"
#define TIMEOUT "error(agent_timeout: "
#define SOON 40000 /* less than DEADLINE_MS of stage.c: a limit for hangs, not for speed */

static const struct fault faults[] = {
    {"exit with a status, before any output",
     {"errtext=first", "errtext=boom", "exit=3"},
     "error(agent_exit: The agent exited with status 3: boom.) done(lost)",
     .at_most_ms = SOON},
    {"a status, and a sentence on stderr",
     {"errtext=first", "errtext=Try --help.", "exit=3"},
     "error(agent_exit: The agent exited with status 3: Try --help.) done(lost)",
     .at_most_ms = SOON},
    {"exit with a status, within the turn",
     {SAY_INIT, SAY_HI, "exit=1"},
     "error(agent_exit: The agent exited with status 1.) done(lost)",
     .at_most_ms = SOON},
    {"SIGSEGV",
     {SAY_INIT, "kill=11"},
     "error(agent_signal: The agent was killed by SIGSEGV.) done(lost)",
     .at_most_ms = SOON},
    {"SIGKILL from another process",
     {SAY_INIT, "kill=9"},
     "error(agent_signal: The agent was killed by SIGKILL; the system may be out of memory (see "
     "the kernel log).) done(lost)",
     .at_most_ms = SOON},
    {"SIGTERM from a tool of the agent",
     {SAY_INIT, "kill=15"},
     "error(agent_signal: The agent was killed by SIGTERM.) done(lost)",
     .at_most_ms = SOON},
    {"exit with 0 and without a result, after text",
     {SAY_INIT, SAY_HI},
     "error(agent_no_result: The agent exited with status 0 but printed no result.) done(lost)",
     .at_most_ms = SOON},
    {"exit with 0 without output",
     {"exit=0"},
     "error(agent_no_result: The agent exited with status 0 but printed no result.) done(lost)",
     .at_most_ms = SOON},
    {"a result, then no exit",
     {SAY_INIT, SAY_HI, SAY_RESULT, "sleep"},
     FINAL_HI,
     .at_least_ms = 100,
     .at_most_ms = SOON},
    {"a result, then no exit; SIGTERM is ignored",
     {"ignore=15", SAY_INIT, SAY_HI, SAY_RESULT, "child=double", "sleep"},
     FINAL_HI,
     .at_least_ms = 200,
     .at_most_ms = SOON},
    {"a result, then an exit status",
     {SAY_INIT, SAY_HI, SAY_RESULT, "exit=1"},
     FINAL_HI,
     .at_most_ms = SOON},
    {"a result, then death by a signal",
     {SAY_INIT, SAY_HI, SAY_RESULT, "kill=9"},
     FINAL_HI,
     .at_most_ms = SOON},
    {"an error result, then an exit status",
     {SAY_INIT, SAY_ERROR("it broke"), "exit=1"},
     "error(*",
     .at_most_ms = SOON},
    {"two results",
     {SAY_INIT, SAY_HI, SAY_RESULT, "text=" RESULT("other"), "exit=0"},
     FINAL_HI,
     .at_most_ms = SOON},
    {"silence",
     {SAY_INIT, "sleep"},
     TIMEOUT
     "The agent produced no output for 0.4 s (idle_timeout_s) and was stopped.) done(error)",
     .idle_ms = 400,
     .at_least_ms = 400,
     .at_most_ms = SOON,
     .notice = "notice(still_working)"},
    {"silence before the first line, SIGTERM and SIGINT ignored",
     {"ignore=15", "ignore=2", "sleep"},
     TIMEOUT "The agent produced no output for 2 s (idle_timeout_s) and was stopped.) done(error)",
     .idle_ms = 2000, /* by then it ignores them */
     .at_least_ms = 2200,
     .at_most_ms = SOON},
    {"endless output",
     {SAY_INIT, "child=loud", "sleep"},
     TIMEOUT "The turn exceeded its limit of 0.3 s (turn_timeout_s) and was stopped.) done(error)",
     .idle_ms = 5000,
     .total_ms = 300,
     .at_least_ms = 300,
     .at_most_ms = SOON},
    {"a stopped process",
     {SAY_INIT, "kill=19"},
     TIMEOUT
     "The agent produced no output for 0.2 s (idle_timeout_s) and was stopped.) done(error)",
     .idle_ms = 200,
     .at_most_ms = SOON},
    {"stdout closed, then no exit",
     {SAY_INIT, "close=1", "sleep"},
     TIMEOUT "The agent closed its output but did not exit; it was stopped.) done(error)",
     .at_least_ms = 200,
     .at_most_ms = SOON},
    {"stdout closed after the result, then no exit",
     {SAY_INIT, SAY_HI, SAY_RESULT, "close=1", "sleep"},
     FINAL_HI,
     .at_most_ms = SOON},
    {"stdout closed, then an exit status",
     {SAY_INIT, "close=1", "ms=20", "exit=4"},
     "error(agent_exit: The agent exited with status 4.) done(lost)",
     .at_most_ms = SOON},
    {"output cut at 64 KiB",
     {SAY_INIT, "cut=65536,200000", "exit=0"},
     "error(agent_truncated: *",
     .at_most_ms = SOON},
    {"a last line without newline",
     {SAY_INIT, SAY_HI, "partial=" RESULT("hi"), "exit=0"},
     FINAL_HI,
     .at_most_ms = SOON},
    {"a last line without newline, and a temporary error on stderr",
     {SAY_INIT, SAY_HI, "errtext=429", "partial=" RESULT("hi"), "exit=1"},
     FINAL_HI,
     .at_most_ms = SOON,
     .without = "notice(retry)"},
    {"the result in pieces of 7 bytes",
     {"chunk=7", SAY_INIT, SAY_HI, SAY_RESULT},
     FINAL_HI,
     .at_most_ms = SOON},
    {"text that is not JSON between the events",
     {SAY_INIT, "text=npm WARN something", SAY_HI, "text=Segmentation fault", SAY_RESULT},
     FINAL_HI,
     .at_most_ms = SOON,
     .notice = "notice(unparsable_line)"},
    {"a line of 64 MiB",
     {SAY_INIT, "line=67108864", SAY_HI, SAY_RESULT},
     FINAL_HI,
     .at_most_ms = SOON,
     .notice = "notice(line_dropped)"},
    {"a line of 15 MiB that is not a JSON object",
     {SAY_INIT, "json=15728640", SAY_HI, SAY_RESULT},
     FINAL_HI,
     .at_most_ms = SOON},
    {"100 MB of stderr",
     {SAY_INIT, "stderr=100000000", SAY_HI, SAY_RESULT},
     FINAL_HI,
     .at_most_ms = SOON},
    {"a child that keeps the pipes open",
     {SAY_INIT, SAY_HI, SAY_RESULT, "child=plain", "exit=0"},
     FINAL_HI,
     .at_most_ms = SOON},
    {"a child in its own session",
     {SAY_INIT, SAY_HI, SAY_RESULT, "child=setsid", "exit=0"},
     FINAL_HI,
     .at_most_ms = SOON},
    {"a child forked twice, and no result",
     {SAY_INIT, "child=double", "exit=0"},
     "error(agent_no_result: *",
     .at_most_ms = SOON},
    {"a child that continues to write",
     {SAY_INIT, SAY_HI, SAY_RESULT, "child=loud", "exit=0"},
     FINAL_HI,
     .at_most_ms = SOON},
    {"200 children",
     {SAY_INIT, "children=200", "ms=20", "exit=0"},
     "error(agent_no_result: *",
     .at_most_ms = SOON},
    {"a fork bomb, and no exit",
     {"ignore=15", "ignore=2", SAY_INIT, "bomb=200", "sleep"},
     TIMEOUT "*",
     .idle_ms = 300,
     .at_most_ms = SOON},
    {"children that fork and exit without end",
     {SAY_INIT, SAY_HI, SAY_RESULT, "hoppers=4", "exit=0"},
     FINAL_HI,
     .at_most_ms = SOON},
    {"the agent kills its shim",
     {SAY_INIT, "child=double", "child=setsid", "parent=9", "sleep"},
     "error(agent_signal: The agent was killed by SIGKILL; the system may be out of memory (see "
     "the kernel log).) done(lost)",
     .at_most_ms = SOON},
    {"the agent stops its shim after the result",
     {SAY_INIT, SAY_HI, SAY_RESULT, "child=double", "parent=19", "exit=0"},
     FINAL_HI,
     .at_most_ms = SOON},
    {"200 children, and no exit",
     {"ignore=15", "ignore=2", SAY_INIT, "children=200", "sleep"},
     TIMEOUT "*",
     .idle_ms = 300,
     .at_most_ms = SOON},
};

static void test_fault(const struct fault *f)
{
    struct stage s = {0};
    stage_set(&s, f->words);
    s.agent.idle_timeout_ms = f->idle_ms;
    s.agent.turn_timeout_ms = f->total_ms;
    stage_begin(&s);
    stage_wait(&s, "done(");
    ok(!f->notice || strstr(cast_log_text(&s.log), f->notice), "%s: %s", f->name,
       f->notice ? f->notice : "no notice wanted");
    ok(!f->without || !strstr(cast_log_text(&s.log), f->without), "%s: no %s", f->name,
       f->without ? f->without : "event is forbidden");
    stage_end(&s, f->wanted, f->name);
    ok(s.took_ms >= f->at_least_ms && s.took_ms <= f->at_most_ms,
       "%s: between %lld and %lld ms (%lld)", f->name, (long long)f->at_least_ms,
       (long long)f->at_most_ms, (long long)s.took_ms);
}

/* A final is told when it is read, not when the agent has gone. */
static void test_final_at_once(void)
{
    struct stage s = {0};
    stage_set(&s, WORDS("ignore=15", SAY_INIT, SAY_HI, SAY_RESULT, "sleep"));
    s.agent.grace.exit_ms = 400;
    stage_begin(&s);
    stage_wait(&s, "done(");
    const double between = s.log.done_s - s.log.final_s;
    ok(between > 0.4, "final is cast at once, and done when no process is left (%.3f s)", between);
    stage_end(&s, FINAL_HI, "a result, then no exit for a longer time");
}

/* The high-water mark of resident memory in KiB, or -1 where it cannot be reset. */
static long peak_kib(bool reset)
{
    if (reset) {
        FILE *const f = fopen("/proc/self/clear_refs", "we");
        if (!f || fputs("5", f) < 0 || fclose(f) != 0)
            return -1;
    }
    FILE *const f = fopen("/proc/self/status", "re");
    char line[256];
    long kib = -1;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib;
}

static void test_memory(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(1, "memory of a sanitizer");
    return;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    skip(1, "memory of a sanitizer");
    return;
#endif
#endif
    if (peak_kib(true) < 0) {
        skip(1, "the high-water mark cannot be reset");
        return;
    }
    struct stage s = {0};
    stage_set(&s, WORDS(SAY_INIT, "line=67108864", "json=15728640", SAY_HI, SAY_RESULT));
    stage_run(&s, FINAL_HI, "a turn with long lines");
    const long kib = peak_kib(false);
    ok(kib < 64 << 10, "long lines take less than 64 MiB (%ld KiB)", kib);
}

static void test_spawn(const char *program, const char *cwd, const char *wanted, const char *what)
{
    char path[64], directory[64];
    snprintf(path, sizeof path, "%s", program);
    snprintf(directory, sizeof directory, "%s", cwd);
    struct stage s = {0};
    stage_set(&s, WORDS("exit=0"));
    s.agent.command = (char *[]){path, NULL};
    s.agent.cwd = directory;
    stage_run(&s, wanted, what);
    ok(s.spawn_failed, "%s: the executor reports a failed start", what);
}

static void test_spawns(void)
{
    static const char no[] = "error(agent_spawn: cannot start agent \"fake\": ";
    char wanted[200];
    snprintf(wanted, sizeof wanted, "%s/nonexistent/agent: No such file or directory) done(error)",
             no);
    test_spawn("/nonexistent/agent", "/", wanted, "a program that does not exist");
    snprintf(wanted, sizeof wanted, "%s/tmp: Permission denied) done(error)", no);
    test_spawn("/tmp", "/", wanted, "a directory instead of a program");
    snprintf(wanted, sizeof wanted,
             "%s/bin/true: cannot change to working directory /nonexistent (cwd): "
             "No such file or directory) done(error)",
             no);
    test_spawn("/bin/true", "/nonexistent", wanted, "a working directory that does not exist");
}

/* What people read is short, what the operator reads is whole, and neither has a secret in it. */
static void test_stderr_told(void)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/log", tap_tmpdir());
    FILE *const f = fopen(path, "we");
    if (!f)
        bail("no log");
    log_setup(LOG_TEXT, LOG_INFO, fileno(f));
    log_add_secret("canary-of-the-key");
    struct stage s = {0};
    stage_set(&s, WORDS("errtext=line one", "errtext=the key is canary-of-the-key", "exit=7"));
    stage_run(&s, "error(agent_exit: The agent exited with status 7: the key is ***.) done(lost)",
              "stderr with a secret");
    log_setup(LOG_TEXT, LOG_WARN, 2);
    log_forget_secrets();
    fclose(f);
    char *const text = tap_slurp(path, NULL);
    has_str(text, "line one", "the log has the last lines of stderr");
    has_str(text, "status 7", "the log has the exit status");
    ok(!strstr(text, "canary"), "the log does not have the secret");
    free(text);
}

int main(void)
{
    plan_lazy();
    stage_init();
    log_setup(LOG_TEXT, LOG_ERR, -1);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        test_fault(&faults[i]);
    test_final_at_once();
    test_memory();
    test_spawns();
    test_stderr_told();
    stage_fini();
    return 0;
}
