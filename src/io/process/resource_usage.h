/* SPDX-License-Identifier: MIT
 * What a process and a folder take of the machine. */
#ifndef IO_PROCESS_RESOURCE_USAGE_H
#define IO_PROCESS_RESOURCE_USAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "io/loop/loop.h"

struct usage_process {
    int64_t cpu_ms; /* user and system, all its threads */
    int64_t threads;
};
/* From /proc. -1: there is no such process. */
int resource_usage_of_process(pid_t pid, struct usage_process *to) MUST_CHECK;

/* Measures a folder by a thread of its own. Everything is for the loop's thread. */
struct usage_folder;
struct usage_folder *resource_usage_folder_new(struct loop *loop, const char *path);
/* Waits for a measurement that is under way, which is cut short. NULL is fine. */
void resource_usage_folder_free(struct usage_folder *f);
const char *resource_usage_folder_path(const struct usage_folder *f);
/* Begins to measure, unless it does already; counts no further than a little above `enough`. */
void resource_usage_folder_measure(struct usage_folder *f, int64_t enough);
/* True: *bytes is from a measurement that has ended since the last call. It counts the blocks of
 * everything below the folder, and at least one page for each name, so that empty files count. */
bool resource_usage_folder_take(struct usage_folder *f, int64_t *bytes);

#endif
