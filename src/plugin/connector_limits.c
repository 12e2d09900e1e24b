/* SPDX-License-Identifier: MIT
 * Enforces limits of an instance's process. */
#include "plugin/connector_limits.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "io/process/resource_usage.h"

#define WINDOW_MS 30000 /* time window of cpu_percent */
#define MEASURE_MS 5000 /* interval of disk usage checks */
#define LOWEST_PRIORITY 19
#define MIB (INT64_C(1) << 20)

struct limits {
    const char *label;
    int64_t cpu_percent, threads, disk; /* the limits; 0: none */
    pid_t pid;                          /* of this process */
    struct limits_use use;
    int64_t window_ms, window_cpu_ms; /* start of the window, and CPU time at that time */
    bool slowed;
    bool full;                   /* last measured disk usage */
    bool read_only;              /* this process may not write there */
    const char *death;           /* of this process */
    struct usage_folder *folder; /* NULL: no directory */
    int64_t measured_ms;
};

struct limits *connector_limits_new(struct loop *loop, const struct conf_instance *spec,
                                    const char *label, const char *dir)
{
    struct limits *const l = xcalloc(1, sizeof *l);
    *l = (struct limits){
        .label = label,
        .cpu_percent = spec->cpu_percent,
        .threads = spec->threads,
        .disk = spec->disk_mb * MIB,
        .use.disk = -1,
        .folder = dir && spec->disk_mb ? resource_usage_folder_new(loop, dir) : NULL,
    };
    return l;
}

void connector_limits_free(struct limits *l)
{
    if (!l)
        return;
    resource_usage_folder_free(l->folder);
    free(l);
}

void connector_limits_begin(struct limits *l, pid_t pid)
{
    const int64_t disk = l->use.disk;
    l->pid = pid;
    l->use = (struct limits_use){.disk = disk};
    l->window_ms = clock_mono_ms();
    l->window_cpu_ms = 0;
    l->slowed = false;
    l->read_only = l->full;
    l->death = NULL;
    l->measured_ms = 0;
    if (l->full)
        l->use.exceeded = "disk_mb";
}

bool connector_limits_is_full(const struct limits *l)
{
    return l->full;
}

bool connector_limits_has_disk_room_again(const struct limits *l)
{
    return l->read_only && !l->full;
}

const char *connector_limits_kill_reason(const struct limits *l)
{
    return l->death;
}

struct limits_use connector_limits_get_usage(const struct limits *l)
{
    return l->use;
}

/* ---- processor time ---- */

/* Lowers the priority of all its threads and of those that they create; they cannot raise it
 * again. */
static void connector_limits_lower_priority(struct limits *l, int64_t percent)
{
    l->slowed = true;
    l->use.exceeded = "cpu_percent";
    const bool done = setpriority(PRIO_PGRP, (id_t)l->pid, LOWEST_PRIORITY) == 0;
    log_write(LOG_WARN, l->label, "CPU usage %" PRId64 " %% exceeds cpu_percent = %" PRId64 "; %s",
              percent, l->cpu_percent,
              done ? "lowest priority until the next restart" : "cannot lower the priority");
}

/* With several processors, the limit may be reached before the end of the window. */
static void connector_limits_check_cpu(struct limits *l)
{
    const int64_t now_ms = clock_mono_ms(), passed_ms = now_ms - l->window_ms;
    const int64_t used_ms = l->use.cpu_ms - l->window_cpu_ms;
    l->use.cpu_percent = passed_ms > 0 ? used_ms * 100 / passed_ms : 0;
    if (l->cpu_percent && !l->slowed && used_ms > l->cpu_percent * WINDOW_MS / 100)
        connector_limits_lower_priority(l, l->use.cpu_percent);
    if (passed_ms < WINDOW_MS)
        return;
    l->window_ms = now_ms;
    l->window_cpu_ms = l->use.cpu_ms;
}

/* ---- threads, disk ---- */

static void connector_limits_kill(struct limits *l, const char *key, const char *death)
{
    l->use.exceeded = key;
    l->death = death;
    kill(l->pid, SIGKILL);
}

static void connector_limits_check_threads(struct limits *l)
{
    if (!l->threads || l->use.threads <= l->threads || l->death)
        return;
    log_write(LOG_ERR, l->label,
              "number of threads %" PRId64 " exceeds threads = %" PRId64 "; killing the process",
              l->use.threads, l->threads);
    connector_limits_kill(l, "threads", "too many threads");
}

static void connector_limits_check_disk(struct limits *l)
{
    if (resource_usage_folder_get_new(l->folder, &l->use.disk))
        l->full = l->use.disk > l->disk;
    if (!l->full || l->read_only || l->death)
        return;
    log_write(LOG_ERR, l->label,
              "%s is full: %" PRId64 " MiB (disk_mb = %" PRId64
              "); killing the process; it can only remove files there until enough is free",
              resource_usage_folder_path(l->folder), l->use.disk / MIB, l->disk / MIB);
    connector_limits_kill(l, "disk_mb", "too much data in its directory");
}

static void measure_folder(struct limits *l)
{
    const int64_t now_ms = clock_mono_ms();
    if (l->measured_ms && now_ms - l->measured_ms < MEASURE_MS)
        return;
    l->measured_ms = now_ms;
    resource_usage_folder_measure(l->folder, l->disk);
}

void connector_limits_check(struct limits *l)
{
    struct usage_process now;
    if (resource_usage_of_process(l->pid, &now) == 0) {
        l->use.cpu_ms = now.cpu_ms;
        l->use.threads = now.threads;
        connector_limits_check_cpu(l);
        connector_limits_check_threads(l);
    }
    if (!l->folder)
        return;
    connector_limits_check_disk(l);
    measure_folder(l);
}
