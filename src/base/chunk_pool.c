/* SPDX-License-Identifier: MIT
 * Chunks with reference counts of their allocations. */
#include "base/chunk_pool.h"
#include "base/invariant.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/align.h"
#include "base/alloc.h"
#include "base/attr.h"

/* A size is allocated in a chunk whose room is at least this multiple of it. */
#define CHUNK_PLACES ((size_t)4)
/* While a chunk is being filled, its count is a number that it can never reach, from which releases
 * are subtracted: so allocations need no atomic operation each. */
#define FILLING (SIZE_MAX / 2)

struct pool_chunk {
    atomic_size_t alive;
    _Alignas(max_align_t) char bytes[];
};

static struct pool_chunk *make_chunk(size_t cap, size_t alive)
{
    struct pool_chunk *const chunk = xmalloc(sizeof *chunk + cap);
    atomic_init(&chunk->alive, alive);
    return chunk;
}

static void chunk_pool_release_refs(struct pool_chunk *chunk, size_t n)
{
    size_t alive = atomic_load_explicit(&chunk->alive, memory_order_acquire);
    if (alive != n)
        alive = atomic_fetch_sub_explicit(&chunk->alive, n, memory_order_acq_rel);
    ASSERT(alive >= n);
    if (alive == n)
        free(chunk);
}

static void chunk_pool_leave_chunk(struct chunk_pool *s)
{
    ASSERT(s->made < FILLING);
    ASSERT(s->chunk || !s->made);
    if (s->chunk)
        chunk_pool_release_refs(s->chunk, FILLING - s->made);
    *s = (struct chunk_pool){.taken = s->taken};
}

static void chunk_pool_begin_chunk(struct chunk_pool *s, size_t cap)
{
    chunk_pool_leave_chunk(s);
    s->chunk = make_chunk(cap, FILLING);
    s->at = s->chunk->bytes;
    s->room = cap;
}

/* Under the address sanitizer, use after release is detected. */
static size_t chunk_bytes(const struct chunk_pool *s)
{
    if (ASAN_ENABLED)
        return 0;
    return s->taken < SLAB_CHUNK_MAX ? s->taken : SLAB_CHUNK_MAX;
}

void *chunk_pool_alloc(struct chunk_pool *s, size_t n, struct pool_chunk **chunk)
{
    ASSERT(n <= SIZE_MAX / 4);
    n = align_up(n, _Alignof(max_align_t));
    s->taken += n;
    if (n > s->room) {
        const size_t cap = chunk_bytes(s);
        if (n > cap / CHUNK_PLACES) {
            *chunk = make_chunk(n, 1);
            return (*chunk)->bytes;
        }
        chunk_pool_begin_chunk(s, cap);
    }
    ASSERT(s->chunk && n <= s->room);
    char *const place = s->at;
    s->at += n;
    s->room -= n;
    s->made++;
    *chunk = s->chunk;
    return place;
}

void chunk_pool_finish(struct chunk_pool *s)
{
    chunk_pool_leave_chunk(s);
    s->taken = 0;
}

void chunk_pool_release(struct pool_chunk *chunk)
{
    chunk_pool_release_refs(chunk, 1);
}
