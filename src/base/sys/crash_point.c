/* SPDX-License-Identifier: MIT
 * List of crash points, and the counter of the selected one. */
#include "base/sys/crash_point.h"

#include <stddef.h>

#ifdef WITH_CRASH_POINTS

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const crash_point_names[] = {
    "mid-migration",
    "after-admit",
    "after-ack",
    "after-begin",
    "after-spawn",
    "in-outcome",
    "after-outcome-commit",
    "in-settle",
    "after-expand",
    "before-send",
    "after-send-before-record",
    "after-record",
    "after-deadletter",
    "mid-checkpoint",
    "after-checkpoint",
    NULL,
};

static bool crash_point_is_wanted(const char *name, long *nth)
{
    const char *const wanted = getenv("TURNCAST_CRASH_POINT");
    const size_t len = strlen(name);
    *nth = 1;
    if (!wanted || strncmp(wanted, name, len) != 0)
        return false;
    if (wanted[len] == ':')
        *nth = strtol(wanted + len + 1, NULL, 10);
    return wanted[len] == ':' || !wanted[len];
}

void crash_point_hit(const char *name)
{
    static atomic_long times;
    long nth;
    if (!crash_point_is_wanted(name, &nth) || atomic_fetch_add(&times, 1) + 1 != nth)
        return;
    fprintf(stderr, "turncast: crash point %s\n", name);
    raise(SIGKILL);
}

bool crash_point_is_torn(const char *name)
{
    const char *const torn = getenv("TURNCAST_CRASH_TEAR");
    return torn && strcmp(torn, name) == 0;
}

#else

const char *const crash_point_names[] = {NULL};

#endif
