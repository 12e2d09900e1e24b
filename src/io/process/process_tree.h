/* SPDX-License-Identifier: MIT
 * Process tree from /proc: finds and kills the descendants of a process, and those of a shim that
 * was killed (by session and environment marker). Any thread. */
#ifndef IO_PROCESS_PROCESS_TREE_H
#define IO_PROCESS_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Names this boot of the machine, "" when that is not known: a pid means nothing in another. */
void process_tree_boot_id(char out[64]);
/* When the process began, in clock ticks since boot; 0: it is gone. */
uint64_t process_tree_start_time(pid_t pid);
/* Bytes of memory in RAM (RSS) of the process alone; -1: it is gone, or /proc cannot be read. */
int64_t process_tree_read_rss(pid_t pid);
/* The sum for the process and all its descendants. Pages that several of them share count for each.
 */
uint64_t process_tree_resident(pid_t pid);
/* SIGKILL to everything below the process that can be found now, itself not included. Whoever forks
 * meanwhile is found the next time. */
void process_tree_kill_descendants(pid_t pid);

/* A shim that nobody watches, or that is gone without having said that nobody is left. */
struct orphaned_shim {
    pid_t pid;      /* of the shim */
    uint64_t began; /* by which it is told from another process of that pid */
    /* "NAME=value" in the environment of all that was below it; or NULL. */
    const char *mark;
};

/* The shim still runs. */
bool process_tree_is_shim_alive(const struct orphaned_shim *l);
/* For about 100 ms kills what is in the session that it led, what has the mark, what is below
 * those, and itself. Returns whether at last nobody was found; adds to *killed how many were. A
 * process that left the session and cleared its environment is found as long as it is below one
 * that did not: that nobody else remains is certain only while the shim lives. */
bool process_tree_kill_orphans(const struct orphaned_shim *l, unsigned *killed);

#endif
