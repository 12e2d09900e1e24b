/* SPDX-License-Identifier: MIT
 * Owns the process in which a file is loaded for the first time.
 *
 * It is this program again, executed anew, and not a fork of it: a fork of a process with threads
 * may find any lock held (dlopen allocates, and takes the linker's), and what a file runs as it is
 * loaded would see the host's memory, with every secret in it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/pack.h"
#include "io/sandbox.h"
#include "plugin/loader_file.h"
#include "plugin/loader_parts.h"
#include "text/clean.h"

#define PROBE_MS 5000
#define PROBE_NAME "turncast-probe" /* its argv[0], by which it knows itself */

/* Descriptors of the child; 0 to 2 lead nowhere. */
enum { OUT_FD = 3, FILE_FD, FIRST_FREE_FD };

/* ---- the child ---- */

/* What goes wrong there is to hurt nobody else, and to be seen as what it is: a sanitizer would
 * make an exit of it. */
static int confine(const char *parent, struct tc_err *err)
{
    static const int keep[] = {OUT_FD, FILE_FD};
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        signal(faults[i], SIG_DFL);
    const struct sandbox_start start = {
        .parent = (pid_t)strtol(parent, NULL, 10),
        .keep = keep,
        .n_keep = sizeof keep / sizeof *keep,
    };
    return sandbox_prepare(&start, err);
}

/* One message: its length, whether the file passed, and the record or what is wrong. */
static void send_verdict(bool passed, struct str told)
{
    CLEANUP_BUF struct buf message = {0};
    pack_number(&message, (int64_t)(sizeof(int64_t) + 1 + told.len + 1));
    pack_flag(&message, passed);
    pack_bytes(&message, told);
    for (size_t at = 0; at < message.len;) {
        const ssize_t n = write(OUT_FD, message.p + at, message.len - at);
        if (n <= 0)
            return;
        at += (size_t)n;
    }
}

/* Before main, so that every program which has the loader is its own probe, and so that nothing of
 * that program has begun. The C library gives a constructor what it gives main. */
__attribute__((__constructor__)) static void be_probe(int argc, char **argv)
{
    CLEANUP_BUF struct buf record = {0};
    struct tc_err err = {0};
    if (argc != 3 || strcmp(argv[0], PROBE_NAME) != 0)
        return;
    if (confine(argv[2], &err) == 0 && loader_describe_here(FILE_FD, &record, &err) == 0)
        send_verdict(true, (struct str){record.p, record.len});
    else
        send_verdict(false, (struct str){err.text, strlen(err.text)});
    _exit(0);
}

/* ---- its start ---- */

struct loader_probe {
    char *path;
    int file, in; /* the file that was checked; where the verdict comes from */
    pid_t pid;
    int64_t deadline_ms;
    struct tc_err err; /* it was refused before there was a process */
};

/* Out of the way of the numbers that the child gets. */
static int lift(int fd)
{
    if (fd < 0 || fd >= FIRST_FREE_FD)
        return fd;
    const int lifted = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
    const int error = errno;
    close(fd);
    errno = error;
    return lifted;
}

/* Nothing of the host's environment, but where its libraries are. */
static pid_t spawn(struct loader_probe *p, int out)
{
    const char *const libraries = getenv("LD_LIBRARY_PATH");
    CLEANUP_FREE char *where = libraries ? xasprintf("LD_LIBRARY_PATH=%s", libraries) : NULL;
    char name[] = PROBE_NAME;
    char host[16];
    snprintf(host, sizeof host, "%ld", (long)getpid());
    char *const argv[] = {name, p->path, host, NULL};
    char *const env[] = {where, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    pid_t pid;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setflags(&attr,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int rc = posix_spawn_file_actions_adddup2(&files, out, OUT_FD);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&files, p->file, FILE_FD);
    if (rc == 0)
        rc = posix_spawn(&pid, "/proc/self/exe", &files, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    errno = rc;
    return rc == 0 ? pid : -1;
}

static int begin(struct loader_probe *p)
{
    int ends[2];
    const int fd = loader_file_open(p->path, &p->err);
    if (fd < 0)
        return -1;
    p->file = lift(fd);
    if (p->file < 0 || pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(&p->err, errno, p->path, "cannot be tried");
    p->in = ends[0];
    CLEANUP_FD const int out = lift(ends[1]);
    p->pid = out < 0 ? -1 : spawn(p, out);
    return p->pid < 0 ? err_sys(&p->err, errno, p->path, "cannot be tried") : 0;
}

struct loader_probe *loader_probe_begin(const char *path)
{
    struct loader_probe *const p = xcalloc(1, sizeof *p);
    *p = (struct loader_probe){
        .path = xstrdup(path),
        .file = -1,
        .in = -1,
        .deadline_ms = clock_mono_ms() + PROBE_MS,
    };
    p->pid = begin(p) < 0 ? -1 : p->pid;
    return p;
}

/* ---- its verdict ---- */

/* 1: there are so many now; 0: the other end is closed; -1: it takes too long. */
static int fill(struct loader_probe *p, struct buf *in, size_t wanted)
{
    while (in->len < wanted) {
        const int64_t left_ms = p->deadline_ms - clock_mono_ms();
        struct pollfd fd = {.fd = p->in, .events = POLLIN};
        const int ready = poll(&fd, 1, left_ms > 0 ? (int)left_ms : 0); /* what is there counts */
        if (ready == 0)
            return -1;
        if (ready < 0)
            continue;
        const ssize_t n = read(p->in, buf_reserve(in, wanted - in->len), wanted - in->len);
        if (n <= 0)
            return 0;
        in->len += (size_t)n;
    }
    return 1;
}

/* As fill; the message is then without its length. A length that none can have: as if it were
 * empty, which no verdict is. */
static int read_message(struct loader_probe *p, struct buf *in)
{
    int64_t length;
    const int rc = fill(p, in, sizeof length);
    if (rc <= 0)
        return rc;
    memcpy(&length, in->p, sizeof length);
    buf_reset(in);
    return length > 0 && length <= (int64_t)DESCRIPTOR_MAX ? fill(p, in, (size_t)length) : 1;
}

/* With all it has started; its state as of waitpid. */
static int end(const struct loader_probe *p)
{
    int status = 0;
    kill(-p->pid, SIGKILL);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* The child's text may be anything. */
static void set_text(struct tc_err *err, const char *path, struct str text)
{
    CLEANUP_BUF struct buf clean = {0};
    clean_text(&clean, text.p, text.len);
    for (size_t i = 0; i < clean.len; i++)
        if (clean.p[i] == '\n')
            clean.p[i] = ' ';
    err_set(err, path, "%s", clean.len ? clean.p : "cannot be loaded");
}

static struct loaded *judge(struct loader_probe *p, struct str message, struct tc_err *err)
{
    struct unpack u;
    unpack_start(&u, message);
    const bool passed = unpack_flag(&u);
    const struct str told = unpack_bytes(&u);
    if (unpack_finish(&u) < 0 || !told.p) {
        err_set(err, p->path, "writes to descriptors that are not its own as it is loaded");
        return NULL;
    }
    if (!passed) {
        set_text(err, p->path, told);
        return NULL;
    }
    const int file = p->file;
    p->file = -1;
    return loader_new(file, p->path, told, err);
}

static void blame_end(const struct loader_probe *p, int status, struct tc_err *err)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        err_set(err, p->path, "is damaged: loading it ends the process by signal %d (%s)",
                WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (WIFEXITED(status) && WEXITSTATUS(status))
        err_set(err, p->path, "ends the process that loads it, with status %d",
                WEXITSTATUS(status));
    else
        err_set(err, p->path, "ends the process that loads it, or closes what is not its own");
}

static struct loaded *await(struct loader_probe *p, struct tc_err *err)
{
    CLEANUP_BUF struct buf in = {0};
    const int rc = read_message(p, &in);
    const int status = end(p);
    if (rc > 0)
        return judge(p, (struct str){in.p, in.len}, err);
    if (rc < 0)
        err_set(err, p->path, "does not come back from being loaded");
    else
        blame_end(p, status, err);
    return NULL;
}

struct loaded *loader_probe_finish(struct loader_probe *p, struct tc_err *err)
{
    struct loaded *const l = p->pid < 0 ? NULL : await(p, err);
    if (p->pid < 0 && err)
        *err = p->err;
    cleanup_fd(&p->file);
    cleanup_fd(&p->in);
    free(p->path);
    free(p);
    return l;
}

struct loaded *loader_describe(const char *path, struct tc_err *err)
{
    return loader_probe_finish(loader_probe_begin(path), err);
}
