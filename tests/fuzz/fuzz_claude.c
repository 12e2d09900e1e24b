/* SPDX-License-Identifier: MIT
 * Fuzzes a whole claude stream: translate and guard, with the promises as the judge. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "dialect/cast.h"
#include "dialect/dialect_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char broken[256];
    const char *const p = (const char *)data;
    if (!cast_keeps(&dialect_claude, p, size, false, broken) ||
        !cast_keeps(&dialect_claude, p, size, true, broken)) {
        fprintf(stderr, "%s\n", broken);
        abort();
    }
    return 0;
}
