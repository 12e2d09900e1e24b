/* SPDX-License-Identifier: MIT
 * The time of a turn, and when its timer is next needed. */
#include <time.h>

#include "pulse.h"

int64_t pulse_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void pulse_wake_at(struct tc_turn *turn, int64_t at)
{
    struct cast *cast = cast_of(turn);
    if (cast->wake_ms && cast->wake_ms <= at)
        return;
    const int64_t now = pulse_now();
    cast->wake_ms = at;
    tc_wake(turn, at > now ? at - now : 0);
}

void pulse_begin(struct tc_turn *turn)
{
    struct cast *cast = cast_of(turn);
    cast->begin_ms = cast->event_ms = pulse_now();
    cast->beat_ms = cast->begin_ms + PULSE_BEAT_MS;
    pulse_wake_at(turn, cast->beat_ms);
}

bool pulse_woke(struct tc_turn *turn)
{
    struct cast *cast = cast_of(turn);
    cast->wake_ms = 0;
    if (pulse_now() < cast->beat_ms) {
        pulse_wake_at(turn, cast->beat_ms);
        return false;
    }
    cast->beat_ms = pulse_now() + PULSE_BEAT_MS;
    pulse_wake_at(turn, cast->beat_ms);
    return true;
}

void pulse_end(struct tc_turn *turn)
{
    cast_of(turn)->wake_ms = 0;
    tc_wake(turn, -1);
}
