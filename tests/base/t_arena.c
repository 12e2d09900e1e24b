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
    ok(zero, "arena_alloc gives zeroed bytes");
    is_int((long long)a.used, 300 * 299, "used counts what was handed out");
    arena_fini(&a);
    ok(!a.head && a.used == 0, "arena_fini leaves an empty arena");
}

/* Under the address sanitizer a reset frees all, so that what is used after it is found. */
static void test_reset_keeps_one_block(void)
{
    struct arena a = {0};
    for (int i = 0; i < 10000; i++)
        arena_alloc_bytes(&a, 100);
    arena_reset(&a);
    const void *const kept = a.head;
    ok((kept != NULL) == !ASAN_ENABLED, "a reset keeps a block");
    is_int((long long)a.used, 0, "and forgets what was used");
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++)
            arena_alloc_bytes(&a, 1000);
        arena_reset(&a);
    }
    ok(a.head == kept, "rounds that fit never allocate again");
    arena_fini(&a);
}

static void test_reset_drops_huge_blocks(void)
{
    struct arena a = {0};
    arena_alloc_bytes(&a, 1);
    const void *const small = a.head;
    memset(arena_alloc_bytes(&a, 16 << 20), 'x', 16 << 20);
    arena_reset(&a);
    ok((a.head == small) == !ASAN_ENABLED,
       "a block of a huge line is given back, the small one stays");
    arena_fini(&a);
    arena_alloc_bytes(&a, 16 << 20);
    arena_reset(&a);
    ok(a.head == NULL, "nothing stays when all blocks are huge");
    is_str(arena_strdup(&a, "again"), "again", "and the arena still works");
    arena_fini(&a);
}

static void test_strings(void)
{
    struct arena a = {0};
    is_str(arena_strdup(&a, ""), "", "empty string");
    is_str(arena_strdup(&a, NULL), NULL, "and none");
    is_str(arena_strndup(&a, "abcdef", 3), "abc", "strndup cuts");
    is_str(arena_strndup(&a, "ab", 10), "ab", "strndup stops at the NUL");
    is_str(arena_strndup(&a, NULL, 0), "", "strndup of nothing");
    is_mem(arena_memdup(&a, "a\0b", 3), 4, "a\0b", 4, "copy does not stop there");
    is_str(arena_memdup(&a, NULL, 0), "", "copy of nothing");
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
    is_str(xstrdup(NULL), NULL, "xstrdup of none");
    void *const empty = xmalloc(0);
    void *const none = xcalloc(0, 0);
    ok(empty && none, "a request of nothing is not NULL");
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
