/* SPDX-License-Identifier: MIT
 * Tests of child processes: starting them, what they inherit, their pipes, and that neither they
 * nor their descendants outlive their end. */
#include "io/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes/buf.h"
#include "base/sys/clock.h"
#include "fake/children.h"
#include "tap/tap.h"

#define DEADLINE_MS 60000
/* A second suffices on an idle machine without a sanitizer. */
#define SECOND_MS 10000

struct watched {
    struct process *p;
    struct buf out;
    size_t out_bytes, err_bytes;
    bool out_ended, failed, exited, count_only;
    int status;
    struct tc_err err;
};

static struct loop *loop;

static void on_failed(void *ctx, const struct tc_err *err)
{
    struct watched *const w = ctx;
    w->failed = true;
    w->err = *err;
}

static void on_out(void *ctx, const char *bytes, size_t n)
{
    struct watched *const w = ctx;
    w->out_bytes += n;
    if (!w->count_only)
        buf_add(&w->out, bytes, n);
}

static void on_err(void *ctx, const char *bytes, size_t n)
{
    (void)bytes;
    ((struct watched *)ctx)->err_bytes += n;
}

static void on_out_end(void *ctx)
{
    ((struct watched *)ctx)->out_ended = true;
}

static void on_gone(void *ctx, int status)
{
    struct watched *const w = ctx;
    w->exited = true;
    w->status = status;
}

static const struct process_events events = {on_failed, on_out, on_err, on_out_end, on_gone};
static const char *const plain_env[] = {"PATH=/usr/bin:/bin", "A=1", NULL};

/* Runs the fake agent with these arguments; the list ends with NULL. */
static bool spawn(struct watched *w, const char *const *words)
{
    const char *argv[16] = {children_agent()};
    for (size_t i = 0; words[i] && i < 14; i++)
        argv[i + 1] = words[i];
    struct tc_err err = {0};
    w->p = process_spawn(loop, &(struct process_spec){.argv = argv, .env = plain_env}, &events, w,
                         &err);
    if (!w->p)
        bail("%s", err_format(&err));
    return true;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static bool wait_until(const bool *flag)
{
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!*flag && clock_mono_ms() < until)
        loop_run_once(loop, 1000);
    return *flag;
}

static bool wait_for_text(struct watched *w, const char *text)
{
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!(w->out.p && strstr(w->out.p, text)) && clock_mono_ms() < until)
        loop_run_once(loop, 1000);
    return w->out.p && strstr(w->out.p, text);
}

static void finish(struct watched *w)
{
    process_free(w->p);
    buf_fini(&w->out);
}

static void test_plain(void)
{
    struct watched w = {0};
    spawn(&w, WORDS("text=hello", "errtext=oops", "partial=tail", "exit=3"));
    ok(wait_until(&w.exited), "a child ends");
    is_str(w.out.p, "hello\ntail", "all of stdout arrives before the end");
    is_int((long long)w.err_bytes, 5, "all of stderr arrives before the end");
    ok(WIFEXITED(w.status) && WEXITSTATUS(w.status) == 3, "the status of the child is reported");
    finish(&w);

    w = (struct watched){0};
    spawn(&w, WORDS("text=x", "kill=11"));
    ok(wait_until(&w.exited) && WIFSIGNALED(w.status) && WTERMSIG(w.status) == SIGSEGV,
       "the signal is reported");
    finish(&w);
}

static void test_stdin(void)
{
    struct watched w = {0};
    spawn(&w, WORDS("echo=2", "eof", "text=end"));
    process_write(w.p, "one\ntwo\nthree\n", 14);
    process_close_stdin(w.p);
    ok(wait_until(&w.exited), "a child that reads its input ends");
    is_str(w.out.p, "one\ntwo\nend\n", "the child reads the written bytes, then end of file");
    finish(&w);
    process_free(NULL);

    char *const big = calloc(1, 4 << 20);
    memset(big, 'p', 4 << 20);
    char path[4200];
    snprintf(path, sizeof path, "save=%s/stdin", tap_tmpdir());
    w = (struct watched){0};
    spawn(&w, WORDS(path));
    process_write(w.p, big, 1 << 20);
    process_write(w.p, big, 3 << 20);
    process_close_stdin(w.p);
    ok(wait_until(&w.exited), "4 MiB are written without blocking");
    size_t len = 0;
    char *const got = tap_slurp(path + 5, &len);
    is_mem(got, len, big, 4 << 20, "the child reads all bytes");
    free(got);
    finish(&w);

    w = (struct watched){.count_only = true};
    spawn(&w, WORDS("noise=10000000", "exit=0"));
    process_write(w.p, big, 1 << 20);
    process_close_stdin(w.p);
    ok(wait_until(&w.exited) && w.status == 0, "a child that never reads and writes much ends");
    ok(w.out_bytes >= 10000000, "all output of the child arrives");
    finish(&w);

    w = (struct watched){0};
    spawn(&w, WORDS("close=0", "text=ready", "ms=50", "exit=0"));
    wait_for_text(&w, "ready");
    process_write(w.p, big, 1 << 20);
    process_write(w.p, big, 1 << 20);
    ok(wait_until(&w.exited) && w.status == 0, "bytes for a closed stdin are dropped");
    finish(&w);
    free(big);
}

static void test_spawn_error(const char *what, const struct process_spec *spec, const char *wanted)
{
    struct watched w = {0};
    const unsigned fds = children_open_fds();
    w.p = process_spawn(loop, spec, &events, &w, &w.err);
    ok(w.p && wait_until(&w.failed), "%s: the child does not start", what);
    finish(&w);
    ok(!w.exited && !w.out_ended, "%s: no other callback runs", what);
    has_str(w.err.text, wanted, "%s: the error has the reason", what);
    is_str(w.err.place, spec->argv[0], "%s: the error has the program", what);
    is_int(children_open_fds(), fds, "%s: no descriptor is left", what);
}

static void test_no_shim(void)
{
    const char *const shim = getenv("TURNCAST_SHIM");
    char *const kept = shim ? strdup(shim) : NULL;
    struct tc_err err = {0};
    struct watched w = {0};
    const unsigned fds = children_open_fds();
    setenv("TURNCAST_SHIM", "/nonexistent/shim", 1);
    const struct process_spec spec = {.argv = WORDS("true"), .env = plain_env};
    ok(!process_spawn(loop, &spec, &events, &w, &err), "without the shim no child starts");
    has_str(err.text, "turncast-shim is not installed", "the error says that the shim is missing");
    setenv("TURNCAST_SHIM", "/bin/true", 1);
    w.p = process_spawn(loop, &spec, &events, &w, &err);
    ok(w.p && wait_until(&w.failed), "with another program instead of the shim no child starts");
    finish(&w);
    setenv("TURNCAST_SHIM", "/tmp", 1);
    ok(!process_spawn(loop, &spec, &events, &w, &err), "a directory as shim starts no child");
    has_str(err.text, "Permission denied", "the error has the reason");
    ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no child is left");
    is_int(children_open_fds(), fds, "no descriptor is left");
    if (kept)
        setenv("TURNCAST_SHIM", kept, 1);
    else
        unsetenv("TURNCAST_SHIM");
    free(kept);
}

static void test_spawn_errors(void)
{
    char script[4200], text[4200], odd[4200];
    snprintf(script, sizeof script, "%s/script", tap_tmpdir());
    snprintf(text, sizeof text, "%s/text", tap_tmpdir());
    snprintf(odd, sizeof odd, "%s/odd", tap_tmpdir());
    tap_spew(script, "#!/nonexistent/interpreter\n", 27);
    tap_spew(text, "x", 1);
    tap_spew(odd, "not a program\n", 14);
    chmod(script, 0755);
    chmod(text, 0644);
    chmod(odd, 0755);
#define SPEC(word, dir)                                                                            \
    (&(struct process_spec){.argv = WORDS(word, "x"), .env = plain_env, .cwd = (dir)})
    test_spawn_error("missing path", SPEC("/nonexistent/agent", NULL), "No such file");
    test_spawn_error("missing name", SPEC("tc-no-such-agent", NULL), "No such file");
    test_spawn_error("empty name", SPEC("", NULL), "No such file");
    test_spawn_error("directory", SPEC("/tmp", NULL), "Permission denied");
    test_spawn_error("not executable", SPEC(text, NULL), "Permission denied");
    test_spawn_error("no format", SPEC(odd, NULL), "Exec format error");
    test_spawn_error("no interpreter", SPEC(script, NULL), "interpreter");
    test_spawn_error("no directory", SPEC("true", "/nonexistent/dir"), "/nonexistent/dir");
    struct watched w = {0};
    struct tc_err err = {0};
    w.p = process_spawn(loop, SPEC("true", "/"), &events, &w, &err);
    ok(w.p && wait_until(&w.exited) && w.status == 0, "PATH of the child is searched");
    finish(&w);
}

static void test_inherits(void)
{
    char dump[4200], wanted[4400], session[64];
    snprintf(session, sizeof session, "\"session\":%d,", (int)getsid(0));
    snprintf(dump, sizeof dump, "dump=%s/dump", tap_tmpdir());
    const int extra = open("/dev/null", O_RDONLY); /* intentionally without O_CLOEXEC */
    const int high = fcntl(extra, F_DUPFD, 200);
    sigset_t some;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigaddset(&some, SIGTERM);
    sigprocmask(SIG_BLOCK, &some, NULL);
    signal(SIGHUP, SIG_IGN);
    struct watched w = {0};
    spawn(&w, WORDS(dump));
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    ok(sigismember(&now, SIGUSR1) && !sigismember(&now, SIGINT), "the host keeps its signal mask");
    ok(wait_until(&w.exited) && w.status == 0, "a child that describes itself ends");
    signal(SIGHUP, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &some, NULL);
    close(extra);
    close(high);
    char *const text = tap_slurp(dump + 5, NULL);
    snprintf(wanted, sizeof wanted,
             "{\"argv\":[\"%s\",\"%s\"],\n\"env\":[\"PATH=/usr/bin:/bin\",\"A=1\"],\n",
             children_agent(), dump);
    has_str(text, wanted, "the child has only the given arguments and environment");
    has_str(text, "\"fds\":[0,1,2]", "the child has three descriptors");
    has_str(text, "\"SigBlk\":\"0000000000000000\"", "the child blocks no signal");
    has_str(text, "\"SigIgn\":\"0000000000000000\"", "the child ignores no signal");
    has_str(text, "\"pdeathsig\":9", "the child gets SIGKILL when the shim dies");
    has_str(text, "\"umask\":63", "the child has umask 077");
    has_str(text, "\"group\":true", "the child leads a process group");
    ok(!strstr(text, session), "the child is in another session than the host");
    free(text);
    finish(&w);
}

/* A single call may not kill a whole tree on a slow machine. */
static bool is_tree_dead(void *process)
{
    return process_kill_tree(process) == 0;
}

/* Runs a line of shell, and collects its output. */
static void run_shell(struct watched *w, const char *line, const struct conf_user *user,
                      const struct conf_limits *limits)
{
    const char *const argv[] = {"/bin/sh", "-c", line, NULL};
    const struct process_spec spec = {
        .argv = argv, .env = plain_env, .cwd = "/", .user = user, .limits = limits};
    *w = (struct watched){0};
    w->p = process_spawn(loop, &spec, &events, w, NULL);
    ok(w->p && wait_until(&w->exited), "the shell ends");
    buf_add(&w->out, "", 1);
}

static void test_limits(void)
{
    struct watched w;
    run_shell(&w, "ulimit -d; ulimit -n; ulimit -p; ulimit -t; ulimit -Ht", NULL,
              &(struct conf_limits){.memory_mb = 512, .processes = 4000, .files = 99, .cpu_s = 7});
    is_str(w.out.p, "524288\n99\n4000\n7\n12\n", "the limits apply to the child");
    finish(&w);
    run_shell(&w, "while :; do :; done", NULL, &(struct conf_limits){.cpu_s = 1});
    ok(WIFSIGNALED(w.status) && WTERMSIG(w.status) == SIGXCPU, "the limit on CPU time is enforced");
    finish(&w);
    run_shell(&w, "ulimit -n", NULL, &(struct conf_limits){.files = 1 << 30});
    ok(atoi(w.out.p) < 1 << 30, "no limit exceeds that of the host");
    finish(&w);
    run_shell(&w, "ulimit -n", NULL, &(struct conf_limits){0});
    ok(atoi(w.out.p) > 99, "without a configured limit none is set");
    finish(&w);
    struct rlimit few, now;
    getrlimit(RLIMIT_NOFILE, &now);
    few = (struct rlimit){now.rlim_max > 512 ? 512 : now.rlim_max, now.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    struct loop *const before = loop;
    loop = loop_new();
    getrlimit(RLIMIT_NOFILE, &now);
    ok(now.rlim_cur > few.rlim_cur || few.rlim_cur == few.rlim_max,
       "the host raises its limit on files");
    run_shell(&w, "ulimit -n; [ $(ulimit -n) = 512 ] && [ $(ulimit -Hn) != 512 ] && echo soft",
              NULL, &(struct conf_limits){0});
    is_str(w.out.p, "512\nsoft\n", "a child gets the original limit on descriptors");
    finish(&w);
    loop_free(loop);
    loop = before;
}

static void test_user(void)
{
    if (geteuid() != 0) {
        skip(1, "only root can change the user");
        return;
    }
    gid_t groups[] = {65534, 4};
    const struct conf_user nobody = {.uid = 65534, .gid = 65534, .groups = groups, .n_groups = 2};
    struct watched w;
    run_shell(&w, "id -u; id -ru; id -g; id -G; umask", &nobody, NULL);
    is_str(w.out.p, "65534\n65534\n65534\n65534 4\n0077\n",
           "the child has the user and its groups");
    finish(&w);
    run_shell(&w, "kill -9 $PPID 2>&1; kill -STOP $PPID 2>&1; cat /proc/$PPID/environ", &nobody,
              NULL);
    ok(strstr(w.out.p, "not permitted") && !strstr(w.out.p, "A=1"),
       "the child of another user cannot signal or read its shim");
    finish(&w);
    run_shell(&w, "grep -E '^Cap[EPIA]' /proc/self/status", &nobody, NULL);
    ok(!strpbrk(w.out.p, "123456789"), "the child of another user has no capability");
    finish(&w);
    const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    const char *const argv[] = {"sleep", "1000", NULL};
    const struct process_spec spec = {.argv = argv, .env = env, .cwd = "/", .user = &nobody};
    w = (struct watched){0};
    w.p = process_spawn(loop, &spec, &events, &w, NULL);
    ok(w.p && tap_wait(is_tree_dead, w.p, DEADLINE_MS), "the child of another user is killed");
    finish(&w);
    char locked[4200];
    snprintf(locked, sizeof locked, "%s/locked", tap_tmpdir());
    if (mkdir(locked, 0700) < 0)
        bail("no directory");
    test_spawn_error("a directory of another user",
                     &(struct process_spec){
                         .argv = WORDS("true"), .env = plain_env, .cwd = locked, .user = &nobody},
                     "/locked (cwd): Permission denied");
}

/* Whatever processes a child leaves behind, its end is reported, and all of them are killed. */
static void test_tree(const char *what, const char *const *words, unsigned strays)
{
    const unsigned fds = children_open_fds();
    struct watched w = {.count_only = true};
    const int64_t begin = clock_mono_ms();
    spawn(&w, words);
    ok(wait_until(&w.exited), "%s: the end is reported although the pipes are open", what);
    ok(tap_wait(is_tree_dead, w.p, DEADLINE_MS), "%s: no process is left", what);
    ok(process_count_killed(w.p) >= strays, "%s: %u processes were killed (%u)", what, strays,
       process_count_killed(w.p));
    process_free(w.p);
    is_int(children_marked(words[0]), 0, "%s: no process and no zombie is left", what);
    is_int(children_open_fds(), fds, "%s: no descriptor is left", what);
    diag("%s: %lld ms", what, (long long)(clock_mono_ms() - begin));
}

static void test_trees(void)
{
    test_tree("plain child", WORDS(children_mark(), "child=plain", "exit=0"), 1);
    test_tree("child in its own session", WORDS(children_mark(), "child=setsid", "exit=0"), 1);
    test_tree("double-forked child", WORDS(children_mark(), "child=double", "exit=0"), 1);
    test_tree("child that writes for ever", WORDS(children_mark(), "child=loud", "exit=0"), 0);
    test_tree("200 children", WORDS(children_mark(), "children=200", "exit=0"), 200);
    test_tree("a fork bomb", WORDS(children_mark(), "bomb=200", "ms=50", "exit=0"), 100);
    test_tree("processes that fork and exit", WORDS(children_mark(), "hoppers=6", "exit=0"), 1);
}

static void test_kill_alive(void)
{
    const char *const mark = children_mark();
    struct watched w = {0};
    spawn(&w, WORDS(mark, "ignore=15", "children=20", "child=double", "text=ready", "sleep"));
    wait_for_text(&w, "ready");
    process_signal(w.p, SIGTERM);
    loop_run_once(loop, 50);
    ok(!w.exited, "SIGTERM is ignored");
    ok(tap_wait(is_tree_dead, w.p, DEADLINE_MS), "the tree of a running child is killed");
    is_int(process_count_killed(w.p), 21, "all processes of the tree were killed");
    ok(wait_until(&w.exited) && WTERMSIG(w.status) == SIGKILL, "the loop reports the end");
    finish(&w);
    is_int(children_marked(mark), 0, "no process is left");
    w = (struct watched){0};
    spawn(&w, WORDS(mark, "child=setsid", "text=ready", "sleep"));
    wait_for_text(&w, "ready");
    finish(&w);
    is_int(children_marked(mark), 0, "freeing a child kills its processes");
}

static pid_t fork_bystander(bool own_session)
{
    const pid_t pid = fork();
    if (pid == 0) {
        if (own_session)
            setsid();
        for (;;)
            pause();
    }
    return pid;
}

static void end_bystander(pid_t pid, const char *what)
{
    is_int(waitpid(pid, NULL, WNOHANG), 0, "%s is still running", what);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* Two agents and children of the test itself: the end of an agent kills only its own processes,
 * although others have called setsid meanwhile. */
static void test_other_children(void)
{
    const pid_t bystander = fork_bystander(false);
    char mark_a[64], mark_b[64];
    snprintf(mark_a, sizeof mark_a, "%s", children_mark());
    snprintf(mark_b, sizeof mark_b, "%s", children_mark());
    struct watched a = {0}, b = {0};
    spawn(&a, WORDS(mark_a, "child=double", "child=plain", "child=orphan", "text=ready", "sleep"));
    wait_for_text(&a, "ready");
    spawn(&b, WORDS(mark_b, "child=double", "child=plain", "text=ready", "sleep"));
    wait_for_text(&b, "ready");
    const pid_t newer = fork_bystander(false), daemon = fork_bystander(true);
    is_int(children_marked(mark_a), 5, "the first agent has a shim and three children");
    is_int(children_marked(mark_b), 4, "the second agent has a shim and two children");
    ok(tap_wait(is_tree_dead, b.p, DEADLINE_MS), "the second agent is killed");
    ok(wait_until(&b.exited), "the end of the second agent is reported");
    finish(&b);
    is_int(children_marked(mark_b), 0, "no process of the second agent is left");
    is_int(children_marked(mark_a), 5, "all processes of the first agent are running");
    finish(&a);
    is_int(children_marked(mark_a), 0, "no process of the first agent is left");
    end_bystander(bystander, "an older child of the test");
    end_bystander(newer, "a newer child of the test");
    end_bystander(daemon, "a child of the test in its own session");
}

/* An agent that kills or stops its shim does not escape. */
static void test_shim_attacked(void)
{
    char mark[64];
    snprintf(mark, sizeof mark, "%s", children_mark());
    const char *const env[] = {"PATH=/usr/bin:/bin", mark, NULL};
    const char *const argv[] = {children_agent(), mark,         "child=double",
                                "child=plain",    "text=ready", "await=go",
                                "parent=9",       "sleep",      NULL};
    struct watched w = {0};
    const struct process_spec spec = {.argv = argv, .env = env, .mark = mark};
    w.p = process_spawn(loop, &spec, &events, &w, NULL);
    ok(w.p && wait_for_text(&w, "ready"), "an agent has started children");
    process_write(w.p, "go\n", 3);
    ok(wait_until(&w.exited) && WTERMSIG(w.status) == SIGKILL, "the agent is killed with its shim");
    ok(tap_wait(is_tree_dead, w.p, DEADLINE_MS), "the processes of the agent are found");
    ok(process_count_killed(w.p) >= 2, "the processes of the agent are killed");
    finish(&w);
    is_int(children_marked(mark), 0, "no process of the agent is left");

    snprintf(mark, sizeof mark, "%s", children_mark());
    w = (struct watched){0};
    spawn(&w, WORDS(mark, "child=double", "parent=19", "text=ready", "sleep"));
    wait_for_text(&w, "ready");
    ok(tap_wait(is_tree_dead, w.p, DEADLINE_MS), "a shim that the agent has stopped is continued");
    ok(wait_until(&w.exited), "the end of the agent is reported");
    finish(&w);
    is_int(children_marked(mark), 0, "no process of the second agent is left");
}

static bool has_no_marked(void *mark)
{
    return children_marked(mark) == 0;
}

/* Starts a host in a child. The host reports when its agent is ready, and waits to be killed. */
static pid_t fork_host(const char *const *words, int *report)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        bail("no pipe");
    const pid_t pid = fork();
    if (pid == 0) {
        loop = loop_new();
        struct watched w = {0};
        spawn(&w, words);
        wait_for_text(&w, "ready");
        if (write(ends[1], "r", 1) < 0)
            _exit(1);
        for (;;)
            pause();
    }
    close(ends[1]);
    *report = ends[0];
    return pid;
}

static void test_host_dies(const char *what, const char *const *words)
{
    int report;
    char byte, mark[64];
    snprintf(mark, sizeof mark, "%s", words[0]);
    const pid_t host = fork_host(words, &report);
    ok(read(report, &byte, 1) == 1, "%s: the agent is running when the host is killed", what);
    close(report);
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    const int64_t begin = clock_mono_ms();
    ok(tap_wait(has_no_marked, mark, DEADLINE_MS), "%s: no process of the agent is left", what);
    const int64_t took = clock_mono_ms() - begin;
    ok(took < SECOND_MS, "%s: the processes end within seconds (%lld ms)", what, (long long)took);
}

static void test_hosts_die(void)
{
    test_host_dies("an agent", WORDS(children_mark(), "text=ready", "sleep"));
    test_host_dies("an agent that ignores SIGTERM, with children in other sessions",
                   WORDS(children_mark(), "ignore=15", "child=setsid", "child=double",
                         "child=orphan", "text=ready", "sleep"));
    test_host_dies("an agent that has exited, with a child",
                   WORDS(children_mark(), "child=double", "text=ready", "exit=0"));
    test_host_dies("a fork bomb",
                   WORDS(children_mark(), "bomb=200", "ms=50", "text=ready", "sleep"));
    test_host_dies("a stopped agent",
                   WORDS(children_mark(), "text=ready", "child=setsid", "kill=19"));
}

static void test_out_end(void)
{
    struct watched w = {0};
    spawn(&w, WORDS("text=x", "close=1", "sleep"));
    ok(wait_until(&w.out_ended) && !w.exited, "the end of stdout is reported first");
    process_signal(w.p, SIGTERM);
    ok(wait_until(&w.exited) && WTERMSIG(w.status) == SIGTERM, "the end of the child is reported");
    finish(&w);
}

static void test_stderr_flood(void)
{
    const bool is_long = getenv("TURNCAST_LONG");
    const size_t bytes = is_long ? 1000000000 : 100000000;
    struct watched w = {0};
    spawn(&w, WORDS(is_long ? "stderr=1000000000" : "stderr=100000000", "text=done"));
    ok(wait_until(&w.exited), "a child with much stderr ends");
    is_int((long long)w.err_bytes, (long long)bytes, "all bytes of stderr arrive");
    is_str(w.out.p, "done\n", "stdout arrives after stderr");
    finish(&w);
}

int main(void)
{
    plan_lazy();
    loop = loop_new();
    const unsigned fds = children_open_fds();
    test_plain();
    test_stdin();
    test_spawn_errors();
    test_no_shim();
    test_inherits();
    test_limits();
    test_user();
    test_trees();
    test_kill_alive();
    test_other_children();
    test_shim_attacked();
    test_hosts_die();
    test_out_end();
    test_stderr_flood();
    is_int(children_open_fds(), fds, "no descriptor is left");
    is_int(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, 1, "no child is left");
    loop_free(loop);
    return 0;
}
