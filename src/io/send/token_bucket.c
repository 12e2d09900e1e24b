/* SPDX-License-Identifier: MIT
 * Owns the arithmetic of pacing. */
#include "io/send/token_bucket.h"

#define US 1000

void bucket_init(struct bucket *b, const struct bucket_rate *rate)
{
    const int64_t count = rate->count;
    const int64_t burst = rate->burst ? rate->burst : 1;
    const int64_t step = count ? (rate->interval_ms * US + count - 1) / count : 0;
    *b = (struct bucket){.step_us = step,
                         .slack_us = (burst - 1) * step,
                         .full_us = INT64_MIN,
                         .held_us = INT64_MIN};
}

int64_t bucket_wait_ms(const struct bucket *b, int64_t now_ms)
{
    if (bucket_is_full(b, now_ms))
        return 0;
    const int64_t wait_us = b->full_us - b->slack_us - now_ms * US;
    return wait_us > 0 ? (wait_us + US - 1) / US : 0;
}

void bucket_take(struct bucket *b, int64_t now_ms)
{
    const int64_t from = bucket_is_full(b, now_ms) ? now_ms * US : b->full_us;
    b->full_us = from + b->step_us;
}

void bucket_return(struct bucket *b)
{
    const int64_t full_us = b->full_us - b->step_us;
    b->full_us = full_us > b->held_us ? full_us : b->held_us;
}

void bucket_delay(struct bucket *b, int64_t ms)
{
    if (b->step_us)
        b->full_us += ms * US;
}

void bucket_hold(struct bucket *b, int64_t until_ms)
{
    const int64_t full = until_ms * US + b->slack_us;
    if (full > b->full_us)
        b->full_us = b->held_us = full;
}

bool bucket_is_full(const struct bucket *b, int64_t now_ms)
{
    return b->full_us <= now_ms * US;
}
