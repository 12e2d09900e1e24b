/* SPDX-License-Identifier: MIT
 * The two clocks, and their replacements in tests. */
#include "base/sys/clock.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static atomic_bool faked;
static _Atomic int64_t fake_mono;
static _Atomic int64_t fake_wall_us;

int64_t clock_mono_us(void)
{
    if (atomic_load(&faked))
        return atomic_load(&fake_mono) * 1000;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_mono_coarse_ms(void)
{
    if (atomic_load(&faked))
        return atomic_load(&fake_mono);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_mono_ms(void)
{
    return clock_mono_us() / 1000;
}

int64_t clock_boot_ms(void)
{
    if (atomic_load(&faked))
        return atomic_load(&fake_mono);
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

double clock_wall_s(void)
{
    if (atomic_load(&faked))
        return (double)atomic_load(&fake_wall_us) / 1e6;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void clock_format_rfc3339(double wall, char out[32])
{
    const double first = -30610224000.0; /* 1000-01-01T00:00:00Z: the year has four digits */
    const double last = 253402300799.999;
    if (!(wall >= first))
        wall = first;
    if (wall > last)
        wall = last;
    /* Adds half a microsecond, so that 1.123 does not become .122 because a double cannot represent
     * it. */
    const int64_t ms = (int64_t)floor(wall * 1000 + 0.0005);
    const int64_t part = (ms % 1000 + 1000) % 1000;
    const time_t whole = (time_t)((ms - part) / 1000);
    struct tm tm;
    gmtime_r(&whole, &tm);
    char date[24];
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out, 32, "%s.%03dZ", date, (int)part);
}

void clock_fake(int64_t mono_ms, double wall)
{
    atomic_store(&fake_mono, mono_ms);
    atomic_store(&fake_wall_us, (int64_t)llround(wall * 1e6));
    atomic_store(&faked, true);
}

void clock_fake_advance(int64_t ms)
{
    atomic_fetch_add(&fake_mono, ms);
    atomic_fetch_add(&fake_wall_us, ms * 1000);
}

void clock_fake_end(void)
{
    atomic_store(&faked, false);
}

bool clock_is_fake(void)
{
    return atomic_load(&faked);
}
