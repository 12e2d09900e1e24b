/* SPDX-License-Identifier: MIT
 * Fetches the files of a turn from its gateway into a directory of this host, part by part, before
 * the agent starts; the prompt then names these files. If a file cannot be fetched (the gateway
 * does not answer, or does not have it any more), the prompt says that its download has failed.
 * Loop thread only. */
#ifndef CORE_RUNNER_RUNNER_FILES_H
#define CORE_RUNNER_RUNNER_FILES_H

#include "core/bus/bus.h"

/* Time for all files of a turn, like that of a connector for the files of a message. */
#define RUNNER_FILES_MS 60000
/* Longest time within it in which the gateway does not answer, or does not know the turn. */
#define RUNNER_FILES_AWAY_MS 15000

struct runner_files;

/* Borrowed for the call, except the bus and the loop. */
struct runner_files_spec {
    struct bus *bus;
    struct loop *loop;
    const char *gateway, *turn;
    const char *paths; /* on the gateway, a line each (work_files.h) */
    const char *dir;   /* for the files; is created, and old files there are deleted */
    struct str prompt;
};

/* `done` is called once, from the loop, with the prompt, which is borrowed until
 * runner_files_free. */
struct runner_files *runner_files_fetch(const struct runner_files_spec *spec,
                                        void (*done)(void *ctx, struct str prompt), void *ctx);
void runner_files_free(struct runner_files *f); /* NULL is allowed */

#endif
