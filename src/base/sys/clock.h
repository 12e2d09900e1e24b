/* SPDX-License-Identifier: MIT
 * Time: monotonic for timers, wall clock for records. Tests can set both. */
#ifndef BASE_SYS_CLOCK_H
#define BASE_SYS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Milliseconds since an arbitrary point; never decreases. Any thread. */
int64_t clock_mono_ms(void);
/* The same, including the time in which the machine is suspended: for times that other machines
 * measure, too. */
int64_t clock_boot_ms(void);
/* clock_mono_ms in microseconds. */
int64_t clock_mono_us(void);
/* Milliseconds on the same scale, but up to a kernel tick (a few milliseconds) late: for very
 * frequent calls. */
int64_t clock_mono_coarse_ms(void);
/* Unix seconds. Any thread. */
double clock_wall_s(void);
/* RFC 3339, UTC, milliseconds, e.g. 2026-11-21T07:30:00.123Z (25 bytes with the NUL). */
void clock_format_rfc3339(double wall, char out[32]);

/* Tests only: freezes both clocks at these values until clock_fake_end. */
void clock_fake(int64_t mono_ms, double wall);
void clock_fake_advance(int64_t ms);
void clock_fake_end(void);
bool clock_is_fake(void);

#endif
