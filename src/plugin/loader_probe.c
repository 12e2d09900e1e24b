/* SPDX-License-Identifier: MIT
 * Owns the process in which a file is loaded for the first time. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "plugin/loader.h"

#define PROBE_MS 5000

/* The child's: says what is wrong with it, if something is. */
static void probe(const char *path, int out)
{
    struct tc_err err = {0};
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    if (!loader_open(path, &err)) {
        const ssize_t n = write(out, err.text, strlen(err.text) + 1);
        _exit(n > 0 ? 1 : 2);
    }
    _exit(0);
}

/* Reads until the child has closed its end. False: it takes too long. */
static bool read_text(int in, char *text, size_t size)
{
    const int64_t deadline_ms = clock_mono_ms() + PROBE_MS;
    size_t len = 0;
    for (int64_t left; (left = deadline_ms - clock_mono_ms()) > 0;) {
        struct pollfd fd = {.fd = in, .events = POLLIN};
        if (poll(&fd, 1, (int)left) <= 0)
            continue;
        const ssize_t n = read(in, text + len, size - 1 - len);
        if (n <= 0)
            return true;
        len += (size_t)n;
        text[len] = 0;
    }
    return false;
}

static int judge(int status, const char *path, const char *text, struct tc_err *err)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (WIFSIGNALED(status))
        return err_set(err, path, "is damaged: loading it ends the process by signal %d (%s)",
                       WTERMSIG(status), strsignal(WTERMSIG(status)));
    return err_set(err, path, "%s", *text ? text : "cannot be loaded");
}

int loader_probe(const char *path, struct tc_err *err)
{
    char text[sizeof err->text] = "";
    int ends[2], status = 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, errno, path, "cannot be tried");
    const pid_t child = fork();
    if (child == 0)
        probe(path, ends[1]);
    close(ends[1]);
    const bool in_time = child < 0 || read_text(ends[0], text, sizeof text);
    close(ends[0]);
    if (child < 0)
        return err_sys(err, errno, path, "cannot be tried");
    if (!in_time)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return in_time ? judge(status, path, text, err)
                   : err_set(err, path, "does not come back from being loaded");
}
