/* SPDX-License-Identifier: MIT
 * Captures standard output of this process in memory: output of a connector is compared with the
 * script, and does not mix with test results. One per process. */
#ifndef CLI_TESTING_FAKE_OUTPUT_CAPTURE_H
#define CLI_TESTING_FAKE_OUTPUT_CAPTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/sys/err.h"

struct output_capture {
    int fd;
    struct buf text; /* captured bytes, NUL-terminated */
    size_t taken;    /* length */
};

/* Starts capturing. *before (closed by the caller) writes to the original output. */
int output_capture_begin(struct output_capture *c, FILE **before, struct tc_err *err) MUST_CHECK;
void output_capture_fini(struct output_capture *c);
/* Whether `text` occurs in the unread output; consumes the output up to its end. */
bool output_capture_take(struct output_capture *c, const char *text);
/* Unread output; valid until the next call. */
const char *output_capture_peek(struct output_capture *c);
/* Discards unread output. */
void output_capture_clear(struct output_capture *c);

#endif
