/* SPDX-License-Identifier: MIT
 * SPSC ring buffer in shared memory. The host writes frames; the connector process reads them in
 * place. The connector process is untrusted: the host reads only the read position, which it
 * checks, and the flag that the process sleeps. So the process can damage only its own input.
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
    _Atomic uint64_t written; /* by the host: total bytes written */
    _Atomic uint64_t first;   /* position that lies at offset 0; stored before `written` */
    _Alignas(64) _Atomic uint64_t read; /* by the process, like the next: total bytes read */
    _Atomic bool rests;                 /* the process sleeps and has to be woken */
};

/* View of one side. */
struct shm_ring {
    struct shm_ring_header *page;  /* NULL: not mapped */
    char *bytes;                   /* mapped twice in a row, so that no frame is split */
    uint64_t written, first, read; /* as last seen by this side */
    uint64_t published;            /* by the host: part of `written` that the process can see */
};

#define RING_HEAD ALIGN_PAGE
#define RING_SHARED (RING_HEAD + RING_BYTES)

/* Maps RING_SHARED bytes of the file, initially zero, from offset `at` on. -1 with err. */
int shm_ring_map(struct shm_ring *r, int fd, size_t at, struct tc_err *err) MUST_CHECK;
void shm_ring_unmap(struct shm_ring *r); /* harmless if not mapped */

/* Prefetches the memory of the next frame, which is still in the other side's cache. */
static inline void shm_ring_prefetch(const char *at)
{
    enum { LINES = 8 };
    for (size_t i = 0; i < LINES; i++)
        __builtin_prefetch(at + i * ALIGN_CACHE_LINE, 1);
}

static inline char *shm_ring_address(const struct shm_ring *r, uint64_t position)
{
    return r->bytes + (position - r->first) % RING_BYTES;
}

/* ---- used by the host */

/* Whether there is room for `pieces` frames of at most RING_PIECE_MAX bytes. When the reader has
 * read everything, the next frame is written at offset 0, so that a reader that keeps up touches
 * little memory. */
bool shm_ring_has_room(struct shm_ring *r, size_t pieces);
/* Address of the next frame, a multiple of ALIGN_WORD; shm_ring_commit sets its length. */
static inline char *shm_ring_reserve(const struct shm_ring *r)
{
    return shm_ring_address(r, r->written);
}
static inline void shm_ring_commit(struct shm_ring *r, size_t len)
{
    ASSERT(len <= RING_PIECE_MAX);
    r->written += align_up(len, ALIGN_WORD);
    shm_ring_prefetch(shm_ring_reserve(r));
}
/* Makes the committed frames visible. True: the process sleeps and the caller has to wake it. */
bool shm_ring_publish(struct shm_ring *r);
/* Whether the read position of the process is possible. */
bool shm_ring_is_reader_valid(const struct shm_ring *r);

/* ---- used by the connector process */

/* All readable bytes, from the oldest frame on. */
static inline struct str shm_ring_peek(struct shm_ring *r)
{
    if (r->read == r->written) {
        r->written = atomic_load_explicit(&r->page->written, memory_order_acquire);
        r->first = atomic_load_explicit(&r->page->first, memory_order_relaxed);
    }
    return (struct str){shm_ring_address(r, r->read), r->written - r->read};
}
/* Releases the oldest frame, of `len` bytes. */
static inline void shm_ring_consume(struct shm_ring *r, size_t len)
{
    r->read += align_up(len, ALIGN_WORD);
    atomic_store_explicit(&r->page->read, r->read, memory_order_release);
}
/* Announces that the process will not look before it is woken. False: there are frames to read. */
bool shm_ring_begin_sleep(struct shm_ring *r);
void shm_ring_end_sleep(struct shm_ring *r);

#endif
