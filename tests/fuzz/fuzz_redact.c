/* SPDX-License-Identifier: MIT
 * Fuzz target: whatever surrounds a secret, it is masked, and what is masked stays so. */
#include <stdint.h>
#include <stdlib.h>

#include "base/sys/log.h"

#define SECRET "bot-Secret/+%"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    log_add_secret(SECRET);
    CLEANUP_BUF struct buf in = {0}, out = {0};
    buf_add(&in, data, size / 2);
    buf_add_str(&in, SECRET);
    buf_add(&in, data + size / 2, size - size / 2);
    log_redact(&out, (struct str){in.p, in.len});
    require(!memmem(out.p, out.len, SECRET, sizeof SECRET - 1));
    require(memmem(out.p, out.len, "***", 3));
    return 0;
}
