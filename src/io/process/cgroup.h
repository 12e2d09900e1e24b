/* SPDX-License-Identifier: MIT
 * A cgroup (v2) for each turn, where the service manager has delegated one to this process; where
 * not, there is none, and the shims do without. What is in it is killed at once, and cannot
 * fork beyond its share. Any thread, but for cgroup_enter_leaf. */
#ifndef IO_PROCESS_CGROUP_H
#define IO_PROCESS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

/* Once, by a host that stays, before it has children: moves this process into a leaf of the cgroup
 * it is in, because controllers are for what lies beside it. false: none is delegated to it. */
bool cgroup_enter_leaf(void);
/* Makes one beside that leaf; max_processes 0: any number. Owned path; NULL: this process has not
 * settled, or it cannot be made. */
char *cgroup_create(const char *name, int64_t max_processes);
/* This process goes into it. */
void cgroup_attach_self(const char *path);
/* SIGKILL to all that is in it. */
void cgroup_kill(const char *path);
/* Nobody is in it, nor in one below it. */
bool cgroup_is_empty(const char *path);
/* Only an empty one goes. */
void cgroup_remove(const char *path);

#endif
