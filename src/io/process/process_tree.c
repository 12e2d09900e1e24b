/* SPDX-License-Identifier: MIT
 * Walks through /proc. */
#include "io/process/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"

#define BURST_MS 100
#define ROUND_MS 10            /* longest wait for a killed process */
#define CHILDREN_MAX (1 << 20) /* limit of one children file */
#define SET_MAX 65536
#define ENVIRON_MAX ((size_t)4 << 20) /* limit of one environment */

struct pid_set {
    struct buf pids; /* array of pid_t */
};

static size_t set_count(const struct pid_set *s)
{
    return s->pids.len / sizeof(pid_t);
}

static pid_t set_at(const struct pid_set *s, size_t i)
{
    pid_t pid;
    memcpy(&pid, s->pids.p + i * sizeof pid, sizeof pid);
    return pid;
}

static void set_add(struct pid_set *s, pid_t pid)
{
    if (set_count(s) < SET_MAX)
        buf_add(&s->pids, &pid, sizeof pid);
}

/* The needed members of /proc/PID/stat. */
struct proc_stat {
    char state;
    pid_t session;
    uint64_t began;
};

/* false: the process does not exist any more. */
static bool read_stat(pid_t pid, struct proc_stat *out)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    CLEANUP_FD const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t n = read(fd, text, sizeof text - 1);
    if (n <= 0)
        return false;
    text[n] = '\0';
    /* The name in parentheses may contain anything, so fields are counted from the last
     * parenthesis: state ppid pgrp session, and as the 20th the start time. */
    const char *const name_end = strrchr(text, ')');
    int session;
    unsigned long long began;
    if (!name_end || sscanf(name_end + 1,
                            " %c %*d %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                            "%*d %*d %llu",
                            &out->state, &session, &began) != 3)
        return false;
    out->session = session;
    out->began = began;
    return true;
}

static bool process_tree_is_dead(const struct proc_stat *st)
{
    return st->state == 'Z' || st->state == 'X';
}

static void process_tree_add_children_of_task(struct pid_set *set, const char *path)
{
    CLEANUP_FD const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    CLEANUP_BUF struct buf text = {0};
    ssize_t n;
    while (text.len < CHILDREN_MAX && (n = read(fd, buf_reserve(&text, 4096), 4096)) > 0)
        text.len += (size_t)n;
    if (!text.len)
        return;
    text.p[text.len] = '\0';
    char *rest = text.p, *word;
    while ((word = strsep(&rest, " ")))
        if (*word)
            set_add(set, (pid_t)strtol(word, NULL, 10));
}

/* Every thread has separate children. */
static void process_tree_add_children(struct pid_set *set, pid_t pid)
{
    char path[320];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *const dir = opendir(path);
    if (!dir)
        return;
    for (const struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, e->d_name);
        process_tree_add_children_of_task(set, path);
    }
    closedir(dir);
}

/* Adds all descendants of the members. The set grows during the loop, which includes new members.
 */
static void process_tree_add_descendants(struct pid_set *set)
{
    for (size_t i = 0; i < set_count(set); i++)
        process_tree_add_children(set, set_at(set, i));
}

/* Returns the number of processes that were killed, without those that had ended already. */
static unsigned process_tree_kill_set(const struct pid_set *set)
{
    unsigned killed = 0;
    for (size_t i = 0; i < set_count(set); i++) {
        const pid_t pid = set_at(set, i);
        struct proc_stat st;
        if (read_stat(pid, &st) && !process_tree_is_dead(&st))
            killed += kill(pid, SIGKILL) == 0;
    }
    return killed;
}

/* Kills each process as soon as its children are known: a process that forks and exits repeatedly
 * would be gone before a complete list exists. */
void process_tree_kill_descendants(pid_t pid)
{
    struct pid_set set = {0};
    process_tree_add_children(&set, pid);
    for (size_t i = 0; i < set_count(&set); i++) {
        process_tree_add_children(&set, set_at(&set, i));
        kill(set_at(&set, i), SIGKILL);
    }
    buf_fini(&set.pids);
}

static void process_tree_wait_for_exit(pid_t pid, int ms)
{
    CLEANUP_FD const int fd = pidfd_open(pid, 0);
    if (fd < 0)
        return;
    poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, ms);
}

void process_tree_boot_id(char out[64])
{
    out[0] = '\0';
    CLEANUP_FD const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? 0 : read(fd, out, 63);
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

uint64_t process_tree_start_time(pid_t pid)
{
    struct proc_stat st;
    return read_stat(pid, &st) && !process_tree_is_dead(&st) ? st.began : 0;
}

/* The second number of /proc/PID/statm (proc(5)): resident pages. */
int64_t process_tree_read_rss(pid_t pid)
{
    char path[64], text[128];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    CLEANUP_FD const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    long long pages;
    if (n <= 0)
        return -1;
    text[n] = '\0';
    return sscanf(text, "%*u %lld", &pages) == 1 ? pages * sysconf(_SC_PAGESIZE) : -1;
}

uint64_t process_tree_resident(pid_t pid)
{
    struct pid_set set = {0};
    uint64_t bytes = 0;
    set_add(&set, pid);
    process_tree_add_descendants(&set);
    for (size_t i = 0; i < set_count(&set); i++) {
        const int64_t rss = process_tree_read_rss(set_at(&set, i));
        bytes += rss > 0 ? (uint64_t)rss : 0;
    }
    buf_fini(&set.pids);
    return bytes;
}

static bool process_tree_has_mark(pid_t pid, const char *mark)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    CLEANUP_FD const int fd = open(path, O_RDONLY | O_CLOEXEC);
    CLEANUP_BUF struct buf text = {0};
    ssize_t n = fd < 0 ? 0 : 1;
    while (n > 0 && text.len < ENVIRON_MAX)
        if ((n = read(fd, buf_reserve(&text, 4096), 4096)) > 0)
            text.len += (size_t)n;
    if (!text.len)
        return false;
    text.p[text.len] = '\0';
    for (const char *var = text.p; var < text.p + text.len; var += strlen(var) + 1)
        if (strcmp(var, mark) == 0)
            return true;
    return false;
}

static void process_tree_add_orphans(struct pid_set *set, const struct orphaned_shim *l,
                                     pid_t session)
{
    DIR *const dir = opendir("/proc");
    if (!dir)
        return;
    for (const struct dirent *e; (e = readdir(dir));) {
        const pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        struct proc_stat st;
        if (pid <= 1 || pid == getpid() || !read_stat(pid, &st) || process_tree_is_dead(&st) ||
            st.began < l->began)
            continue;
        if ((session && st.session == session) || (l->mark && process_tree_has_mark(pid, l->mark)))
            set_add(set, pid);
    }
    closedir(dir);
}

static unsigned process_tree_kill_found(const struct orphaned_shim *l, pid_t session)
{
    struct pid_set set = {0};
    process_tree_add_orphans(&set, l, session);
    process_tree_add_descendants(&set);
    const unsigned killed = process_tree_kill_set(&set);
    if (killed)
        process_tree_wait_for_exit(set_at(&set, 0), ROUND_MS);
    buf_fini(&set.pids);
    return killed;
}

bool process_tree_is_shim_alive(const struct orphaned_shim *l)
{
    return l->pid > 1 && l->began && process_tree_start_time(l->pid) == l->began;
}

/* The number of a session is not reused while one of its processes exists. */
static bool process_tree_is_pid_reused(const struct orphaned_shim *l)
{
    const uint64_t now = process_tree_start_time(l->pid);
    return l->pid <= 1 || l->pid == getsid(0) || (now && now != l->began);
}

bool process_tree_kill_orphans(const struct orphaned_shim *l, unsigned *killed)
{
    const pid_t session = process_tree_is_pid_reused(l) ? 0 : l->pid;
    const int64_t until = clock_mono_ms() + BURST_MS;
    unsigned most = 0, found;
    do {
        found = process_tree_kill_found(l, session);
        most = found > most ? found : most;
    } while (found && clock_mono_ms() < until);
    *killed += most;
    return !found;
}
