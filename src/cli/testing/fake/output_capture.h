/* SPDX-License-Identifier: MIT
 * Standard output of this process, caught in memory: what a connector prints is looked at, and does
 * not get among the results. One per process. */
#ifndef CLI_TESTING_FAKE_OUTPUT_CAPTURE_H
#define CLI_TESTING_FAKE_OUTPUT_CAPTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/sys/err.h"

struct output_capture {
    int fd;
    struct buf text; /* caught, NUL-terminated */
    size_t taken;    /* of it */
};

/* From now on. *before (the caller's to close) writes to where it went until now. */
int output_capture_begin(struct output_capture *c, FILE **before, struct tc_err *err) MUST_CHECK;
void output_capture_fini(struct output_capture *c);
/* Whether `text` is in what was printed and not taken yet; all up to its end is taken then. */
bool output_capture_take(struct output_capture *c, const char *text);
/* What was printed and not taken; valid until the next call. */
const char *output_capture_peek(struct output_capture *c);
/* Forgets what was printed. */
void output_capture_clear(struct output_capture *c);

#endif
