/* SPDX-License-Identifier: MIT
 * The time between two batches of a turn. The rest of bus_turn.h is tested with real servers, in
 * tests/api/t_bus.py. */
#include "core/bus/bus_turn.h"

#include "tap/tap.h"

/* Of a turn whose events come without a pause: ms until that many batches were sent. */
static int64_t compute_time_ms(uint64_t batches)
{
    int64_t ms = 0;
    for (uint64_t i = 1; i <= batches; i++)
        ms += bus_turn_compute_gap_ms(i);
    return ms;
}

int main(void)
{
    plan(5);
    ok(bus_turn_compute_gap_ms(1) == 1, "a batch of a short turn waits 1 ms at most");
    ok(bus_turn_compute_gap_ms(9499) == 19, "the gap grows");
    ok(bus_turn_compute_gap_ms(9500) == 20, "to 20 ms");
    ok(bus_turn_compute_gap_ms(UINT64_MAX / 2) == 20, "and no further");
    ok(compute_time_ms(20000) > INT64_C(5) * 60 * 1000,
       "the servers keep all batches of five minutes without a pause");
    return 0;
}
