/* SPDX-License-Identifier: MIT
 * Tests of base/invariant.h: a failed assertion prints its place and condition, and aborts, in
 * every build. This file is compiled with -DNDEBUG. */
#include "base/invariant.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap/tap.h"

#ifndef NDEBUG
#error "to be compiled with -DNDEBUG"
#endif

struct died {
    int status;
    char said[1024];
};

/* The output and exit status of a process that calls fn. */
static struct died run_in_process(void (*fn)(void))
{
    struct died d = {0};
    int ends[2];
    fflush(stdout);
    if (pipe(ends) < 0)
        bail("no pipe");
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        fn();
        _exit(0);
    }
    close(ends[1]);
    size_t len = 0;
    for (ssize_t n; (n = read(ends[0], d.said + len, sizeof d.said - 1 - len)) > 0;)
        len += (size_t)n;
    close(ends[0]);
    waitpid(pid, &d.status, 0);
    return d;
}

static void fail_here(void)
{
    const volatile int count = 3;
    ASSERT(count == 4);
}

static void *fail_in_thread(void *arg)
{
    const volatile int *const none = arg;
    ASSERT(none);
    return NULL;
}

static void fail_in_another_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, fail_in_thread, NULL) == 0)
        pthread_join(thread, NULL);
}

static void on_signal(int signo)
{
    ASSERT(signo == 0);
}

static void fail_in_handler(void)
{
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
}

static void fail_at_length(void)
{
    char condition[2000], file[2000];
    memset(condition, 'c', sizeof condition);
    memset(file, 'f', sizeof file);
    condition[sizeof condition - 1] = file[sizeof file - 1] = '\0';
    assert_fail(condition, file, 1);
}

static int calls;

static int count_call(void)
{
    return ++calls;
}

static void hold(void)
{
    ASSERT(count_call() == 1);
    ASSERT(calls == 1);
}

static bool aborted(const struct died *d)
{
    return WIFSIGNALED(d->status) && WTERMSIG(d->status) == SIGABRT;
}

static void test_message(void)
{
    const struct died d = run_in_process(fail_here);
    ok(aborted(&d), "a failed assertion aborts, even with NDEBUG");
    has_str(d.said, ASSERT_PREFIX " at ", "the message begins with the standard prefix");
    has_str(d.said, "tests/base/t_invariant.c:", "the message has the file and line");
    has_str(d.said, ": count == 4 (process ", "the message has the condition and the process");
    ok(d.said[0] && d.said[strlen(d.said) - 1] == '\n', "the message is one line");
}

static void test_places(void)
{
    struct died d = run_in_process(fail_in_another_thread);
    ok(aborted(&d) && strstr(d.said, ": none (process "),
       "a failed assertion aborts in any thread");
    d = run_in_process(fail_in_handler);
    ok(aborted(&d) && strstr(d.said, ": signo == 0 (process "),
       "a failed assertion aborts in a signal handler");
    d = run_in_process(fail_at_length);
    ok(aborted(&d), "a long condition aborts");
    has_str(d.said, "ccc (process ", "a long condition is cut");
    /* An emulator adds a line of its own. */
    const size_t line = strcspn(d.said, "\n");
    ok(line < 512 && d.said[line] == '\n', "the line of a long condition fits");
}

static void test_holds(void)
{
    const struct died d = run_in_process(hold);
    ok(WIFEXITED(d.status) && !*d.said, "a true condition is evaluated once, without output");
}

int main(void)
{
    plan_lazy();
    test_message();
    test_places();
    test_holds();
    return 0;
}
