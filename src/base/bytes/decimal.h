/* SPDX-License-Identifier: MIT
 * A double as the fewest decimal digits that read back as the same double, and the two ways to
 * write them. What a number looks like is the business of who writes it. Pure. */
#ifndef BASE_BYTES_DECIMAL_H
#define BASE_BYTES_DECIMAL_H

#include "base/bytes/buf.h"

/* 0.DIGITS times ten to the power of `point`; no trailing zeros. */
struct decimal {
    char digits[20];
    int count, point;
};

/* v is positive and finite. */
struct decimal decimal_shortest(double v);
/* Without an exponent: 0.001, 120, 1.5. */
void decimal_add_fixed(struct buf *b, const struct decimal *d);
/* As d.ddde<exponent>: `plus` stands before one that is not negative, which has at least `width`
 * digits. */
void decimal_add_exponential(struct buf *b, const struct decimal *d, const char *plus, int width);

#endif
