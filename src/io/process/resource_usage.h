/* SPDX-License-Identifier: MIT
 * Resource usage of a process, and disk usage of a directory. */
#ifndef IO_PROCESS_RESOURCE_USAGE_H
#define IO_PROCESS_RESOURCE_USAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "io/loop/loop.h"

struct usage_process {
    int64_t cpu_ms; /* user and system time of all threads */
    int64_t threads;
};
/* From /proc. -1: no such process. */
int resource_usage_of_process(pid_t pid, struct usage_process *to) MUST_CHECK;

/* Measures a directory with a separate thread. All functions are for the loop's thread. */
struct usage_folder;
struct usage_folder *resource_usage_folder_new(struct loop *loop, const char *path);
/* Aborts a pending measurement and waits for it. NULL is allowed. */
void resource_usage_folder_free(struct usage_folder *f);
const char *resource_usage_folder_path(const struct usage_folder *f);
/* Starts a measurement unless one is pending; stops counting a little above `enough`. */
void resource_usage_folder_measure(struct usage_folder *f, int64_t enough);
/* True: *bytes is from a measurement that has ended since the last call. Counts the blocks of all
 * files below the directory, and at least one page for each name, so that empty files count. */
bool resource_usage_folder_get_new(struct usage_folder *f, int64_t *bytes);

#endif
