/* SPDX-License-Identifier: MIT
 * Implements fixed_random.h: a counter instead of random bytes. */
#include "cli/testing/fake/fixed_random.h"

#include <string.h>
#include <sys/random.h>
#include <turncast/plugin.h>

static unsigned char next_random; /* static, because a replaced C library function has no context */

void fixed_random_reset(void)
{
    next_random = 0;
}

TC_EXPORT ssize_t getrandom(void *out, size_t n, unsigned flags)
{
    (void)flags;
    memset(out, ++next_random, n);
    return (ssize_t)n;
}
