/* SPDX-License-Identifier: MIT
 * Fuzz target: any bytes as the record of a letter; what is one comes back the same. */
#include <stdint.h>
#include <stdlib.h>

#include "plugin/outbound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *why = NULL;
    struct outbound_request *const l =
        outbound_unpack(2, "t", (struct str){(const char *)data, size}, &why);
    if (!l && !why)
        abort();
    if (!l)
        return 0;
    CLEANUP_BUF struct buf once = {0}, twice = {0};
    outbound_request_pack(&once, l);
    struct outbound_request *const again =
        outbound_unpack(2, "t", (struct str){once.p, once.len}, &why);
    if (!again)
        abort();
    outbound_request_pack(&twice, again);
    if (!str_equal((struct str){once.p, once.len}, (struct str){twice.p, twice.len}))
        abort();
    outbound_request_unref(again);
    outbound_request_unref(l);
    return 0;
}
