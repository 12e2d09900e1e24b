/* SPDX-License-Identifier: MIT
 * Limits of a connector process besides memory: CPU time, threads, and disk space in its directory.
 * The kernel has no such limits for a single process, so the host enforces them:
 *
 * - cpu_percent: a process that uses more of one processor within half a minute gets the lowest
 *   priority until it ends.
 * - threads: a process with more threads is killed.
 * - disk_mb: a process with more data in its directory is killed; the next process may remove files
 *   there but not write, until there is room again.
 *
 * Loop thread only. A separate thread measures the directory, so that the loop does not wait for
 * the disk. */
#ifndef PLUGIN_CONNECTOR_LIMITS_H
#define PLUGIN_CONNECTOR_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf/conf.h"
#include "io/loop/loop.h"

struct limits;

/* Result of the last check. */
struct limits_use {
    int64_t cpu_ms;      /* of this process */
    int64_t cpu_percent; /* within the window */
    int64_t threads;
    int64_t disk;         /* bytes; -1: not measured, or no directory */
    const char *exceeded; /* key of the limit that it exceeds or has exceeded; NULL: none */
};

/* Borrows `label`, copies `dir`; NULL: no directory. */
struct limits *connector_limits_new(struct loop *loop, const struct conf_instance *spec,
                                    const char *label, const char *dir);
void connector_limits_free(struct limits *l); /* NULL is allowed */
/* Call it when a process starts. */
void connector_limits_begin(struct limits *l, pid_t pid);
/* Whether the directory is so full that the new process may not write there. */
bool connector_limits_is_full(const struct limits *l);
/* Checks the process and enforces the limits; logs each action. After a kill,
 * connector_limits_kill_reason has the reason. */
void connector_limits_check(struct limits *l);
/* Whether the directory has room again, but this process still may not write. */
bool connector_limits_has_disk_room_again(const struct limits *l);
/* Why the process was killed, to follow "was killed because it"; NULL: it was not killed. */
const char *connector_limits_kill_reason(const struct limits *l);
struct limits_use connector_limits_get_usage(const struct limits *l);

#endif
