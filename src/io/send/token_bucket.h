/* SPDX-License-Identifier: MIT
 * One token bucket: when may the next request go? Pure; times are the caller's.
 *
 * Kept as the moment at which the bucket is full again, in microseconds, so nothing is rounded
 * away and nothing has to be refilled. */
#ifndef IO_SEND_TOKEN_BUCKET_H
#define IO_SEND_TOKEN_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

/* `count` requests per interval, at most `burst` (0 is 1) of them at once; count 0: no limit. */
struct rate_limit {
    uint32_t count, burst;
    int64_t interval_ms;
};

struct token_bucket {
    int64_t step_us;  /* one token */
    int64_t slack_us; /* what a full bucket lets go at once, but the first */
    int64_t full_us;
    int64_t held_us; /* not full before, by the last hold */
};

/* Full. */
void token_bucket_init(struct token_bucket *b, const struct rate_limit *rate);
/* 0: one may go now. */
int64_t token_bucket_wait_ms(const struct token_bucket *b, int64_t now_ms);
/* One goes now. */
void token_bucket_take(struct token_bucket *b, int64_t now_ms);
/* What was taken last did not go. */
void token_bucket_refund(struct token_bucket *b);
/* What was taken last left so much later than it was taken. */
void token_bucket_postpone(struct token_bucket *b, int64_t ms);
/* None goes before until_ms, and then one, not a burst. A shorter hold changes nothing. */
void token_bucket_block_until(struct token_bucket *b, int64_t until_ms);
/* As good as a new one. */
bool token_bucket_is_full(const struct token_bucket *b, int64_t now_ms);

#endif
