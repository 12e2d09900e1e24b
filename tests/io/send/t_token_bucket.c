/* SPDX-License-Identifier: MIT
 * The pace is kept, whatever the times at which one asks. */
#include "io/send/token_bucket.h"

#include <stdlib.h>

#include "tap/tap.h"

static void test_spacing(void)
{
    struct token_bucket b;
    token_bucket_init(&b, &(struct rate_limit){.count = 1, .interval_ms = 1100});
    is_int(token_bucket_wait_ms(&b, 5000), 0, "a new bucket is full");
    token_bucket_take(&b, 5000);
    is_int(token_bucket_wait_ms(&b, 5000), 1100, "an empty bucket has one interval to wait");
    is_int(token_bucket_wait_ms(&b, 6099), 1, "the wait is exact to the millisecond");
    is_int(token_bucket_wait_ms(&b, 6100), 0, "after the interval there is no wait");
    ok(!token_bucket_is_full(&b, 6099) && token_bucket_is_full(&b, 6100),
       "the bucket is full after the interval");
}

static void test_burst(void)
{
    struct token_bucket b;
    token_bucket_init(&b, &(struct rate_limit){.count = 30, .interval_ms = 1000, .burst = 3});
    for (int i = 0; i < 3; i++) {
        is_int(token_bucket_wait_ms(&b, 0), 0, "burst %d", i);
        token_bucket_take(&b, 0);
    }
    is_int(token_bucket_wait_ms(&b, 0), 34,
           "after the burst the wait is a thirtieth of a second, rounded up");
}

static void test_hold(void)
{
    struct token_bucket b;
    token_bucket_init(&b, &(struct rate_limit){.count = 10, .interval_ms = 1000, .burst = 5});
    token_bucket_block_until(&b, 7000);
    is_int(token_bucket_wait_ms(&b, 0), 7000, "held");
    token_bucket_block_until(&b, 3000);
    is_int(token_bucket_wait_ms(&b, 0), 7000, "a shorter pause is ignored");
    is_int(token_bucket_wait_ms(&b, 7000), 0, "over");
    token_bucket_take(&b, 7000);
    is_int(token_bucket_wait_ms(&b, 7000), 100, "after a pause there is no burst");
    token_bucket_init(&b, &(struct rate_limit){0});
    token_bucket_take(&b, 10);
    is_int(token_bucket_wait_ms(&b, 10), 0, "a bucket without a rate has no wait");
    token_bucket_block_until(&b, 20);
    is_int(token_bucket_wait_ms(&b, 15), 5, "a bucket without a rate can be paused");
}

/* Starts k apart are at least (k + 1 - burst) tokens apart. */
static bool is_paced(const struct rate_limit *rate, int trials)
{
    enum { SEEN = 64 };
    int64_t at[SEEN];
    struct token_bucket b;
    int64_t now = 1000;
    token_bucket_init(&b, rate);
    for (int n = 0; n < trials; n++) {
        now += rand() % 3 ? token_bucket_wait_ms(&b, now)
                          : token_bucket_wait_ms(&b, now) + rand() % 500;
        token_bucket_take(&b, now);
        at[n % SEEN] = now;
        for (int k = 1; k < SEEN && k <= n; k++) {
            const int64_t least = (k + 1 - (int64_t)rate->burst) * rate->interval_ms / rate->count;
            if (now - at[(n - k) % SEEN] < least)
                return false;
        }
    }
    return true;
}

static void test_return(void)
{
    struct token_bucket b;
    token_bucket_init(&b, &(struct rate_limit){.count = 1, .interval_ms = 1000});
    token_bucket_take(&b, 0);
    token_bucket_refund(&b);
    is_int(token_bucket_wait_ms(&b, 0), 0, "a returned token can be used again");
    token_bucket_take(&b, 0);
    token_bucket_block_until(&b, 5000);
    token_bucket_refund(&b);
    is_int(token_bucket_wait_ms(&b, 0), 5000, "a pause stays after a returned token");
}

static void test_any_pace(void)
{
    bool good = true;
    srand(11);
    for (int i = 0; i < 200 && good; i++) {
        const struct rate_limit rate = {.count = 1 + (uint32_t)rand() % 40,
                                        .interval_ms = 1 + rand() % 60000,
                                        .burst = 1 + (uint32_t)rand() % 10};
        good = is_paced(&rate, 300);
        if (!good)
            diag("%u per %lld ms, burst %u", rate.count, (long long)rate.interval_ms, rate.burst);
    }
    ok(good, "200 random rates with 300 requests each are not exceeded");
}

int main(void)
{
    plan_lazy();
    test_spacing();
    test_burst();
    test_hold();
    test_return();
    test_any_pace();
    return 0;
}
