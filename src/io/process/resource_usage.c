/* SPDX-License-Identifier: MIT
 * Measures a process and a directory. */
#include "io/process/resource_usage.h"

#include <errno.h>
#include <fts.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/loop/worker.h"

#define NAME_COST 4096 /* minimum for each file or directory */
#define STAT_UNIT 512  /* unit of st_blocks */

/* ---- a process ---- */

int resource_usage_of_process(pid_t pid, struct usage_process *to)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *const f = fopen(path, "re");
    const char *const got = f ? fgets(line, sizeof line, f) : NULL;
    if (f)
        fclose(f);
    const char *const name_end = got ? strrchr(line, ')') : NULL; /* a name may contain any bytes */
    unsigned long long user, system;
    long threads;
    if (!name_end || sscanf(name_end + 1,
                            " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d "
                            "%*d %ld",
                            &user, &system, &threads) != 3)
        return -1;
    to->cpu_ms = (int64_t)(user + system) * 1000 / sysconf(_SC_CLK_TCK);
    to->threads = threads;
    return 0;
}

/* ---- a folder ---- */

struct usage_folder {
    char *path;
    struct worker *worker; /* NULL: no measurement was made yet */
    struct loop *loop;
    bool measures, measured;
    atomic_bool ends;
    int64_t enough, counted; /* used by the worker during a measurement */
    int64_t bytes;
};

struct usage_folder *resource_usage_folder_new(struct loop *loop, const char *path)
{
    struct usage_folder *const f = xcalloc(1, sizeof *f);
    f->loop = loop;
    f->path = xstrdup(path);
    return f;
}

void resource_usage_folder_free(struct usage_folder *f)
{
    if (!f)
        return;
    atomic_store(&f->ends, true);
    worker_free(f->worker);
    free(f->path);
    free(f);
}

const char *resource_usage_folder_path(const struct usage_folder *f)
{
    return f->path;
}

/* An unreadable directory counts as too large, because its contents are unknown. */
static int64_t resource_usage_entry_bytes(const struct usage_folder *f, const FTSENT *e)
{
    const bool failed = e->fts_info == FTS_ERR || e->fts_info == FTS_NS || e->fts_info == FTS_DNR;
    if (failed && e->fts_errno != ENOENT)
        return f->enough + 1;
    if (failed || e->fts_info == FTS_DP)
        return 0;
    const int64_t blocks = (int64_t)e->fts_statp->st_blocks * STAT_UNIT;
    return blocks > NAME_COST ? blocks : NAME_COST;
}

/* Runs on the worker's thread. Ignores files that are removed meanwhile. */
static void resource_usage_measure(void *arg)
{
    struct usage_folder *const f = arg;
    char *const paths[] = {f->path, NULL};
    FTS *const tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    f->counted = 0;
    for (const FTSENT *e; tree && !atomic_load(&f->ends) && f->counted <= f->enough;) {
        if (!(e = fts_read(tree)))
            break;
        f->counted += e->fts_level > 0 ? resource_usage_entry_bytes(f, e) : 0;
    }
    if (tree)
        fts_close(tree);
}

static void on_measured(void *arg)
{
    struct usage_folder *const f = arg;
    f->bytes = f->counted;
    f->measured = true;
    f->measures = false;
}

void resource_usage_folder_measure(struct usage_folder *f, int64_t enough)
{
    if (f->measures)
        return;
    if (!f->worker)
        f->worker = worker_new(f->loop);
    f->enough = enough;
    f->measures = true;
    worker_submit(f->worker, resource_usage_measure, on_measured, f);
}

bool resource_usage_folder_get_new(struct usage_folder *f, int64_t *bytes)
{
    if (!f->measured)
        return false;
    f->measured = false;
    *bytes = f->bytes;
    return true;
}
