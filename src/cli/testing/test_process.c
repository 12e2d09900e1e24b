/* SPDX-License-Identifier: MIT
 * Forks for each test, and evaluates the exit of the process. */
#include "cli/testing/test_process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define PATIENCE_S 60
enum { TEST_FAILED = 10 }; /* exit status of the process; 0: passed */

/* exit, not _exit, so that a sanitizer looks for leaks. */
__attribute__((__noreturn__)) static void
test_process_become(struct test_report *report,
                    void (*test)(void *arg, struct test_progress *progress), void *arg,
                    struct test_progress *progress)
{
    const unsigned failed = report->failed;
    alarm(PATIENCE_S);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    test(arg, progress);
    progress->is_told = true;
    exit(report->failed > failed ? TEST_FAILED : 0);
}

static int test_process_wait(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static void test_process_print_end(struct test_report *report, const char *path, int status,
                                   const struct test_progress *progress)
{
    CLEANUP_FREE char *where = path ? xasprintf("%s:%d: ", path, progress->line) : xstrdup("");
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        test_report_note(report, "%sit did not return within %d s", where, PATIENCE_S);
    else if (WIFSIGNALED(status))
        test_report_note(report, "%sits process was terminated by signal %d (%s)", where,
                         WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        test_report_note(report, "%sits process ended with status %d", where, WEXITSTATUS(status));
    if (*progress->error)
        test_report_note(report, "log: error: %s", progress->error);
}

/* Adds the results that the process printed to the totals. */
static void test_process_count(struct test_report *report, const char *title, const char *path,
                               int status, const struct test_progress *progress)
{
    const bool passed = status == 0;
    const bool failed = WIFEXITED(status) && WEXITSTATUS(status) == TEST_FAILED;
    if (progress->is_told) {
        report->run++;
        report->failed += failed;
    }
    if (progress->is_told && (passed || failed))
        return;
    test_report_result(report, false, title);
    test_process_print_end(report, path, status, progress);
}

void test_process_run(struct test_report *report, const char *title, const char *path,
                      void (*test)(void *arg, struct test_progress *progress), void *arg)
{
    struct test_progress *const progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED)
        alloc_exit_exhausted("memory");
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0)
        test_process_become(report, test, arg, progress);
    if (pid < 0)
        alloc_exit_exhausted("a process");
    test_process_count(report, title, path, test_process_wait(pid), progress);
    munmap(progress, sizeof *progress);
}
