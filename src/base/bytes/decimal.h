/* SPDX-License-Identifier: MIT
 * The fewest decimal digits that read back as the same double, and two notations for them. The
 * caller chooses the notation. Pure. */
#ifndef BASE_BYTES_DECIMAL_H
#define BASE_BYTES_DECIMAL_H

#include "base/bytes/buf.h"

/* 0.DIGITS times ten to the power of `point`; no trailing zeros. */
struct decimal {
    char digits[20];
    int count, point;
};

/* v must be positive and finite. */
struct decimal decimal_shortest(double v);
/* Fixed notation: 0.001, 120, 1.5. */
void decimal_add_fixed(struct buf *b, const struct decimal *d);
/* Exponent notation d.ddde<exponent>: `plus` precedes an exponent that is not negative; at least
 * `width` digits. */
void decimal_add_exponential(struct buf *b, const struct decimal *d, const char *plus, int width);

#endif
