/* SPDX-License-Identifier: MIT
 * Fuzz target of base/utf8: what repair makes is valid and stays as it is, and every cut of it
 * stands between two characters. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_characters(const char *p, size_t n)
{
    for (size_t at = 0, len; at < n; at += len) {
        const uint32_t cp = utf8_decode(p + at, n - at, &len);
        char again[4];
        require(len > 0 && len <= n - at);
        require(utf8_encode(again, cp) == len && memcmp(again, p + at, len) == 0);
    }
}

static void check_cuts(const char *p, size_t n)
{
    for (size_t max = 4; max < n + 2 && max < 64; max++) {
        const size_t cut = utf8_truncated_len(p, n, max);
        require(cut <= max && cut <= n && (n == 0 || cut > 0));
        require(utf8_is_valid(p, cut) && utf8_is_valid(p + cut, n - cut));
        require(n > max || cut == n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const size_t prefix = utf8_valid_prefix(text, size);
    require(prefix <= size && utf8_is_valid(text, prefix));

    CLEANUP_BUF struct buf mended = {0};
    const size_t replaced = utf8_repair(&mended, text, size);
    require((replaced == 0) == (prefix == size));
    require(utf8_is_valid(mended.p, mended.len));
    require(replaced || mended.len == size);

    CLEANUP_BUF struct buf twice = {0};
    require(utf8_repair(&twice, mended.p, mended.len) == 0 && twice.len == mended.len);
    check_characters(mended.p, mended.len);
    check_cuts(mended.p, mended.len);
    return 0;
}
