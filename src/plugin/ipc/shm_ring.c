/* SPDX-License-Identifier: MIT
 * Memory shared by the host and an instance's process, and the positions of both sides. */
#include "plugin/ipc/shm_ring.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/invariant.h"

static bool shm_ring_map_at(char *to, size_t size, int fd, size_t at)
{
    return mmap(to, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)at) == to;
}

int shm_ring_map(struct shm_ring *r, int fd, size_t at, struct tc_err *err)
{
    *r = (struct shm_ring){0};
    char *const base = mmap(NULL, RING_SHARED + RING_BYTES, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return err_set_errno(err, errno, NULL, "cannot create the shared ring buffer");
    r->page = (struct shm_ring_header *)(void *)base;
    r->bytes = base + RING_HEAD;
    if (shm_ring_map_at(base, RING_SHARED, fd, at) &&
        shm_ring_map_at(base + RING_SHARED, RING_BYTES, fd, at + RING_HEAD))
        return 0;
    const int saved = errno;
    shm_ring_unmap(r);
    return err_set_errno(err, saved, NULL, "cannot create the shared ring buffer");
}

void shm_ring_unmap(struct shm_ring *r)
{
    if (r->page)
        munmap(r->page, RING_SHARED + RING_BYTES);
    *r = (struct shm_ring){0};
}

/* ---- the host */

static uint64_t shm_ring_reader_position(const struct shm_ring *r)
{
    return atomic_load_explicit(&r->page->read, memory_order_acquire);
}

static bool shm_ring_is_position_valid(const struct shm_ring *r, uint64_t read)
{
    return read >= r->read && read <= r->written && read % ALIGN_WORD == 0;
}

bool shm_ring_is_reader_valid(const struct shm_ring *r)
{
    return shm_ring_is_position_valid(r, shm_ring_reader_position(r));
}

static void shm_ring_update_read(struct shm_ring *r)
{
    const uint64_t read = shm_ring_reader_position(r);
    if (shm_ring_is_position_valid(r, read))
        r->read = read;
}

static bool is_published(const struct shm_ring *r)
{
    ASSERT(r->published <= r->written);
    return r->published == r->written;
}

/* Continues at offset 0 if the reader has read everything, before the first frame of a batch. */
static void shm_ring_rewind(struct shm_ring *r)
{
    ASSERT(r->first <= r->written);
    if (r->first == r->written || !is_published(r))
        return;
    shm_ring_update_read(r);
    if (r->read != r->written)
        return;
    r->first = r->written;
    atomic_store_explicit(&r->page->first, r->first, memory_order_relaxed);
}

static bool shm_ring_has(const struct shm_ring *r, size_t pieces)
{
    ASSERT(r->read <= r->written && r->written - r->read <= RING_BYTES);
    return RING_BYTES - (r->written - r->read) >= pieces * RING_PIECE_MAX;
}

bool shm_ring_has_room(struct shm_ring *r, size_t pieces)
{
    shm_ring_rewind(r);
    if (shm_ring_has(r, pieces))
        return true;
    shm_ring_update_read(r);
    return shm_ring_has(r, pieces);
}

/* Either the host sees that the process sleeps, or the process sees the new frames before it
 * sleeps. */
bool shm_ring_publish(struct shm_ring *r)
{
    if (is_published(r))
        return false;
    r->published = r->written;
    atomic_store(&r->page->written, r->published);
    return atomic_load(&r->page->rests) && atomic_exchange(&r->page->rests, false);
}

/* ---- the process */

bool shm_ring_begin_sleep(struct shm_ring *r)
{
    atomic_store(&r->page->rests, true);
    if (atomic_load(&r->page->written) == r->read)
        return true;
    shm_ring_end_sleep(r);
    return false;
}

void shm_ring_end_sleep(struct shm_ring *r)
{
    atomic_store_explicit(&r->page->rests, false, memory_order_relaxed);
}
