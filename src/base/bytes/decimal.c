/* SPDX-License-Identifier: MIT
 * Converts a double to decimal digits. */
#include "base/bytes/decimal.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Rounds to that many digits; *exact: they read back as v. */
static struct decimal decimal_round(double v, int precision, bool *exact)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", precision - 1, v);
    *exact = strtod(text, NULL) == v;
    struct decimal d = {.point = atoi(strchr(text, 'e') + 1) + 1};
    for (const char *p = text; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9') /* the locale's decimal point */
            d.digits[d.count++] = *p;
    while (d.count > 1 && d.digits[d.count - 1] == '0')
        d.count--;
    return d;
}

struct decimal decimal_shortest(double v)
{
    /* Fifteen digits identify most normal doubles; 17 identify every one. */
    bool exact = false;
    struct decimal d = {0};
    for (int precision = v < 0x1p-1022 ? 1 : 15; precision <= 17 && !exact; precision++)
        d = decimal_round(v, precision, &exact);
    return d;
}

static void add_zeros(struct buf *b, int n)
{
    while (n-- > 0)
        buf_add_char(b, '0');
}

void decimal_add_fixed(struct buf *b, const struct decimal *d)
{
    if (d->point <= 0) {
        buf_add_str(b, "0.");
        add_zeros(b, -d->point);
        buf_add(b, d->digits, (size_t)d->count);
    } else if (d->count <= d->point) {
        buf_add(b, d->digits, (size_t)d->count);
        add_zeros(b, d->point - d->count);
    } else {
        buf_add(b, d->digits, (size_t)d->point);
        buf_add_char(b, '.');
        buf_add(b, d->digits + d->point, (size_t)(d->count - d->point));
    }
}

void decimal_add_exponential(struct buf *b, const struct decimal *d, const char *plus, int width)
{
    buf_add_char(b, d->digits[0]);
    if (d->count > 1) {
        buf_add_char(b, '.');
        buf_add(b, d->digits + 1, (size_t)d->count - 1);
    }
    const int exponent = d->point - 1;
    buf_printf(b, "e%s%0*d", exponent < 0 ? "-" : plus, width, abs(exponent));
}
