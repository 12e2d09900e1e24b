/* SPDX-License-Identifier: MIT
 * Tests of base/arena.h and base/alloc.h. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "tap/tap.h"

static void test_alignment(void)
{
    struct arena a = {0};
    bool aligned = true, zero = true;
    for (size_t n = 1; n < 300; n++) {
        memset(arena_alloc_bytes(&a, n), 0xff, n);
        const unsigned char *const p = arena_alloc(&a, n);
        aligned = aligned && (uintptr_t)p % _Alignof(max_align_t) == 0;
        for (size_t i = 0; i < n; i++)
            zero = zero && p[i] == 0;
    }
    ok(aligned, "arena_alloc aligns for any type");
    ok(zero, "arena_alloc returns zeroed bytes");
    is_int((long long)a.used, 300 * 299, "used counts the allocated bytes");
    arena_fini(&a);
    ok(!a.head && a.used == 0, "arena_fini leaves an empty arena");
}

/* With the address sanitizer a reset frees all blocks, to detect a use after the reset. */
static void test_reset_keeps_one_block(void)
{
    struct arena a = {0};
    for (int i = 0; i < 10000; i++)
        arena_alloc_bytes(&a, 100);
    arena_reset(&a);
    const void *const kept = a.head;
    ok((kept != NULL) == !ASAN_ENABLED, "a reset keeps a block");
    is_int((long long)a.used, 0, "a reset sets used to zero");
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++)
            arena_alloc_bytes(&a, 1000);
        arena_reset(&a);
    }
    ok(a.head == kept, "rounds that fit do not allocate again");
    arena_fini(&a);
}

static void test_reset_drops_huge_blocks(void)
{
    struct arena a = {0};
    arena_alloc_bytes(&a, 1);
    const void *const small = a.head;
    memset(arena_alloc_bytes(&a, 16 << 20), 'x', 16 << 20);
    arena_reset(&a);
    ok((a.head == small) == !ASAN_ENABLED, "a huge block is freed, the small block is kept");
    arena_fini(&a);
    arena_alloc_bytes(&a, 16 << 20);
    arena_reset(&a);
    ok(a.head == NULL, "no block is kept when all are huge");
    is_str(arena_strdup(&a, "again"), "again", "the arena works after the reset");
    arena_fini(&a);
}

static void test_strings(void)
{
    struct arena a = {0};
    is_str(arena_strdup(&a, ""), "", "strdup of an empty string");
    is_str(arena_strdup(&a, NULL), NULL, "strdup of NULL is NULL");
    is_str(arena_strndup(&a, "abcdef", 3), "abc", "strndup cuts");
    is_str(arena_strndup(&a, "ab", 10), "ab", "strndup stops at the NUL");
    is_str(arena_strndup(&a, NULL, 0), "", "strndup of NULL is an empty string");
    is_mem(arena_memdup(&a, "a\0b", 3), 4, "a\0b", 4, "memdup does not stop at a NUL");
    is_str(arena_memdup(&a, NULL, 0), "", "memdup of NULL is an empty string");
    is_str(arena_sprintf(&a, "%d-%s", 42, "x"), "42-x", "sprintf");
    const char *const wide = arena_sprintf(&a, "%9000d", 1);
    is_int((long long)strlen(wide), 9000, "sprintf longer than a block");
    arena_fini(&a);
}

static void test_alloc(void)
{
    char *const a = xasprintf("%s/%d", "dir", 7);
    is_str(a, "dir/7", "xasprintf");
    char *const b = xstrndup("abcdef", 2);
    is_str(b, "ab", "xstrndup");
    char *const c = xstrdup("abc");
    is_str(c, "abc", "xstrdup");
    is_str(xstrdup(NULL), NULL, "xstrdup of NULL is NULL");
    void *const empty = xmalloc(0);
    void *const none = xcalloc(0, 0);
    ok(empty && none, "an allocation of zero bytes is not NULL");
    char *const grown = xrealloc(c, 100);
    is_str(grown, "abc", "xrealloc keeps the bytes");
    free(a);
    free(b);
    free(grown);
    free(empty);
    free(none);
}

int main(void)
{
    plan_lazy();
    test_alignment();
    test_reset_keeps_one_block();
    test_reset_drops_huge_blocks();
    test_strings();
    test_alloc();
}
