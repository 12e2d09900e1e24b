/* SPDX-License-Identifier: MIT
 * Memory through which bytes go from the host to the process of an instance, without the kernel:
 * pieces in order, each in one place. The host reads nothing there but how far the instance says
 * that it has come and whether it rests, and so may the instance write what it likes: it is the
 * only one who reads it.
 */
#ifndef PLUGIN_IPC_SHM_RING_H
#define PLUGIN_IPC_SHM_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/align.h"
#include "base/attr.h"
#include "base/invariant.h"
#include "base/str.h"
#include "base/sys/err.h"

#define RING_BYTES ((size_t)512 << 10)
#define RING_PIECE_MAX (RING_BYTES / 16)

struct shm_ring_header {
    _Atomic uint64_t written;           /* the host's: bytes, since the beginning */
    _Atomic uint64_t first;             /* which of them lies at the front; before written */
    _Alignas(64) _Atomic uint64_t read; /* the instance's, as the next */
    _Atomic bool rests;                 /* it is not looking: it wants to be woken */
};

/* One side's. */
struct shm_ring {
    struct shm_ring_header *page;  /* NULL: there is none */
    char *bytes;                   /* they are there twice, in a row: nothing is cut in two */
    uint64_t written, first, read; /* as far as this side knows */
    uint64_t published;            /* the host's: of what it has written */
};

#define RING_HEAD ALIGN_PAGE
#define RING_SHARED (RING_HEAD + RING_BYTES)

/* Of RING_SHARED bytes of the file, zero at first, from `at` on. -1 with err. */
int shm_ring_map(struct shm_ring *r, int fd, size_t at, struct tc_err *err) MUST_CHECK;
void shm_ring_unmap(struct shm_ring *r); /* also one that is not mapped */

/* Where the next piece begins, the other side has it in its caches: it comes while this side is at
 * something else. */
static inline void shm_ring_prefetch(const char *at)
{
    enum { LINES = 8 };
    for (size_t i = 0; i < LINES; i++)
        __builtin_prefetch(at + i * ALIGN_CACHE_LINE, 1);
}

static inline char *ring_at(const struct shm_ring *r, uint64_t position)
{
    return r->bytes + (position - r->first) % RING_BYTES;
}

/* ---- the host's */

/* Room for `pieces`, each of at most RING_PIECE_MAX. What follows when all has been read begins at
 * the front: of one that keeps up only so much memory is used as is under way. */
bool shm_ring_has_room(struct shm_ring *r, size_t pieces);
/* Where the next goes, on a multiple of ALIGN_WORD; shm_ring_commit says how long it has become. */
static inline char *shm_ring_reserve(const struct shm_ring *r)
{
    return ring_at(r, r->written);
}
static inline void shm_ring_commit(struct shm_ring *r, size_t len)
{
    ASSERT(len <= RING_PIECE_MAX);
    r->written += align_up(len, ALIGN_WORD);
    shm_ring_prefetch(shm_ring_reserve(r));
}
/* What has been added can be read. True: the instance rests, and nobody has woken it yet. */
bool shm_ring_publish(struct shm_ring *r);
/* What the instance says it has read is what it can have. */
bool shm_ring_is_reader_valid(const struct shm_ring *r);

/* ---- the instance's */

/* All that can be read, from the first piece on. */
static inline struct str shm_ring_peek(struct shm_ring *r)
{
    if (r->read == r->written) {
        r->written = atomic_load_explicit(&r->page->written, memory_order_acquire);
        r->first = atomic_load_explicit(&r->page->first, memory_order_relaxed);
    }
    return (struct str){ring_at(r, r->read), r->written - r->read};
}
/* That piece is done with. */
static inline void ring_consume(struct shm_ring *r, size_t len)
{
    r->read += align_up(len, ALIGN_WORD);
    atomic_store_explicit(&r->page->read, r->read, memory_order_release);
}
/* It is not going to look before it is woken. False: something is there. */
bool shm_ring_begin_sleep(struct shm_ring *r);
void shm_ring_end_sleep(struct shm_ring *r);

#endif
