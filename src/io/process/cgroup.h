/* SPDX-License-Identifier: MIT
 * A cgroup (v2) for each turn, if the service manager has delegated one to this process; otherwise
 * the shims work without. All processes in it can be killed at once, and their number is limited.
 * Any thread, except cgroup_enter_leaf. */
#ifndef IO_PROCESS_CGROUP_H
#define IO_PROCESS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

/* Called once by a long-running host, before it has children: moves this process into a leaf of its
 * cgroup, because controllers apply only to groups beside it. false: no cgroup is delegated. */
bool cgroup_enter_leaf(void);
/* Creates a cgroup beside that leaf; max_processes 0: unlimited. Owned path; NULL: this process is
 * in no leaf, or creation failed. */
char *cgroup_create(const char *name, int64_t max_processes);
/* Moves this process into it. */
void cgroup_attach_self(const char *path);
/* Sends SIGKILL to all processes in it. */
void cgroup_kill(const char *path);
/* Whether it has no process, nor a group below it that has one. */
bool cgroup_is_empty(const char *path);
/* Removes it; fails if it is not empty. */
void cgroup_remove(const char *path);

#endif
