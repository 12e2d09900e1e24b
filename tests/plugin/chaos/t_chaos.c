/* SPDX-License-Identifier: MIT
 * Tests of plugin/chaos/chaos.h: when a fault is injected, and its effect. */
#include "plugin/chaos/chaos.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "tap/tap.h"

#define END                                                                                        \
    {                                                                                              \
        .what = CHAOS_NOTHING                                                                      \
    }

static const struct str none = {"", 0};
static bool there;

static bool is_there(const char *path)
{
    return there && strcmp(path, "/trigger") == 0;
}

/* Returns the faults of n calls: the first letter of each fault, or a dot. */
static const char *draw_faults(struct chaos *c, const char *callback, struct str line, int n)
{
    static const char requests[] = {[CHAOS_ERROR] = 'e', [CHAOS_DELAY] = 'd', [CHAOS_CRASH] = 'c'};
    static char text[128];
    for (int i = 0; i < n; i++) {
        const struct conf_chaos *const rule = chaos_select_fault(c, callback, line, is_there);
        text[i] = rule ? requests[rule->what] : '.';
    }
    text[n] = 0;
    return text;
}

/* ---- when ---- */

static void test_every(void)
{
    const struct conf_chaos rules[] = {{.what = CHAOS_ERROR, .every = 3, .rate = -1}, END};
    struct chaos *const c = chaos_new(rules);
    is_str(draw_faults(c, "on_final", none, 9), "..e..e..e", "every third call has a fault");
    is_str(draw_faults(c, "on_event", none, 3), "..e",
           "calls of all callbacks are counted together");
    is_str(draw_faults(c, "init", none, 3), "...", "init has no fault");
    is_str(draw_faults(c, "teardown", none, 3), "...", "teardown has no fault");
    is_str(draw_faults(c, "on_final", none, 3), "..e", "init and teardown are not counted");
    chaos_free(c);
    ok(!chaos_new(NULL), "no rules create no chaos");
    ok(!chaos_new((const struct conf_chaos[]){END}), "an empty list creates no chaos");
    chaos_free(NULL);
}

static void test_callback(void)
{
    const struct conf_chaos rules[] = {
        {.what = CHAOS_ERROR, .callback = "on_final", .rate = -1},
        {.what = CHAOS_CRASH, .callback = "init", .rate = -1},
        END,
    };
    struct chaos *const c = chaos_new(rules);
    is_str(draw_faults(c, "on_error", none, 2), "..",
           "a rule for a callback does not affect others");
    is_str(draw_faults(c, "on_final", none, 2), "ee", "a rule for a callback affects each call");
    is_str(draw_faults(c, "init", none, 1), "c", "a rule that names init affects it");
    chaos_free(c);
}

static void test_text(void)
{
    const struct conf_chaos rules[] = {{.what = CHAOS_CRASH, .text = "magic", .rate = -1}, END};
    struct chaos *const c = chaos_new(rules);
    is_str(draw_faults(c, "on_event", STR("{\"text\":\"magi\"}"), 1), ".",
           "a rule with a text does not affect an event without it");
    is_str(draw_faults(c, "on_event", STR("{\"text\":\"a magic word\"}"), 1), "c",
           "a rule with a text affects an event with it");
    is_str(draw_faults(c, "on_idle", none, 1), ".",
           "a rule with a text does not affect a call without an event");
    chaos_free(c);
}

static void test_trigger(void)
{
    const struct conf_chaos rules[] = {
        {.what = CHAOS_DELAY, .trigger = "/trigger", .every = 2, .rate = -1}, END};
    struct chaos *const c = chaos_new(rules);
    is_str(draw_faults(c, "on_final", none, 3), "...",
           "without the trigger file there is no fault");
    there = true;
    is_str(draw_faults(c, "on_final", none, 3), ".d.",
           "with the trigger file the calls are counted");
    there = false;
    is_str(draw_faults(c, "on_final", none, 2), "..", "the trigger file is removed by the fault");
    chaos_free(c);
    ok(chaos_file_exists("/") && !chaos_file_exists("/no/such/file"), "existing files are found");
}

static void test_rate(void)
{
    const struct conf_chaos rules[] = {{.what = CHAOS_ERROR, .rate = 0.25, .seed = 7}, END};
    struct chaos *const a = chaos_new(rules), *const b = chaos_new(rules);
    char first[101];
    strcpy(first, draw_faults(a, "on_final", none, 100));
    is_str(draw_faults(b, "on_final", none, 100), first, "the same seed gives the same faults");
    int hits = 0;
    for (int i = 0; i < 100; i++)
        hits += first[i] == 'e';
    for (int i = 0; i < 99; i++)
        for (const char *p = draw_faults(a, "on_final", none, 100); *p; p++)
            hits += *p == 'e';
    ok(hits > 2300 && hits < 2700, "a quarter of 10,000 calls has faults: %d", hits);
    chaos_free(a);
    chaos_free(b);
    struct conf_chaos other[] = {{.what = CHAOS_ERROR, .rate = 0.25, .seed = 8}, END};
    struct chaos *c = chaos_new(other);
    ok(strcmp(draw_faults(c, "on_final", none, 100), first) != 0,
       "another seed gives other faults");
    chaos_free(c);
    other[0].rate = 0;
    c = chaos_new(other);
    is_str(draw_faults(c, "on_final", none, 5), ".....", "rate 0 gives no fault");
    chaos_free(c);
    other[0].rate = 1;
    c = chaos_new(other);
    is_str(draw_faults(c, "on_final", none, 5), "eeeee", "rate 1 gives a fault in each call");
    chaos_free(c);
}

static void test_several(void)
{
    const struct conf_chaos rules[] = {
        {.what = CHAOS_CRASH, .every = 2, .rate = -1},
        {.what = CHAOS_ERROR, .every = 3, .rate = -1},
        END,
    };
    struct chaos *const c = chaos_new(rules);
    is_str(draw_faults(c, "on_final", none, 12), ".cec.c.cec.c",
           "the first due rule is applied, and all rules count each call");
    chaos_free(c);
}

/* ---- what ---- */

/* Injects the fault in a child. Returns the exit status. */
static int do_in_child(const struct conf_chaos *what, void (*then)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        const struct conf_chaos rules[] = {*what, END};
        struct chaos *const c = chaos_new(rules);
        alarm(1);
        chaos_inject_fault(c, &rules[0]);
        chaos_free(c);
        if (then)
            then();
        _exit(77);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

static bool is_signal(int status, int wanted)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == wanted;
}

static void count_open_descriptors(void)
{
    bool any = false;
    for (int fd = 0; fd < 64; fd++)
        any |= fcntl(fd, F_GETFD) >= 0;
    _exit(any ? 1 : 42);
}

static void measure_memory(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    _exit(usage.ru_maxrss > 64 << 10 ? 42 : 1);
}

static void test_ends(void)
{
    ok(is_signal(do_in_child(&(struct conf_chaos){.what = CHAOS_CRASH}, NULL), SIGSEGV), "crash");
    ok(is_signal(do_in_child(&(struct conf_chaos){.what = CHAOS_ABORT}, NULL), SIGABRT), "abort");
    ok(is_signal(do_in_child(&(struct conf_chaos){.what = CHAOS_HANG}, NULL), SIGALRM),
       "hang: the process runs until it is killed");
    int status = do_in_child(&(struct conf_chaos){.what = CHAOS_EXIT}, NULL);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "exit");
    status = do_in_child(&(struct conf_chaos){.what = CHAOS_CLOSE}, count_open_descriptors);
    is_int(WEXITSTATUS(status), 42, "close: no descriptor is open");
    status =
        do_in_child(&(struct conf_chaos){.what = CHAOS_LEAK, .bytes = 64 << 20}, measure_memory);
    is_int(WEXITSTATUS(status), 42, "leak: the memory is allocated");
    status = do_in_child(&(struct conf_chaos){.what = CHAOS_ERROR}, NULL);
    is_int(WEXITSTATUS(status), 77,
           "error: the process continues, and the caller returns the error");
}

static void test_delay(void)
{
    const int64_t began = clock_mono_ms();
    chaos_inject_fault(NULL, &(struct conf_chaos){.what = CHAOS_DELAY, .delay_ms = 30});
    ok(clock_mono_ms() - began >= 30, "delay");
}

static void test_garbage(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        bail("socketpair: %s", strerror(errno));
    const struct conf_chaos rules[] = {{.what = CHAOS_GARBAGE, .seed = 3}, END};
    struct chaos *const c = chaos_new(rules);
    chaos_inject_fault(c, &rules[0]);
    char got[2][4096];
    is_int(read(ends[1], got[0], sizeof got[0]), sizeof got[0], "garbage is written to a socket");
    chaos_inject_fault(c, &rules[0]);
    is_int(read(ends[1], got[1], sizeof got[1]), sizeof got[1], "garbage is written again");
    ok(memcmp(got[0], got[1], sizeof got[0]) != 0, "the second garbage differs");
    chaos_free(c);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    plan_lazy();
    test_every();
    test_callback();
    test_text();
    test_trigger();
    test_rate();
    test_several();
    test_ends();
    test_delay();
    test_garbage();
    return 0;
}
