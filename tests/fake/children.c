/* SPDX-License-Identifier: MIT
 * Owns the search of /proc. */
#include "fake/children.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap/tap.h"

static size_t read_proc(int pid, const char *name, char *out, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    FILE *const f = fopen(path, "re");
    if (!f)
        return 0;
    const size_t n = fread(out, 1, size - 1, f);
    out[n] = '\0';
    fclose(f);
    return n;
}

static bool has_mark(int pid, const char *mark)
{
    static char text[1 << 16];
    const size_t n = read_proc(pid, "cmdline", text, sizeof text);
    return n && memmem(text, n, mark, strlen(mark));
}

static bool is_zombie_of_ours(int pid)
{
    char text[1024], state;
    int parent;
    if (!read_proc(pid, "stat", text, sizeof text))
        return false;
    const char *const name_end = strrchr(text, ')');
    return name_end && sscanf(name_end + 1, " %c %d", &state, &parent) == 2 && state == 'Z' &&
           parent == getpid();
}

unsigned children_marked(const char *mark)
{
    DIR *const dir = opendir("/proc");
    unsigned count = 0;
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        const int pid = atoi(e->d_name);
        if (pid > 0 && pid != getpid() && (has_mark(pid, mark) || is_zombie_of_ours(pid)))
            count++;
    }
    if (dir)
        closedir(dir);
    return count;
}

unsigned children_open_fds(void)
{
    DIR *const dir = opendir("/proc/self/fd");
    unsigned count = 0;
    for (const struct dirent *e; dir && (e = readdir(dir));)
        count += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count;
}

const char *children_agent(void)
{
    static char path[4096];
    const char *const build = getenv("TURNCAST_BUILDDIR");
    snprintf(path, sizeof path, "%s/tests/fake/agent", build ? build : ".");
    return path;
}

const char *children_mark(void)
{
    static char mark[64];
    static unsigned count;
    snprintf(mark, sizeof mark, "mark=tc-%d-%u", (int)getpid(), ++count);
    return mark;
}
