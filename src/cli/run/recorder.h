/* SPDX-License-Identifier: MIT
 * Records the output of an agent for `turncast replay`: FILE with its lines, secrets masked, and
 * FILE's .meta.json with the time of each line. Lines above the agent's limit are skipped. */
#ifndef CLI_RUN_RECORDER_H
#define CLI_RUN_RECORDER_H

#include <stdio.h>

#include "base/attr.h"
#include "base/sys/err.h"
#include "io/loop/line_splitter.h"

struct recorder {
    const char *path; /* borrowed; NULL: no recording */
    const char *agent, *dialect;
    FILE *out;
    struct line_splitter lines;
    struct buf times; /* "0,12,…": milliseconds since the first line */
    int64_t began_ms; /* monotonic */
    bool begun;
    bool failed; /* a write failed, which was logged */
};

/* Creates or truncates the file. path NULL: no recording. Borrows the texts. */
int recorder_open(struct recorder *r, const char *path, const char *agent, const char *dialect,
                  size_t max_line, struct tc_err *err) MUST_CHECK;
/* Adds bytes of the agent's standard output. */
void recorder_feed(struct recorder *r, const char *p, size_t n);
/* Writes the times. Errors are logged. */
void recorder_close(struct recorder *r);

#endif
