/* SPDX-License-Identifier: MIT
 * A crowd is told from one that is fast, and from one that is over. */
#include "io/loop/wakeup_coalescer.h"

#include "tap/tap.h"

#define MS 1000
#define AGENTS 64

/* So many of them are ready once in each of these milliseconds, the last `times` times. */
static bool run(struct wakeup_coalescer *l, uint32_t seen[AGENTS], int64_t from_ms, int64_t ms,
                int agents, int times)
{
    bool worth = false;
    for (int64_t at = from_ms; at < from_ms + ms; at++) {
        for (int i = 0; i < agents; i++)
            wakeup_coalescer_count_ready(l, &seen[i]);
        for (int i = 1; i < times; i++)
            wakeup_coalescer_count_ready(l, &seen[0]);
        worth = wakeup_coalescer_should_wait(l, (at + 1) * MS);
    }
    return worth;
}

int main(void)
{
    plan_lazy();
    struct wakeup_coalescer l = {0};
    uint32_t seen[AGENTS] = {0};
    ok(!wakeup_coalescer_should_wait(&l, 1000 * MS), "an idle loop does not wait");
    ok(!run(&l, seen, 1000, 10, 1, 1), "a loop with one agent does not wait");
    ok(!run(&l, seen, 1010, 10, 1, 1000), "a loop with one fast agent does not wait");
    ok(!run(&l, seen, 1020, 10, 3, 1), "a loop with three agents does not wait");
    ok(run(&l, seen, 1030, 1, 4, 1), "a loop with four agents waits");
    ok(wakeup_coalescer_should_wait(&l, 1031 * MS + 999),
       "the loop waits within a millisecond of its last round");
    ok(!wakeup_coalescer_should_wait(&l, 1032 * MS),
       "the loop does not wait after a millisecond without agents");
    ok(run(&l, seen, 1032, 5, AGENTS, 1), "a loop with many agents waits");
    for (int i = 0; i < AGENTS; i++)
        wakeup_coalescer_count_ready(&l, &seen[i]);
    ok(!wakeup_coalescer_should_wait(&l, 1137 * MS),
       "a loop with many agents in rare rounds does not wait");
    for (int i = 0; i < AGENTS; i++)
        wakeup_coalescer_count_ready(&l, &seen[i]);
    ok(wakeup_coalescer_should_wait(&l, 1150 * MS),
       "a long round is judged by its number of agents");
    return 0;
}
