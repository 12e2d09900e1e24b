/* SPDX-License-Identifier: MIT
 * Fuzz target: the JSON cursor and its text functions, jansson the judge. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "event/json_oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const broken = json_oracle_check((const char *)data, size);
    if (!broken)
        return 0;
    fprintf(stderr, "%s\n", broken);
    abort();
}
