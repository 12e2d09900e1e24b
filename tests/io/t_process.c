/* SPDX-License-Identifier: MIT
 * Children: how they start, what they inherit, how their pipes flow, and that nothing is left of
 * them or of what they started. */
#include "io/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "fake/children.h"
#include "tap/tap.h"

#define DEADLINE_MS 60000

struct watched {
    struct process *p;
    struct buf out;
    size_t out_bytes, err_bytes;
    bool out_ended, exited, count_only;
    int status;
};

static struct loop *loop;

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

static const struct process_events events = {on_out, on_err, on_out_end, on_gone};
static const char *const plain_env[] = {"PATH=/usr/bin:/bin", "A=1", NULL};

/* Runs the fake agent with these words; the list ends with NULL. */
static bool spawn(struct watched *w, const char *const *words)
{
    const char *argv[16] = {children_agent()};
    for (size_t i = 0; words[i] && i < 14; i++)
        argv[i + 1] = words[i];
    struct tc_err err = {0};
    w->p = process_spawn(loop, &(struct process_spec){.argv = argv, .env = plain_env}, &events, w,
                         &err);
    if (!w->p)
        bail("%s", err_str(&err));
    return true;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static bool wait_until(const bool *flag)
{
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!*flag && clock_mono_ms() < until)
        loop_once(loop, 1000);
    return *flag;
}

static bool wait_for_text(struct watched *w, const char *text)
{
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!(w->out.p && strstr(w->out.p, text)) && clock_mono_ms() < until)
        loop_once(loop, 1000);
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
    is_str(w.out.p, "hello\ntail", "all of stdout has come before that");
    is_int((long long)w.err_bytes, 5, "and all of stderr");
    ok(WIFEXITED(w.status) && WEXITSTATUS(w.status) == 3, "with its status");
    finish(&w);

    w = (struct watched){0};
    spawn(&w, WORDS("text=x", "kill=11"));
    ok(wait_until(&w.exited) && WIFSIGNALED(w.status) && WTERMSIG(w.status) == SIGSEGV,
       "a signal is told as one");
    finish(&w);
}

static void test_stdin(void)
{
    struct watched w = {0};
    spawn(&w, WORDS("echo=2", "eof", "text=end"));
    process_write(w.p, "one\ntwo\nthree\n", 14);
    process_close_stdin(w.p);
    ok(wait_until(&w.exited), "a child that reads");
    is_str(w.out.p, "one\ntwo\nend\n", "gets what is written, then end of file");
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
    ok(wait_until(&w.exited), "four megabytes go in without blocking");
    size_t len = 0;
    char *const got = tap_slurp(path + 5, &len);
    is_mem(got, len, big, 4 << 20, "and arrive whole");
    free(got);
    finish(&w);

    w = (struct watched){.count_only = true};
    spawn(&w, WORDS("noise=10000000", "exit=0"));
    process_write(w.p, big, 1 << 20);
    process_close_stdin(w.p);
    ok(wait_until(&w.exited) && w.status == 0, "a child that never reads and prints much ends");
    ok(w.out_bytes >= 10000000, "and all it printed has come");
    finish(&w);

    w = (struct watched){0};
    spawn(&w, WORDS("close=0", "text=ready", "ms=50", "exit=0"));
    wait_for_text(&w, "ready");
    process_write(w.p, big, 1 << 20);
    process_write(w.p, big, 1 << 20);
    ok(wait_until(&w.exited) && w.status == 0, "a closed stdin loses what is written");
    finish(&w);
    free(big);
}

static void test_spawn_error(const char *what, const struct process_spec *spec, const char *wanted)
{
    struct watched w = {0};
    struct tc_err err = {0};
    const unsigned fds = children_open_fds();
    ok(!process_spawn(loop, spec, &events, &w, &err), "%s: not started", what);
    has_str(err.text, wanted, "%s: says why", what);
    is_str(err.place, spec->argv[0], "%s: says what", what);
    is_int(children_open_fds(), fds, "%s: no descriptor is left", what);
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
    ok(w.p && wait_until(&w.exited) && w.status == 0, "a name is looked up in the child's PATH");
    finish(&w);
}

static void test_inherits(void)
{
    char dump[4200], wanted[4400];
    snprintf(dump, sizeof dump, "dump=%s/dump", tap_tmpdir());
    const int extra = open("/dev/null", O_RDONLY); /* on purpose without O_CLOEXEC */
    const int high = fcntl(extra, F_DUPFD, 200);
    sigset_t some;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigaddset(&some, SIGTERM);
    sigprocmask(SIG_BLOCK, &some, NULL);
    signal(SIGHUP, SIG_IGN);
    struct watched w = {0};
    spawn(&w, WORDS(dump));
    ok(wait_until(&w.exited) && w.status == 0, "a child that looks at itself");
    signal(SIGHUP, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &some, NULL);
    close(extra);
    close(high);
    char *const text = tap_slurp(dump + 5, NULL);
    snprintf(wanted, sizeof wanted,
             "{\"argv\":[\"%s\",\"%s\"],\n\"env\":[\"PATH=/usr/bin:/bin\",\"A=1\"],\n",
             children_agent(), dump);
    has_str(text, wanted, "has the arguments and the environment it was given, and nothing else");
    has_str(text, "\"fds\":[0,1,2]", "no descriptor but three");
    has_str(text, "\"SigBlk\":\"0000000000000000\"", "no blocked signal");
    has_str(text, "\"SigIgn\":\"0000000000000000\"", "no ignored signal, SIGPIPE included");
    has_str(text, "\"pdeathsig\":15", "SIGTERM when the host dies");
    has_str(text, "\"umask\":63", "umask 077");
    has_str(text, "\"group\":true,\"session\":true", "a process group and a session of its own");
    free(text);
    finish(&w);
}

/* One call ends what it can in a burst; a slow machine may need more of them. */
static bool nobody_lives(void *process)
{
    return process_kill_tree(process) == 0;
}

/* Whatever a child leaves behind, exit comes, and nothing stays. */
static void test_tree(const char *what, const char *const *words, unsigned strays)
{
    const unsigned fds = children_open_fds();
    struct watched w = {.count_only = true};
    const int64_t begin = clock_mono_ms();
    spawn(&w, words);
    ok(wait_until(&w.exited), "%s: the end is told although the pipes are held", what);
    ok(tap_wait(nobody_lives, w.p, DEADLINE_MS), "%s: nobody lives", what);
    ok(process_strays(w.p) >= strays, "%s: %u were killed (%u)", what, strays, process_strays(w.p));
    process_free(w.p);
    is_int(children_marked(words[0]), 0, "%s: nothing is left, no zombie either", what);
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
}

static void test_kill_alive(void)
{
    const char *const mark = children_mark();
    struct watched w = {0};
    spawn(&w, WORDS(mark, "ignore=15", "children=20", "child=double", "text=ready", "sleep"));
    wait_for_text(&w, "ready");
    process_signal(w.p, SIGTERM);
    loop_once(loop, 50);
    ok(!w.exited, "SIGTERM is ignored");
    ok(tap_wait(nobody_lives, w.p, DEADLINE_MS), "the tree of a living child is killed");
    is_int(process_strays(w.p), 21, "all of it");
    ok(wait_until(&w.exited) && WTERMSIG(w.status) == SIGKILL, "and its end comes by the loop");
    finish(&w);
    is_int(children_marked(mark), 0, "nothing is left");
    w = (struct watched){0};
    spawn(&w, WORDS(mark, "child=setsid", "text=ready", "sleep"));
    wait_for_text(&w, "ready");
    finish(&w);
    is_int(children_marked(mark), 0, "nor after a mere free");
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
    is_int(waitpid(pid, NULL, WNOHANG), 0, "%s lives", what);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* Two agents and two children of the host's own: each end takes what is its own. */
static void test_others_live(void)
{
    const pid_t bystander = fork_bystander(false), daemon = fork_bystander(true);
    char mark_a[64], mark_b[64];
    snprintf(mark_a, sizeof mark_a, "%s", children_mark());
    snprintf(mark_b, sizeof mark_b, "%s", children_mark());
    loop_once(loop, 20); /* a clock tick, so that what began before differs from what came after */
    struct watched a = {0}, b = {0};
    spawn(&a, WORDS(mark_a, "child=double", "child=plain", "child=orphan", "text=ready", "sleep"));
    wait_for_text(&a, "ready");
    loop_once(loop, 20);
    spawn(&b, WORDS(mark_b, "child=double", "child=plain", "text=ready", "sleep"));
    wait_for_text(&b, "ready");
    const pid_t newer = fork_bystander(false);
    is_int(children_marked(mark_a) - children_marked(mark_b), 1, "two agents and their children");
    ok(tap_wait(nobody_lives, b.p, DEADLINE_MS), "the second ends");
    ok(wait_until(&b.exited), "with its exit told");
    finish(&b);
    is_int(children_marked(mark_a), 4, "the first has kept all of its own");
    finish(&a);
    is_int(children_marked(mark_a), 0, "then the first, with all it had");
    is_int(children_marked(mark_b), 0, "and the orphan that may have been of either");
    end_bystander(bystander, "a child of the host's own");
    end_bystander(newer, "one that began after the agents");
    end_bystander(daemon, "an older one in a session of its own");
}

static void test_out_end(void)
{
    struct watched w = {0};
    spawn(&w, WORDS("text=x", "close=1", "sleep"));
    ok(wait_until(&w.out_ended) && !w.exited, "stdout closed while the child lives is told");
    process_signal(w.p, SIGTERM);
    ok(wait_until(&w.exited) && WTERMSIG(w.status) == SIGTERM, "then its end");
    finish(&w);
}

static void test_stderr_flood(void)
{
    const bool is_long = getenv("TURNCAST_LONG");
    const size_t bytes = is_long ? 1000000000 : 100000000;
    struct watched w = {0};
    spawn(&w, WORDS(is_long ? "stderr=1000000000" : "stderr=100000000", "text=done"));
    ok(wait_until(&w.exited), "a flood of stderr is drained");
    is_int((long long)w.err_bytes, (long long)bytes, "to the last byte");
    is_str(w.out.p, "done\n", "and stdout still speaks");
    finish(&w);
}

int main(void)
{
    plan_lazy();
    loop = loop_new();
    process_become_subreaper();
    const unsigned fds = children_open_fds();
    test_plain();
    test_stdin();
    test_spawn_errors();
    test_inherits();
    test_trees();
    test_kill_alive();
    test_others_live();
    test_out_end();
    test_stderr_flood();
    is_int(children_open_fds(), fds, "no descriptor leaked");
    is_int(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, 1, "no child is left");
    loop_free(loop);
    return 0;
}
