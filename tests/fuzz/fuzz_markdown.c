/* SPDX-License-Identifier: MIT
 * Fuzz target of src/text: whatever the source, its spans nest, its pieces fit their budgets, leave
 * nothing but white space out, and say nothing that the source did not. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "text/text_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *why = text_check_source((struct str){(const char *)data, size});
    if (why) {
        fprintf(stderr, "%s\n", why);
        abort();
    }
    return 0;
}
