/* SPDX-License-Identifier: MIT
 * The TAP library judged by its output: each case runs in a child and its text is compared. */
#include "tap/tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char output[8192];

/* Runs `body` in a fresh program (this one again, with its name as argument): its exit status. */
static int run_case(const char *self, const char *name)
{
    int fds[2];
    if (pipe(fds))
        bail("pipe");
    const pid_t pid = fork();
    if (pid < 0)
        bail("fork");
    if (pid == 0) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        close(fds[1]);
        execl(self, self, name, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    size_t len = 0;
    for (ssize_t n; len < sizeof(output) - 1; len += (size_t)n) {
        n = read(fds[0], output + len, sizeof(output) - 1 - len);
        if (n <= 0)
            break;
    }
    output[len] = '\0';
    close(fds[0]);
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void case_pass(void)
{
    plan(3);
    ok(true, "one");
    is_str("a", "a", "two # TODO not a directive");
    skip(1, "no %s", "reason");
}

static void case_fail(void)
{
    plan_lazy();
    is_int(1, 2, "int");
    is_real(0.1 + 0.2, 0.3, "real");
    is_real(0.1, 0.3, "real");
    is_str(NULL, "b", "str");
    is_mem("a\n", 2, "ab", 2, "mem");
    has_str("hay", "needle", "has");
}

static void case_short(void)
{
    plan(2);
    ok(true, "only one");
}

static void case_bail(void)
{
    plan(1);
    tap_spew(tap_tmpdir(), "x", 1);
}

static void case_child(void)
{
    plan_lazy();
    tap_tmpdir();
    const pid_t pid = fork();
    if (pid == 0)
        exit(0); /* NOLINT: exit runs atexit in the child, which must keep quiet */
    waitpid(pid, NULL, 0);
    ok(access(tap_tmpdir(), F_OK) == 0, "the directory outlives a child");
}

static const struct {
    const char *name;
    void (*body)(void);
} cases[] = {
    {"pass", case_pass}, {"fail", case_fail},   {"short", case_short},
    {"bail", case_bail}, {"child", case_child},
};

static bool counts_to_three(void *arg)
{
    return ++*(int *)arg == 3;
}

static bool never(void *arg)
{
    (void)arg;
    return false;
}

static void test_results(const char *self)
{
    is_int(run_case(self, "pass"), 0, "all passed: status 0");
    is_str(output, "1..3\nok 1 - one\nok 2 - two \\# TODO not a directive\nok 3 # SKIP no reason\n",
           "plan, results, escaped text, skip");
    is_int(run_case(self, "fail"), 1, "a failure: status 1");
    has_str(output, "not ok 1 - int\n# got 1, wanted 2\n", "is_int says what was seen");
    has_str(output, "\nok 2 - real\nnot ok 3 - real\n", "is_real compares with a tolerance");
    has_str(output, "#    got: NULL\n# wanted (1 bytes): \"b\"\n", "is_str with NULL");
    has_str(output, "(2 bytes): \"a\\n\"\n", "is_mem escapes control characters");
    has_str(output, "first difference at byte 1\n", "is_mem says where");
    has_str(output, "wanted (6 bytes): \"needle\"\n1..6\n# failed 5 of 6\n",
            "lazy plan at the end");
    is_int(run_case(self, "short"), 1, "a plan that was not kept: status 1");
    has_str(output, "# planned 2, ran 1\n", "says so");
    is_int(run_case(self, "bail"), 255, "bail: status 255");
    has_str(output, "Bail out! ", "bail says why");
    is_int(run_case(self, "child"), 0, "a child that exits");
    is_str(output, "ok 1 - the directory outlives a child\n1..1\n", "prints nothing");
}

static void test_files(void)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/f", tap_tmpdir());
    char *big = malloc(10000);
    if (!big)
        bail("out of memory");
    memset(big, 'x', 10000);
    tap_spew(path, big, 10000);
    size_t len;
    char *back = tap_slurp(path, &len);
    is_mem(back, len, big, 10000, "spew and slurp");
    ok(back[len] == '\0', "slurp ends with NUL");
    free(back);
    free(big);
    struct stat st;
    ok(stat(tap_source("tap/t_tap.c"), &st) == 0, "tap_source finds this file");
}

static void test_wait(void)
{
    int n = 0;
    ok(tap_wait(counts_to_three, &n, 10000), "tap_wait ends when the condition holds");
    is_int(n, 3, "and does not ask again");
    ok(!tap_wait(never, NULL, 5), "tap_wait ends at the deadline");
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].body();
            return 0;
        }
    plan(21);
    test_results(argv[0]);
    test_files();
    test_wait();
    return 0;
}
