/* SPDX-License-Identifier: MIT
 * Tests of base/chunk_pool.h: which allocations share a chunk, how long a chunk is kept, and
 * releases in several threads at once.
 */
#include "base/chunk_pool.h"

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "tap/tap.h"

#define THING ((size_t)320)

struct thing {
    struct pool_chunk *chunk;
    size_t size;
    char bytes[];
};

static struct thing *new_thing(struct chunk_pool *s, size_t size)
{
    struct pool_chunk *chunk;
    struct thing *const t = chunk_pool_alloc(s, sizeof *t + size, &chunk);
    *t = (struct thing){chunk, size};
    memset(t->bytes, (int)(size % 251), size);
    return t;
}

static bool is_whole(const struct thing *t)
{
    for (size_t i = 0; i < t->size; i++)
        if ((unsigned char)t->bytes[i] != t->size % 251)
            return false;
    return true;
}

static void test_row_shares_chunks(void)
{
    enum { ROW = 1000 };
    static struct thing *row[ROW];
    struct chunk_pool s = {0};
    size_t chunks = 0;
    bool aligned = true, whole = true;
    for (size_t i = 0; i < ROW; i++) {
        row[i] = new_thing(&s, THING + i % 7);
        chunks += i == 0 || row[i]->chunk != row[i - 1]->chunk;
        aligned = aligned && (uintptr_t)row[i] % _Alignof(max_align_t) == 0;
    }
    chunk_pool_finish(&s);
    ok(aligned, "each allocation is aligned for any type");
    if (ASAN_ENABLED)
        is_int((long long)chunks, ROW,
               "each allocation has its own chunk when a use after free is to be detected");
    else
        ok(chunks < ROW / 8, "a row of %d small things needs %zu allocations", (int)ROW, chunks);
    for (size_t i = 0; i < ROW; i++)
        whole = whole && is_whole(row[i]);
    ok(whole, "no thing overlaps another");
    for (size_t i = 0; i < ROW; i++)
        chunk_pool_release(row[i]->chunk);
}

/* At most twice the used memory is held, even for a short row. */
static void test_short_rows(void)
{
    struct chunk_pool s = {0};
    const struct thing *const first = new_thing(&s, THING), *const second = new_thing(&s, THING);
    ok(first->chunk != second->chunk && !s.chunk,
       "the first things of a row have chunks of their own");
    chunk_pool_release(first->chunk);
    chunk_pool_release(second->chunk);

    struct pool_chunk *chunks[64];
    bool small = true;
    for (size_t i = 0; i < 64; i++) {
        chunks[i] = new_thing(&s, THING)->chunk;
        small = small && s.room <= s.taken && s.room <= SLAB_CHUNK_MAX;
    }
    ok(small, "the free space of a chunk is at most the used size");
    chunk_pool_finish(&s);
    ok(!s.chunk && s.room == 0 && s.taken == 0, "no chunk is held after the end of a row");
    for (size_t i = 0; i < 64; i++)
        chunk_pool_release(chunks[i]);
}

static void test_big_things(void)
{
    struct chunk_pool s = {0};
    struct thing *row[64];
    for (size_t i = 0; i < 32; i++)
        row[i] = new_thing(&s, THING);
    const struct pool_chunk *const filled = s.chunk;
    struct thing *const big = new_thing(&s, 1 << 20);
    ok(big->chunk != filled && s.chunk == filled,
       "a big thing has a chunk of its own, and the current chunk goes on");
    for (size_t i = 32; i < 64; i++)
        row[i] = new_thing(&s, THING);
    bool whole = is_whole(big);
    chunk_pool_release(big->chunk);
    chunk_pool_finish(&s);
    for (size_t i = 0; i < 64; i++) {
        whole = whole && is_whole(row[i]);
        chunk_pool_release(row[i]->chunk);
    }
    ok(whole, "all things are unchanged");
}

static size_t allocated(void)
{
    return mallinfo2().uordblks;
}

/* Every fiftieth thing of a long row is kept. */
static void test_kept_things(void)
{
    enum { ROW = 20000, KEPT = ROW / 50 };
    static struct thing *kept[KEPT];
    struct chunk_pool s = {0};
    const size_t before = allocated();
    for (size_t i = 0; i < ROW; i++) {
        struct thing *const t = new_thing(&s, THING);
        if (i % 50)
            chunk_pool_release(t->chunk);
        else
            kept[i / 50] = t;
    }
    chunk_pool_finish(&s);
    bool whole = true;
    const size_t held = allocated() - before;
    if (ASAN_ENABLED || before == 0)
        skip(1, "the allocator does not report the used size");
    else
        ok(held <= KEPT * (SLAB_CHUNK_MAX + 64), "%d kept things hold only their chunks, %zu bytes",
           (int)KEPT, held);
    for (size_t i = 0; i < KEPT; i++) {
        whole = whole && is_whole(kept[i]);
        chunk_pool_release(kept[i]->chunk);
    }
    ok(whole, "the kept things are unchanged");
}

/* ---- threads ---- */

#define THREADS 4
#define SHARED 20000

struct crowd {
    struct thing *things[SHARED];
    _Atomic size_t there; /* things that are ready */
    bool whole[THREADS];
};

struct member {
    struct crowd *crowd;
    size_t number;
    pthread_t thread;
};

/* Each thread releases its own things while the next ones are made. */
static void *release_own(void *arg)
{
    const struct member *const m = arg;
    bool whole = true;
    for (size_t i = m->number; i < SHARED; i += THREADS) {
        while (m->crowd->there <= i)
            sched_yield();
        whole = whole && is_whole(m->crowd->things[i]);
        chunk_pool_release(m->crowd->things[i]->chunk);
    }
    m->crowd->whole[m->number] = whole;
    return NULL;
}

static void test_threads(void)
{
    static struct crowd crowd;
    struct member members[THREADS];
    struct chunk_pool s = {0};
    for (size_t i = 0; i < THREADS; i++) {
        members[i] = (struct member){.crowd = &crowd, .number = i};
        if (pthread_create(&members[i].thread, NULL, release_own, &members[i]) != 0)
            bail("no threads");
    }
    for (size_t i = 0; i < SHARED; i++) {
        crowd.things[i] = new_thing(&s, i % 97 ? i % 300 : 5000);
        crowd.there = i + 1;
        if (i % 200 == 199)
            chunk_pool_finish(&s);
    }
    chunk_pool_finish(&s);
    bool whole = true;
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(members[i].thread, NULL);
        whole = whole && crowd.whole[i];
    }
    ok(whole, "threads release things while more are made");
}

int main(void)
{
    plan_lazy();
    test_row_shares_chunks();
    test_short_rows();
    test_big_things();
    test_kept_things();
    test_threads();
}
