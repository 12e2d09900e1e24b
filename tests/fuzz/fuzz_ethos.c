/* SPDX-License-Identifier: MIT
 * Any bytes as a stream of each transport of Ethos, written as ethos: promises kept, and what is
 * written is JSON. */
#include <stdint.h>

#include "fuzz/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    stream_try("ethos", "ethos", (const char *)data, size);
    stream_try("ethos-web", "ethos", (const char *)data, size);
    stream_try("ethos-acp", "ethos", (const char *)data, size);
    return 0;
}
