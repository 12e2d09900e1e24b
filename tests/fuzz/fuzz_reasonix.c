/* SPDX-License-Identifier: MIT
 * Any bytes as a stream of reasonix and of its log, written as reasonix: promises kept, and what
 * is written is JSON. */
#include <stdint.h>

#include "fuzz/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    stream_try("reasonix", "reasonix", (const char *)data, size);
    stream_try("reasonix-log", "reasonix", (const char *)data, size);
    return 0;
}
