/* SPDX-License-Identifier: MIT
 * Arithmetic of the token bucket. */
#include "io/send/token_bucket.h"

#define US 1000

void token_bucket_init(struct token_bucket *b, const struct rate_limit *rate)
{
    const int64_t count = rate->count;
    const int64_t burst = rate->burst ? rate->burst : 1;
    const int64_t step = count ? (rate->interval_ms * US + count - 1) / count : 0;
    *b = (struct token_bucket){.step_us = step,
                               .slack_us = (burst - 1) * step,
                               .full_us = INT64_MIN,
                               .held_us = INT64_MIN};
}

int64_t token_bucket_wait_ms(const struct token_bucket *b, int64_t now_ms)
{
    if (token_bucket_is_full(b, now_ms))
        return 0;
    const int64_t wait_us = b->full_us - b->slack_us - now_ms * US;
    return wait_us > 0 ? (wait_us + US - 1) / US : 0;
}

void token_bucket_take(struct token_bucket *b, int64_t now_ms)
{
    const int64_t from = token_bucket_is_full(b, now_ms) ? now_ms * US : b->full_us;
    b->full_us = from + b->step_us;
}

void token_bucket_refund(struct token_bucket *b)
{
    const int64_t full_us = b->full_us - b->step_us;
    b->full_us = full_us > b->held_us ? full_us : b->held_us;
}

void token_bucket_postpone(struct token_bucket *b, int64_t ms)
{
    if (b->step_us)
        b->full_us += ms * US;
}

void token_bucket_block_until(struct token_bucket *b, int64_t until_ms)
{
    const int64_t full = until_ms * US + b->slack_us;
    if (full > b->full_us)
        b->full_us = b->held_us = full;
}

bool token_bucket_is_full(const struct token_bucket *b, int64_t now_ms)
{
    return b->full_us <= now_ms * US;
}
