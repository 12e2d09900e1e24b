/* SPDX-License-Identifier: MIT
 * Blocks of an arena: sizes double; a reset keeps one block. */
#include "base/arena.h"
#include "base/invariant.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/align.h"
#include "base/alloc.h"
#include "base/attr.h"

#define BLOCK_MIN ((size_t)256) /* small, because there may be thousands of turns */
/* Largest block kept by a reset, so that one huge line does not occupy memory for ever. */
#define BLOCK_KEEP ((size_t)256 << 10)

struct arena_block {
    struct arena_block *older;
    size_t cap, fill;
    _Alignas(max_align_t) char bytes[];
};

static void arena_free_chain(struct arena_block *block)
{
    while (block) {
        struct arena_block *const older = block->older;
        free(block);
        block = older;
    }
}

void arena_fini(struct arena *a)
{
    arena_free_chain(a->head);
    *a = (struct arena){0};
}

/* Removes the largest block that a reset may keep from the chain. */
static struct arena_block *arena_remove_kept_block(struct arena_block **chain)
{
    struct arena_block **best = NULL;
    for (struct arena_block **at = chain; *at; at = &(*at)->older)
        if ((*at)->cap <= BLOCK_KEEP && (!best || (*at)->cap > (*best)->cap))
            best = at;
    if (!best)
        return NULL;
    struct arena_block *const keeper = *best;
    *best = keeper->older;
    ASSERT(keeper->cap <= BLOCK_KEEP);
    return keeper;
}

void arena_reset(struct arena *a)
{
    a->used = 0;
    if (!a->head)
        return;
    if (!ASAN_ENABLED && !a->head->older && a->head->cap <= BLOCK_KEEP) {
        a->head->fill = 0;
        return;
    }
    /* Under the address sanitizer, memory used after a reset is detected. */
    struct arena_block *const keeper = ASAN_ENABLED ? NULL : arena_remove_kept_block(&a->head);
    arena_free_chain(a->head);
    a->head = keeper;
    if (!keeper)
        return;
    keeper->older = NULL;
    keeper->fill = 0;
}

static void add_block(struct arena *a, size_t n)
{
    size_t cap = a->head ? a->head->cap * 2 : BLOCK_MIN;
    if (cap > BLOCK_KEEP)
        cap = BLOCK_KEEP;
    if (cap < n)
        cap = n;
    ASSERT(cap >= n);
    struct arena_block *const block = xmalloc(sizeof *block + cap);
    *block = (struct arena_block){.older = a->head, .cap = cap};
    a->head = block;
}

static char *arena_take_from_block(struct arena *a, size_t n, size_t align)
{
    ASSERT(n <= SIZE_MAX / 4);
    struct arena_block *block = a->head;
    size_t at = block ? align_up(block->fill, align) : 0;
    if (!block || at > block->cap || n > block->cap - at) {
        add_block(a, n);
        block = a->head;
        at = 0;
    }
    block->fill = at + n;
    a->used += n;
    return block->bytes + at;
}

void *arena_alloc(struct arena *a, size_t n)
{
    return memset(arena_take_from_block(a, n, _Alignof(max_align_t)), 0, n);
}

char *arena_alloc_bytes(struct arena *a, size_t n)
{
    return arena_take_from_block(a, n, 1);
}

char *arena_strdup(struct arena *a, const char *s)
{
    return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    const size_t len = n ? strnlen(s, n) : 0;
    char *const copy = arena_alloc_bytes(a, len + 1);
    if (len)
        memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *arena_memdup(struct arena *a, const char *p, size_t n)
{
    char *const copy = arena_alloc_bytes(a, n + 1);
    if (n)
        memcpy(copy, p, n);
    copy[n] = '\0';
    return copy;
}

char *arena_vsprintf(struct arena *a, const char *fmt, va_list ap)
{
    char first[256];
    va_list again;
    va_copy(again, ap);
    const int n = vsnprintf(first, sizeof first, fmt, ap);
    const size_t len = n > 0 ? (size_t)n : 0;
    char *const text = arena_alloc_bytes(a, len + 1);
    if (len < sizeof first)
        memcpy(text, first, len);
    else
        vsnprintf(text, len + 1, fmt, again);
    text[len] = '\0';
    va_end(again);
    return text;
}

char *arena_sprintf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *const text = arena_vsprintf(a, fmt, ap);
    va_end(ap);
    return text;
}
