/* SPDX-License-Identifier: MIT
 * Token bucket: decides when the next request may be sent. Pure; the caller passes the time.
 *
 * The state is the time at which the bucket will be full, in microseconds. So no refill step is
 * needed, and rounding errors do not accumulate. */
#ifndef IO_SEND_TOKEN_BUCKET_H
#define IO_SEND_TOKEN_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

/* `count` requests per interval, at most `burst` (0 means 1) of them at once; count 0: no limit. */
struct rate_limit {
    uint32_t count, burst;
    int64_t interval_ms;
};

struct token_bucket {
    int64_t step_us;  /* time for one token */
    int64_t slack_us; /* time of the tokens of a full bucket, except the first */
    int64_t full_us;
    int64_t held_us; /* end of the last hold; the bucket is not full before */
};

/* Initialises a full bucket. */
void token_bucket_init(struct token_bucket *b, const struct rate_limit *rate);
/* Milliseconds until the next token; 0: one is available now. */
int64_t token_bucket_wait_ms(const struct token_bucket *b, int64_t now_ms);
/* Takes a token. */
void token_bucket_take(struct token_bucket *b, int64_t now_ms);
/* Returns the last token, because its request was not sent. */
void token_bucket_refund(struct token_bucket *b);
/* The request of the last token was sent `ms` later than the token was taken. */
void token_bucket_postpone(struct token_bucket *b, int64_t ms);
/* No token before until_ms, then one, not a burst. A shorter hold has no effect. */
void token_bucket_block_until(struct token_bucket *b, int64_t until_ms);
/* Whether the bucket is in the state of a new one. */
bool token_bucket_is_full(const struct token_bucket *b, int64_t now_ms);

#endif
