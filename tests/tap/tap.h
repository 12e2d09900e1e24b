/* SPDX-License-Identifier: MIT
 * TAP for the project's C tests: one program per source file, a plan, numbered results. */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdbool.h>
#include <stddef.h>

#define TAP_PRINTF(fmt, args) __attribute__((__format__(__printf__, fmt, args)))

/* Call one of them first. The lazy plan is printed at exit; the exit status says whether all
 * passed and the plan was kept. */
void plan(unsigned count);
void plan_lazy(void);

/* Each prints one result and returns whether it passed; a failure says what was seen. */
bool ok(bool success, const char *fmt, ...) TAP_PRINTF(2, 3);
bool is_int(long long got, long long wanted, const char *fmt, ...) TAP_PRINTF(3, 4);
bool is_real(double got, double wanted, const char *fmt, ...) TAP_PRINTF(3, 4);
bool is_str(const char *got, const char *wanted, const char *fmt, ...) TAP_PRINTF(3, 4);
bool is_mem(const void *got, size_t got_len, const void *wanted, size_t wanted_len, const char *fmt,
            ...) TAP_PRINTF(5, 6);
/* `needle` occurs in `got`. */
bool has_str(const char *got, const char *needle, const char *fmt, ...) TAP_PRINTF(3, 4);

/* Records `count` results as skipped, with the reason. */
void skip(unsigned count, const char *why, ...) TAP_PRINTF(2, 3);
/* The environment is broken, not the code: ends the program. */
void bail(const char *fmt, ...) TAP_PRINTF(1, 2) __attribute__((__noreturn__));
/* A comment line. */
void diag(const char *fmt, ...) TAP_PRINTF(1, 2);

/* A directory of this test, removed at exit. Absolute path, static. */
const char *tap_tmpdir(void);
/* The whole file, NUL-terminated, for free(); bails when it cannot be read. */
char *tap_slurp(const char *path, size_t *len);
/* Writes a file; bails when it cannot. */
void tap_spew(const char *path, const void *p, size_t len);
/* Path of a file below tests/ in the source tree (VPATH safe), static until the next call. */
const char *tap_source(const char *relative);
/* Polls cond(arg) until true or until the deadline passed; returns its last value. */
bool tap_wait(bool (*cond)(void *), void *arg, unsigned deadline_ms);

#endif
