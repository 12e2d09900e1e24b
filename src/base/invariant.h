/* SPDX-License-Identifier: MIT
 * Assertions that stay enabled in release builds. NDEBUG does not disable them, unlike <assert.h>.
 *
 * ASSERT checks guarantees of the program itself: states, ownership, counts, lists, threads. A
 * condition that depends on input (an agent's output, arguments of a plugin, frames of a connector
 * process, files, the network) is an error that is returned, never an assertion; validated data may
 * be asserted. A failed assertion writes one line to standard error and aborts the process. Any
 * thread; also from a signal handler and between fork and exec. */
#ifndef BASE_INVARIANT_H
#define BASE_INVARIANT_H

/* Start of the line that a failed assertion prints. */
#define ASSERT_PREFIX "turncast: invariant violated"

/* Writes "turncast: invariant violated at FILE:LINE: CONDITION (process PID)" with one write and
 * without memory allocation, locks or stdio, then aborts. */
void assert_fail(const char *condition, const char *file, int line)
    __attribute__((__noreturn__, __cold__));

/* Evaluates its argument once, in every build. */
#define ASSERT(condition)                                                                          \
    (__builtin_expect(!(condition), 0) ? assert_fail(#condition, __FILE__, __LINE__) : (void)0)

#endif
