/* SPDX-License-Identifier: MIT
 * Tests of the sandbox of a connector from inside: processes make attempts that must fail and
 * attempts that must succeed, on this kernel and as if the kernel had fewer features. An attempt
 * that a feature refuses must succeed without that feature, otherwise its refusal would prove
 * nothing. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "io/sandbox/sandbox.h"
#include "io/sandbox/sandbox_internal.h"
#include "io/sandbox_cases.h"
#include "tap/tap.h"

#define WAIT_MS 10000

static struct sandbox_place here;

/* --- children ----------------------------------------------------------------------------- */

/* The results that a child writes before it exits. */
struct report {
    bool entered;
    char text[2][256]; /* warnings, or the error in the first */
    unsigned n_texts;
    int refusals[REFUSALS], needs[NEEDS];
};

static void on_warning(void *ctx, const char *text)
{
    struct report *const r = ctx;
    if (r->n_texts < 2)
        snprintf(r->text[r->n_texts], sizeof r->text[0], "%s", text);
    r->n_texts++;
}

typedef void work(struct report *r, const struct sandbox_features *kernel);

/* Ends the child by _exit, because the exit handlers belong to the test. */
static void run_in_child(work *f, const struct sandbox_features *kernel, int out)
{
    struct report r = {0};
    struct tc_err err = {0};
    const int keep[] = {out, 2, here.given};
    const struct sandbox_detach_spec start = {.parent = here.parent, .keep = keep, .n_keep = 3};
    if (sandbox_detach_process(&start, &err) < 0)
        snprintf(r.text[0], sizeof r.text[0], "%s", err_format(&err));
    else
        f(&r, kernel);
    _exit(write(out, &r, sizeof r) == sizeof r ? 0 : 3);
}

/* Returns the exit status of the child. */
static int run_child(work *f, const struct sandbox_features *kernel, struct report *r)
{
    int pipe[2], status;
    *r = (struct report){0};
    if (pipe2(pipe, O_CLOEXEC) < 0)
        bail("no pipe");
    const pid_t pid = fork();
    if (pid == 0)
        run_in_child(f, kernel, pipe[1]);
    close(pipe[1]);
    const ssize_t n = read(pipe[0], r, sizeof *r);
    close(pipe[0]);
    waitpid(pid, &status, 0);
    if (n != sizeof *r && !WIFSIGNALED(status))
        diag("the child has written no results");
    return status;
}

static void enter(struct report *r, const struct sandbox_features *kernel, size_t n_ports,
                  size_t memory)
{
    struct tc_err err = {0};
    const char *const write_paths[] = {here.state, here.more, NULL};
    const char *const conf_row_paths[] = {here.shown, NULL};
    const char *const read_files[] = {here.library, here.link, "/nonexistent", NULL};
    const char *const shrink_paths[] = {here.full, NULL};
    const struct sandbox_spec spec = {
        .label = "test",
        .write_paths = write_paths,
        .read_paths = conf_row_paths,
        .read_files = read_files,
        .read_fd = here.given,
        .shrink_paths = shrink_paths,
        .ports = &here.open_port,
        .n_ports = n_ports,
        .memory = memory,
    };
    r->entered = sandbox_enter_with(kernel, &spec, on_warning, r, &err) == 0;
    if (!r->entered)
        snprintf(r->text[0], sizeof r->text[0], "%s", err_format(&err));
}

static void try_all(struct report *r, const struct sandbox_features *kernel)
{
    enter(r, kernel, 1, 0);
    for (size_t i = 0; r->entered && i < NEEDS; i++)
        r->needs[i] = sandbox_needs[i].try(&here);
    for (size_t i = 0; r->entered && i < REFUSALS; i++)
        r->refusals[i] = sandbox_refusals[i].try(&here);
}

/* --- attempts ------------------------------------------------------------------------------ */

#define THIS 99 /* stands for the version of this kernel */

static const struct stage {
    const char *name;
    struct sandbox_features kernel;
    const char *warnings[2];
} stages[] = {
    {"this kernel", {THIS, true}, {NULL, NULL}},
    {"Landlock 5", {5, true}, {NULL, NULL}},
    {"Landlock 3", {3, true}, {"version 3: connectors can connect to every port", NULL}},
    {"Landlock 1", {1, true}, {"version 1: connectors can connect to every port", NULL}},
    {"Landlock 2 alone",
     {2, false},
     {"version 2: connectors can truncate every file of this user, and connect to every port",
      "has no seccomp"}},
    {"no Landlock", {0, true}, {"no Landlock: connectors can open every file", NULL}},
    {"no seccomp", {THIS, false}, {"has no seccomp", NULL}},
    {"neither", {0, false}, {"no Landlock", "has no seccomp"}},
};

/* Reduces the features of this kernel to those of the stage; false: this kernel has fewer. */
static bool reduce_features(const struct stage *s, struct sandbox_features *kernel)
{
    const struct sandbox_features real = sandbox_probe_kernel();
    *kernel = s->kernel;
    if (kernel->landlock == THIS)
        kernel->landlock = real.landlock;
    /* Kernels with a version below 4 are covered by the stages below. */
    return kernel->landlock <= real.landlock &&
           (s->kernel.landlock != THIS || real.landlock >= 4) && (real.seccomp || !kernel->seccomp);
}

static void check_refusals(const struct stage *s, const struct sandbox_features *kernel,
                           const int errors[REFUSALS])
{
    for (size_t i = 0; i < REFUSALS; i++) {
        const struct sandbox_refusal *const row = &sandbox_refusals[i];
        const bool held = (row->landlock && kernel->landlock >= row->landlock) ||
                          (kernel->seccomp && row->seccomp == YES) ||
                          (kernel->seccomp && row->seccomp == OLD && kernel->landlock);
        const bool refused = sandbox_is_refusal(errors[i]);
        if (held || row->anyway == BITES)
            ok(refused == held, "%s: %s is %s (%s)", s->name, row->name,
               held ? "refused" : "let through", strerror(errors[i]));
    }
}

static void check_warnings(const struct stage *s, const struct report *r)
{
    unsigned n = 0;
    for (size_t i = 0; i < 2 && s->warnings[i]; i++)
        if (has_str(r->text[i], s->warnings[i], "%s: a warning about a missing feature", s->name))
            n++;
    is_int(r->n_texts, n, "%s: no other warning", s->name);
}

static void check_stage(const struct stage *s)
{
    struct sandbox_features kernel;
    struct report r;
    if (!reduce_features(s, &kernel)) {
        skip(1, "%s: this kernel has Landlock %d, seccomp %d", s->name,
             sandbox_probe_kernel().landlock, sandbox_probe_kernel().seccomp);
        return;
    }
    tap_spew(sandbox_below(here.full, "old"), "old", 3);
    unlink(sandbox_below(here.full, "new"));
    is_int(run_child(try_all, &kernel, &r), 0, "%s: the child ends normally", s->name);
    if (!ok(r.entered, "%s: the child enters the sandbox", s->name)) {
        diag("%s", r.text[0]);
        return;
    }
    check_warnings(s, &r);
    for (size_t i = 0; i < NEEDS; i++)
        ok(r.needs[i] == 0, "%s: %s: %s", s->name, sandbox_needs[i].name, strerror(r.needs[i]));
    check_refusals(s, &kernel, r.refusals);
}

static void check_stages(void)
{
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        check_stage(&stages[i]);
        if (i > 0)
            continue;
        size_t len;
        free(tap_slurp(here.secret, &len));
        is_int((long long)len, 6, "the file outside was not changed");
    }
}

/* --- other properties ---------------------------------------------------------------------- */

static int open_socket(int family, int type)
{
    const int fd = socket(family, type | SOCK_CLOEXEC, 0);
    return fd < 0 ? errno : close(fd);
}

static void be_without_ports(struct report *r, const struct sandbox_features *kernel)
{
    enter(r, kernel, 0, 0);
    r->refusals[0] = open_socket(AF_INET, SOCK_STREAM);
    r->refusals[1] = open_socket(AF_INET6, SOCK_DGRAM);
    r->refusals[2] = open_socket(AF_NETLINK, SOCK_RAW);
}

static void check_without_ports(const struct sandbox_features *kernel)
{
    struct report r;
    run_child(be_without_ports, kernel, &r);
    is_int(r.n_texts, 0, "without ports no warning is given");
    is_int(r.refusals[0], EPERM, "without ports TCP is refused");
    is_int(r.refusals[1], EPERM, "without ports UDP is refused");
    is_int(r.refusals[2], EPERM, "without ports other sockets are refused");
    run_child(be_without_ports, &(struct sandbox_features){3, true}, &r);
    is_int(r.n_texts, 0, "without ports no warning is given for a kernel that cannot filter ports");
}

static void take_memory(struct report *r, const struct sandbox_features *kernel)
{
    enter(r, kernel, 0, (size_t)512 << 20);
    void *const p = mmap(NULL, (size_t)1 << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    r->needs[0] = p == MAP_FAILED ? errno : 0;
    r->needs[1] = sandbox_needs[1].try(&here);
}

static void check_memory(const struct sandbox_features *kernel)
{
    struct report r;
    run_child(take_memory, kernel, &r);
    ok(r.entered, "the sandbox is entered with a limit on memory");
    is_int(r.needs[0], SANDBOX_SANITIZER_BUILD ? 0 : ENOMEM, "an allocation above the limit fails");
    is_int(r.needs[1], 0, "an allocation below the limit succeeds");
}

static void *try_later(void *arg)
{
    struct report *const r = arg;
    while (!__atomic_load_n(&r->entered, __ATOMIC_ACQUIRE))
        sched_yield();
    r->refusals[0] = open_socket(AF_INET, SOCK_STREAM);
    return NULL;
}

static void start_thread_first(struct report *r, const struct sandbox_features *kernel)
{
    struct report inner = {0};
    pthread_t thread;
    r->needs[0] = pthread_create(&thread, NULL, try_later, r);
    enter(&inner, kernel, 0, 0);
    memcpy(r->text, inner.text, sizeof r->text);
    r->n_texts = inner.n_texts;
    __atomic_store_n(&r->entered, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
}

/* The constructor of a plugin may start threads before the sandbox is entered. */
static void check_thread(const struct sandbox_features *kernel)
{
    struct report r;
    run_child(start_thread_first, kernel, &r);
    is_int(r.needs[0], 0, "a thread is started before the sandbox is entered");
    is_int(r.refusals[0], EPERM, "the filter of system calls applies to the thread");
    if (!SANDBOX_SANITIZER_BUILD && kernel->landlock)
        has_str(r.text[0], "a plugin constructor started threads",
                "a warning says that Landlock does not apply to the thread");
}

static void enter_with_missing_path(struct report *r, const struct sandbox_features *kernel)
{
    char missing[] = "/nonexistent/state";
    here.more = missing;
    enter(r, kernel, 0, 0);
}

static void check_missing_path(const struct sandbox_features *kernel)
{
    struct report r;
    run_child(enter_with_missing_path, kernel, &r);
    ok(!r.entered, "a missing path is an error");
    has_str(r.text[0], "test: cannot allow access to /nonexistent/state: No such file or directory",
            "the error names the missing path");
}

#if defined(__x86_64__)
/* Calls getpid as 32-bit programs do; a filter for one architecture would not see the call. */
static void call_as_32_bit(struct report *r, const struct sandbox_features *kernel)
{
    long pid = 20;
    signal(SIGSEGV, SIG_DFL); /* a sanitizer would exit instead */
    enter(r, kernel, 0, 0);
    __asm__ volatile("int $0x80" : "+a"(pid) : : "memory");
    r->needs[0] = (int)pid;
}

static void check_other_architecture(const struct sandbox_features *kernel)
{
    struct report r;
    const int status = run_child(call_as_32_bit, kernel, &r);
    ok(WIFSIGNALED(status) && (WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV),
       "a call of another architecture kills the process");
}
#else
static void check_other_architecture(UNUSED const struct sandbox_features *kernel)
{
    skip(1, "a call of another architecture: only possible on x86-64");
}
#endif

/* --- before the plugin is loaded ----------------------------------------------------------- */

static int hard_limit(int what)
{
    struct rlimit limit = {0};
    getrlimit(what, &limit);
    return limit.rlim_max > INT32_MAX ? INT32_MAX : (int)limit.rlim_max;
}

static int count_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void read_properties(struct report *r, UNUSED const struct sandbox_features *kernel)
{
    struct stat st, null;
    char dir[64] = "";
    const mode_t mask = umask(0);
    const int seen[] = {
        getsid(0) == getpid() && getpgrp() == getpid(),
        mask == 077,
        getcwd(dir, sizeof dir) && strcmp(dir, "/") == 0,
        prctl(PR_GET_DUMPABLE) == 0,
        prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1,
        hard_limit(RLIMIT_CORE) == 0,
        hard_limit(RLIMIT_NOFILE) <= 256,
        hard_limit(RLIMIT_NPROC) < INT32_MAX,
        count_descriptors() == 5,
        fstat(0, &st) == 0 && stat("/dev/null", &null) == 0 && st.st_rdev == null.st_rdev,
    };
    memcpy(r->needs, seen, sizeof seen);
    r->entered = true;
}

static void check_prepared(void)
{
    static const char *const names[] = {
        "the process leads a session and a group",
        "the umask permits the user only",
        "the working directory is /",
        "the process is not dumpable",
        "the process cannot gain privileges",
        "the limit on core files is 0",
        "the number of descriptors is limited",
        "the number of threads is limited",
        "only the given descriptors and 0 to 2 are open",
        "the standard input is /dev/null",
    };
    struct report r;
    const int stray[] = {open("/dev/null", O_RDONLY), dup(1)};
    run_child(read_properties, NULL, &r);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ok(r.needs[i], "%s", names[i]);
    close(stray[0]);
    close(stray[1]);
}

static void dump_core(UNUSED struct report *r, UNUSED const struct sandbox_features *kernel)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
}

static void check_no_core(void)
{
    struct report r;
    const int status = run_child(dump_core, NULL, &r);
    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && !WCOREDUMP(status),
       "a crash leaves no core file");
}

static void check_wrong_start(void)
{
    struct tc_err err = {0};
    const pid_t pid = fork();
    if (pid == 0) {
        const struct sandbox_detach_spec of_init = {.parent = 1};
        _exit(sandbox_detach_process(&of_init, &err) < 0 && strstr(err.text, "has exited") ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    is_int(status, 0, "a parent that has exited is an error");
    const pid_t lost = fork();
    if (lost == 0) {
        const struct sandbox_detach_spec nowhere = {.parent = here.parent, .dir = "/nonexistent"};
        _exit(sandbox_detach_process(&nowhere, &err) < 0 ? 0 : 1);
    }
    waitpid(lost, &status, 0);
    is_int(status, 0, "a missing folder is an error");
}

/* Prepares a child, reports it, and exits on request. */
static void be_parent(int out, int go)
{
    const pid_t self = getpid();
    const int keep[] = {out};
    if (fork() == 0) {
        struct tc_err err;
        const struct sandbox_detach_spec start = {.parent = self, .keep = keep, .n_keep = 1};
        if (sandbox_detach_process(&start, &err) < 0 || write(out, "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    char c;
    _exit(read(go, &c, 1) == 1 ? 0 : 1);
}

static void check_dies_with_parent(void)
{
    int out[2], go[2];
    char c = 0;
    if (pipe2(out, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0)
        bail("no pipe");
    const pid_t pid = fork();
    if (pid == 0)
        be_parent(out[1], go[0]);
    close(out[1]);
    ok(read(out[0], &c, 1) == 1 && c == 'r', "a grandchild is prepared");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    struct pollfd ended = {.fd = out[0], .events = POLLIN};
    is_int(poll(&ended, 1, WAIT_MS), 1, "the grandchild ends when its parent is killed");
    is_int(read(out[0], &c, 1), 0, "the grandchild has closed its pipe");
    close(out[0]);
    close(go[0]);
    close(go[1]);
}

/* --- files and ports ----------------------------------------------------------------------- */

static int listen_at(int family, const struct sockaddr *at, socklen_t len)
{
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, at, len) < 0 || listen(fd, 64) < 0)
        bail("no socket to listen at: %s", strerror(errno));
    return fd;
}

static uint16_t listen_at_port(int *fd)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    *fd = listen_at(AF_INET, (const struct sockaddr *)&at, len);
    getsockname(*fd, (struct sockaddr *)&at, &len);
    return ntohs(at.sin_port);
}

static int listen_at_service(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", here.service);
    return listen_at(AF_UNIX, (const struct sockaddr *)&at, sizeof at);
}

static void make_place(int listeners[3])
{
    here.root = tap_tmpdir();
    here.state = xasprintf("%s/state", here.root);
    here.more = xasprintf("%s/more", here.root);
    here.shown = xasprintf("%s/shown", here.root);
    here.secret = xasprintf("%s/secret", here.root);
    here.service = xasprintf("%s/service", here.root);
    here.library = xasprintf("%s/library", here.root);
    here.link = xasprintf("%s/link", here.root);
    here.full = xasprintf("%s/full", here.root);
    here.parent = getpid();
    if (mkdir(here.state, 0700) < 0 || mkdir(here.more, 0700) < 0 || mkdir(here.full, 0700) < 0 ||
        symlink("secret", here.link) < 0)
        bail("no folders");
    tap_spew(here.library, "library", 7);
    tap_spew(sandbox_below(here.root, "given"), "given", 5);
    here.given = open(sandbox_below(here.root, "given"), O_RDONLY | O_CLOEXEC);
    tap_spew(here.shown, "shown", 5);
    tap_spew(here.secret, "secret", 6);
    chmod(here.secret, 0600);
    here.open_port = listen_at_port(&listeners[0]);
    here.other_port = listen_at_port(&listeners[1]);
    listeners[2] = listen_at_service();
}

static void clear_place(const int listeners[3])
{
    for (size_t i = 0; i < 3; i++)
        close(listeners[i]);
    free(here.state);
    free(here.more);
    free(here.shown);
    free(here.secret);
    free(here.service);
    free(here.library);
    free(here.link);
    free(here.full);
    close(here.given);
}

int main(void)
{
    int listeners[3];
    plan_lazy();
    make_place(listeners);
    const struct sandbox_features kernel = sandbox_probe_kernel();
    diag("Landlock %d, seccomp %s", kernel.landlock, kernel.seccomp ? "yes" : "no");
    check_prepared();
    check_no_core();
    check_wrong_start();
    check_dies_with_parent();
    check_stages();
    check_memory(&kernel);
    if (kernel.landlock)
        check_missing_path(&kernel);
    else
        skip(1, "a missing path: this kernel has no Landlock");
    if (kernel.seccomp && kernel.landlock) {
        check_without_ports(&kernel);
        check_thread(&kernel);
        check_other_architecture(&kernel);
    } else {
        skip(1, "without ports, threads, other architectures: Landlock %d, seccomp %d",
             kernel.landlock, kernel.seccomp);
    }
    clear_place(listeners);
    return 0;
}
