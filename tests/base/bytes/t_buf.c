/* SPDX-License-Identifier: MIT
 * Tests of base/bytes/buf.h. */
#include "base/bytes/buf.h"

#include <stdlib.h>

#include "tap/tap.h"

static void test_append(void)
{
    CLEANUP_BUF struct buf b = {0};
    buf_add_str(&b, "ab");
    buf_add_char(&b, 'c');
    buf_add(&b, "d\0e", 3);
    buf_add(&b, NULL, 0);
    is_mem(b.p, b.len, "abcd\0e", 6, "bytes are appended in order, NULs too");
    is_int(b.p[b.len], 0, "NUL-terminated");
    buf_reset(&b);
    is_str(b.p, "", "reset empties");
    buf_printf(&b, "%d|%s", 5, "x");
    is_str(b.p, "5|x", "printf");
    buf_printf(&b, "%500d", 1);
    is_int((long long)b.len, 503, "printf longer than the free space");
}

static void test_growth(void)
{
    CLEANUP_BUF struct buf b = {0};
    unsigned moves = 0;
    for (size_t i = 0, cap = 0; i < 1 << 20; i++) {
        buf_add_char(&b, 'x');
        moves += b.cap != cap;
        cap = b.cap;
    }
    is_int((long long)b.len, 1 << 20, "a megabyte is appended byte by byte");
    ok(moves < 20, "growth doubles: %u moves", moves);
}

static void test_reserve(void)
{
    CLEANUP_BUF struct buf b = {0};
    buf_add_str(&b, "x");
    memcpy(buf_reserve(&b, 1000), "yz", 2);
    b.len += 2;
    buf_add_str(&b, "!");
    is_str(b.p, "xyz!", "bytes written into the reserved space are kept");
}

static void test_consume(void)
{
    CLEANUP_BUF struct buf b = {0};
    buf_consume(&b, 3);
    ok(b.p == NULL && b.len == 0, "consume on an empty buffer");
    buf_add_str(&b, "abcdef");
    buf_consume(&b, 0);
    is_str(b.p, "abcdef", "consume of no bytes changes nothing");
    buf_consume(&b, 2);
    is_str(b.p, "cdef", "consume drops the first bytes");
    buf_consume(&b, 99);
    is_str(b.p, "", "consume of more than all bytes");
}

static void test_steal(void)
{
    struct buf b = {0};
    char *const empty = buf_steal(&b);
    is_str(empty, "", "steal of an empty buffer is an empty string");
    buf_add_str(&b, "gone");
    char *const full = buf_steal(&b);
    is_str(full, "gone", "steal returns the bytes");
    ok(b.p == NULL && b.len == 0 && b.cap == 0, "steal leaves an empty buffer");
    free(empty);
    free(full);
}

int main(void)
{
    plan_lazy();
    test_append();
    test_growth();
    test_reserve();
    test_consume();
    test_steal();
}
