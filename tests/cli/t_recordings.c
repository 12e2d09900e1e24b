/* SPDX-License-Identifier: MIT
 * Replays every recording of the tests with the program and its connector jsonl, and checks the
 * guarantees of the events. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/bytes/buf.h"
#include "event/codec.h"
#include "promise.h"
#include "tap/tap.h"

static const char *program(void)
{
    static char path[1024];
    const char *build = getenv("TURNCAST_BUILDDIR");
    if (!build)
        bail("TURNCAST_BUILDDIR is not set");
    snprintf(path, sizeof path, "%s/turncast", build);
    return path;
}

/* Starts `turncast replay` of the file. Returns its stdout. */
static FILE *replay(const char *file, pid_t *pid)
{
    int fds[2];
    if (pipe(fds) < 0 || (*pid = fork()) < 0)
        bail("pipe or fork");
    if (*pid == 0) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        close(fds[1]);
        execl(program(), "turncast", "replay", "--plugin", "jsonl,wants=raw,wants=state", file,
              (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    return fdopen(fds[0], "r");
}

struct tally {
    unsigned calls, results, outcomes, lines, turns;
    char why[300]; /* the first violation, or "" */
};

static void end_turn(struct tally *t, struct promise *p)
{
    const char *const broken = promise_end(p);
    if (broken && !*t->why)
        snprintf(t->why, sizeof t->why, "turn %u: %s", t->turns + 1, broken);
    promise_fini(p);
    t->turns++;
}

static void see_line(struct tally *t, struct promise *p, const char *line, size_t len)
{
    struct arena arena = {0};
    struct event ev;
    const char *why;
    t->lines++;
    if (codec_decode(&ev, &arena, line, len, &why) < 0) {
        if (!*t->why)
            snprintf(t->why, sizeof t->why, "line %u: %s", t->lines, why);
    } else {
        if (ev.kind == TC_START && p->done)
            end_turn(t, p);
        promise_see(p, &ev);
        t->calls += ev.kind == TC_TOOL_CALL;
        t->results += ev.kind == TC_TOOL_RESULT;
        t->outcomes += ev.kind == TC_FINAL || ev.kind == TC_ERROR;
    }
    arena_fini(&arena);
}

static struct tally see_all(FILE *out)
{
    struct tally t = {0};
    struct promise p = {0};
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t len; (len = getline(&line, &cap, out)) > 0;)
        see_line(&t, &p, line, (size_t)len - (line[len - 1] == '\n'));
    free(line);
    end_turn(&t, &p);
    return t;
}

static void test_recording(const char *path, const char *name)
{
    pid_t pid;
    int status;
    FILE *out = replay(path, &pid);
    const struct tally t = see_all(out);
    fclose(out);
    waitpid(pid, &status, 0);
    ok(!*t.why, "%s: %u events keep the guarantees%s%s", name, t.lines, *t.why ? ": " : "", t.why);
    ok(WIFEXITED(status) && WEXITSTATUS(status) <= 1, "%s: exit status %d", name,
       WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    is_int(t.results, t.calls, "%s: each call has one result", name);
    is_int(t.outcomes, t.turns, "%s: each turn has one outcome", name);
}

static int is_recording(const struct dirent *e)
{
    const size_t len = strlen(e->d_name);
    return len > 6 && strcmp(e->d_name + len - 6, ".jsonl") == 0 && !strstr(e->d_name, ".dialog.");
}

static unsigned test_folder(const char *folder)
{
    struct dirent **files = NULL;
    const int n = scandir(folder, &files, is_recording, alphasort);
    for (int i = 0; i < n; i++) {
        CLEANUP_BUF struct buf path = {0};
        buf_printf(&path, "%s/%s", folder, files[i]->d_name);
        test_recording(path.p, files[i]->d_name);
        free(files[i]);
    }
    free(files);
    return n > 0 ? (unsigned)n : 0;
}

/* Arguments are folders to use instead. */
int main(int argc, char **argv)
{
    plan_lazy();
    for (int i = 1; i < argc; i++)
        test_folder(argv[i]);
    if (argc > 1)
        return 0;
    unsigned n = test_folder(tap_source("dialects/claude"));
    ok(n > 0, "%u recordings", n);
    n = test_folder(tap_source("turns/claude"));
    ok(n > 0, "%u recordings of several turns", n);
    n = test_folder(tap_source("cli"));
    is_int(n, 2, "two recordings of this folder");
    return 0;
}
