/* SPDX-License-Identifier: MIT
 * Process tree from /proc: finds and kills the descendants of a process, and those of a shim that
 * was killed (by session and environment marker). Any thread. */
#ifndef IO_PROCESS_PROCESS_TREE_H
#define IO_PROCESS_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Id of this boot of the machine, "" if unknown: a pid is meaningless after a reboot. */
void process_tree_boot_id(char out[64]);
/* Start time of the process, in clock ticks since boot; 0: it does not exist. */
uint64_t process_tree_start_time(pid_t pid);
/* Resident memory (RSS) of the process alone in bytes; -1: it does not exist, or /proc cannot be
 * read. */
int64_t process_tree_read_rss(pid_t pid);
/* The sum for the process and all its descendants. Shared pages count for each process. */
uint64_t process_tree_resident(pid_t pid);
/* Sends SIGKILL to all descendants of the process that are found, but not to the process. A process
 * that forks meanwhile is found by the next call. */
void process_tree_kill_descendants(pid_t pid);

/* A shim that no host watches, or that has exited without reporting that no process is left. */
struct orphaned_shim {
    pid_t pid;      /* of the shim */
    uint64_t began; /* start time, to distinguish it from a later process with that pid */
    /* "NAME=value" in the environment of all its descendants; or NULL. */
    const char *mark;
};

/* Whether the shim still runs. */
bool process_tree_is_shim_alive(const struct orphaned_shim *l);
/* For about 100 ms, kills processes of the session that it led, processes with the mark,
 * descendants of both, and the shim. Returns whether the last search found no process; adds the
 * number of killed ones to *killed. A process that left the session and cleared its environment is
 * found only below one that did not: only a living shim guarantees that no process remains. */
bool process_tree_kill_orphans(const struct orphaned_shim *l, unsigned *killed);

#endif
