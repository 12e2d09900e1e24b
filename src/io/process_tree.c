/* SPDX-License-Identifier: MIT
 * Owns the list of all trees and the walk through /proc. */
#include "io/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"

#define BURST_MS 100
#define ROUND_MS 10            /* longest wait for one of those killed */
#define CHILDREN_MAX (1 << 20) /* bytes of one children file */
#define SET_MAX 65536
#define ENVIRON_MAX ((size_t)4 << 20) /* bytes of one environment */

#define BUCKETS 1024

/* Orphans come to the process, not to a loop: so there is one table of all trees. */
static struct process_tree *trees[BUCKETS];
static int64_t reaped_ms; /* when orphans were last looked for */

static struct process_tree **bucket_of(pid_t pid)
{
    return &trees[(unsigned)pid % BUCKETS];
}

static struct process_tree *tree_of(pid_t pid)
{
    struct process_tree *t = *bucket_of(pid);
    while (t && t->pid != pid)
        t = t->next;
    return t;
}

struct pid_set {
    struct buf pids; /* pid_t after pid_t */
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

/* The members of /proc/PID/stat that matter here. */
struct stat_line {
    char state;
    pid_t session;
    uint64_t began;
};

/* false: there is no such process any more. */
static bool read_stat(pid_t pid, struct stat_line *out)
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
    /* The name in parentheses may hold anything, so the fields begin behind the last one:
     * state ppid pgrp session, and as the 20th of them the start time. */
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

static bool is_dead(const struct stat_line *st)
{
    return st->state == 'Z' || st->state == 'X';
}

static void add_children_of_task(struct pid_set *set, const char *path)
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

/* Every thread has children of its own. */
static void add_children(struct pid_set *set, pid_t pid)
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
        add_children_of_task(set, path);
    }
    closedir(dir);
}

static bool is_spawned_here(pid_t pid)
{
    const struct process_tree *const t = tree_of(pid);
    return t && !t->reaped;
}

/* Some other child than `mine` was there when it began. */
static bool may_be_of_another(const struct process_tree *mine, const struct stat_line *st)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (const struct process_tree *t = trees[i]; t; t = t->next)
            if (t != mine && t->began <= st->began)
                return true;
    return false;
}

static bool is_orphan_of(const struct process_tree *t, const struct stat_line *st)
{
    if (st->session == getsid(0))
        return false;
    const struct process_tree *const owner = tree_of(st->session);
    if (owner)
        return owner == t;
    return st->began >= t->began && !may_be_of_another(t, st);
}

/* Adds those that live and reaps the others; returns how many those were. */
static unsigned add_orphans(struct pid_set *set, const struct process_tree *t)
{
    struct pid_set ours = {0};
    unsigned reaped = 0;
    add_children(&ours, getpid());
    for (size_t i = 0; i < set_count(&ours); i++) {
        const pid_t pid = set_at(&ours, i);
        struct stat_line st;
        if (is_spawned_here(pid) || !read_stat(pid, &st) || !is_orphan_of(t, &st))
            continue;
        if (!is_dead(&st))
            set_add(set, pid);
        else if (waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOHANG) == 0)
            reaped++;
    }
    buf_fini(&ours.pids);
    return reaped;
}

/* The child if it lives, its orphans, and everything below. A process that dies meanwhile hands
 * its children to us behind our back, so only a walk that meets nobody, dead or alive, proves
 * that nobody is left: then it returns true. */
static bool find_all(struct pid_set *set, const struct process_tree *t)
{
    struct stat_line st;
    if (!t->reaped && read_stat(t->pid, &st) && !is_dead(&st))
        set_add(set, t->pid);
    const unsigned reaped = add_orphans(set, t);
    for (size_t i = 0; i < set_count(set); i++)
        add_children(set, set_at(set, i));
    return !reaped && !set_count(set);
}

struct round {
    bool nobody;
    unsigned alive, strays; /* strays: without the child itself */
    pid_t one;              /* of the living; 0: none */
};

static struct round kill_found(const struct process_tree *t)
{
    struct pid_set set = {0};
    struct round r = {.nobody = find_all(&set, t)};
    for (size_t i = 0; i < set_count(&set); i++) {
        const pid_t pid = set_at(&set, i);
        struct stat_line st;
        if (!read_stat(pid, &st) || is_dead(&st))
            continue;
        kill(pid, SIGKILL);
        r.one = pid;
        r.alive++;
        r.strays += pid != t->pid;
    }
    buf_fini(&set.pids);
    return r;
}

static void wait_for_end(pid_t pid, int ms)
{
    CLEANUP_FD const int fd = pidfd_open(pid, 0);
    if (fd < 0)
        return;
    poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, ms);
}

void process_tree_init(struct process_tree *t, pid_t pid)
{
    struct stat_line st = {0};
    read_stat(pid, &st);
    struct process_tree **const at = bucket_of(pid);
    *t = (struct process_tree){.next = *at, .pid = pid, .began = st.began};
    *at = t;
}

void process_tree_fini(struct process_tree *t)
{
    for (struct process_tree **at = bucket_of(t->pid); *at; at = &(*at)->next)
        if (*at == t) {
            *at = t->next;
            return;
        }
}

static bool was_of_any(const struct stat_line *st)
{
    return st->session != getsid(0) && (tree_of(st->session) || may_be_of_another(NULL, st));
}

void process_tree_reap(int64_t every_ms)
{
    const int64_t now = clock_mono_ms();
    if (now - reaped_ms < every_ms)
        return;
    reaped_ms = now;
    struct pid_set ours = {0};
    add_children(&ours, getpid());
    for (size_t i = 0; i < set_count(&ours); i++) {
        const pid_t pid = set_at(&ours, i);
        struct stat_line st;
        if (!is_spawned_here(pid) && read_stat(pid, &st) && is_dead(&st) && was_of_any(&st))
            waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOHANG);
    }
    buf_fini(&ours.pids);
}

unsigned process_tree_kill(struct process_tree *t)
{
    const int64_t until = clock_mono_ms() + BURST_MS;
    for (;;) {
        const struct round r = kill_found(t);
        if (!t->reaped)
            kill(-t->pid, SIGKILL); /* whoever forked away under the walk */
        if (r.strays > t->strays)
            t->strays = r.strays;
        if (r.nobody)
            return 0;
        if (clock_mono_ms() >= until)
            return r.alive ? r.alive : 1;
        if (r.one)
            wait_for_end(r.one, ROUND_MS);
    }
}

void process_tree_boot(char out[64])
{
    out[0] = '\0';
    CLEANUP_FD const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? 0 : read(fd, out, 63);
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

uint64_t process_tree_began(pid_t pid)
{
    struct stat_line st;
    return read_stat(pid, &st) && !is_dead(&st) ? st.began : 0;
}

static bool has_mark(pid_t pid, const char *mark)
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

struct lost {
    pid_t session; /* 0: its number belongs to somebody else */
    uint64_t began;
    const char *mark;
};

static void add_lost(struct pid_set *set, const struct lost *l)
{
    DIR *const dir = opendir("/proc");
    if (!dir)
        return;
    for (const struct dirent *e; (e = readdir(dir));) {
        const pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        struct stat_line st;
        if (pid <= 1 || pid == getpid() || !read_stat(pid, &st) || is_dead(&st) ||
            st.began < l->began)
            continue;
        if ((l->session && st.session == l->session) || has_mark(pid, l->mark))
            set_add(set, pid);
    }
    closedir(dir);
}

static unsigned kill_lost(const struct lost *l)
{
    struct pid_set set = {0};
    struct stat_line st;
    unsigned killed = 0;
    add_lost(&set, l);
    for (size_t i = 0; i < set_count(&set); i++)
        add_children(&set, set_at(&set, i));
    for (size_t i = 0; i < set_count(&set); i++)
        if (read_stat(set_at(&set, i), &st) && !is_dead(&st))
            killed += kill(set_at(&set, i), SIGKILL) == 0;
    if (set_count(&set))
        wait_for_end(set_at(&set, 0), ROUND_MS);
    buf_fini(&set.pids);
    return killed;
}

/* As long as one of a session is left its number is given to nobody else. */
unsigned process_tree_kill_lost(pid_t pid, uint64_t began, const char *mark)
{
    const uint64_t now = process_tree_began(pid);
    const bool reused = pid <= 1 || pid == getsid(0) || (now && now != began);
    const struct lost l = {reused ? 0 : pid, began, mark};
    const int64_t until = clock_mono_ms() + BURST_MS;
    unsigned most = 0, killed;
    while ((killed = kill_lost(&l)) > 0 && clock_mono_ms() < until)
        most = killed > most ? killed : most;
    return most > killed ? most : killed;
}
