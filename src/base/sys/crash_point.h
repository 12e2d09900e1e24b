/* SPDX-License-Identifier: MIT
 * Named places at which a test can kill the host: in the middle of operations on which guarantees
 * depend. Only with --enable-crash-points. */
#ifndef BASE_SYS_CRASH_POINT_H
#define BASE_SYS_CRASH_POINT_H

#include <stdbool.h>

/* All names, in the order of a turn; ends with NULL. Empty without --enable-crash-points. */
extern const char *const crash_point_names[];

#ifdef WITH_CRASH_POINTS
/* Ends the process by SIGKILL if $TURNCAST_CRASH_POINT is "NAME", or "NAME:N" at the N-th call. Any
 * thread. */
void crash_point_hit(const char *name);
/* Whether $TURNCAST_CRASH_TEAR is this name: the surrounding transaction is committed in its middle
 * then. */
bool crash_point_is_torn(const char *name);
#define CRASH_POINT(name) crash_point_hit(name)
#define CRASH_POINT_TEARS(name) crash_point_is_torn(name)
#else
#define CRASH_POINT(name) ((void)(name))
#define CRASH_POINT_TEARS(name) ((void)(name), false)
#endif

#endif
