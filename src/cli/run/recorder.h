/* SPDX-License-Identifier: MIT
 * Records what an agent prints, for `turncast replay`: FILE with its lines, secrets masked, and
 * FILE's .meta.json with the time of each line. A line over the limit of the agent is left out. */
#ifndef CLI_RUN_RECORDER_H
#define CLI_RUN_RECORDER_H

#include <stdio.h>

#include "base/attr.h"
#include "base/sys/err.h"
#include "io/loop/line_splitter.h"

struct recorder {
    const char *path; /* borrowed; NULL: nothing is recorded */
    const char *agent, *dialect;
    FILE *out;
    struct line_splitter lines;
    struct buf times; /* "0,12,…": milliseconds since the first line */
    int64_t began_ms; /* monotonic */
    bool begun;
    bool failed; /* which was logged */
};

/* Creates the file, or empties it. path NULL: nothing is recorded. Borrows the texts. */
int recorder_open(struct recorder *r, const char *path, const char *agent, const char *dialect,
                  size_t max_line, struct tc_err *err) MUST_CHECK;
/* Bytes of the agent's standard output. */
void recorder_feed(struct recorder *r, const char *p, size_t n);
/* Writes the times. What could not be written is logged. */
void recorder_close(struct recorder *r);

#endif
