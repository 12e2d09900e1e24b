/* SPDX-License-Identifier: MIT
 * Named places where a host dies when a test wants it to: at each, what a promise rests on is half
 * done. They are there only when configured with --enable-crash-points. */
#ifndef BASE_SYS_CRASH_POINT_H
#define BASE_SYS_CRASH_POINT_H

#include <stdbool.h>

/* All names, in the order of a turn; ends with NULL. Empty without --enable-crash-points. */
extern const char *const crash_point_names[];

#ifdef WITH_CRASH_POINTS
/* $TURNCAST_CRASH_POINT is "NAME", or "NAME:N" for the N-th time: the process ends here by SIGKILL.
 * Any thread. */
void crash_point_hit(const char *name);
/* $TURNCAST_CRASH_TEAR is this name: the transaction around it is to be torn in two. */
bool crash_point_is_torn(const char *name);
#define CRASH_POINT(name) crash_point_hit(name)
#define CRASH_POINT_TEARS(name) crash_point_is_torn(name)
#else
#define CRASH_POINT(name) ((void)(name))
#define CRASH_POINT_TEARS(name) ((void)(name), false)
#endif

#endif
