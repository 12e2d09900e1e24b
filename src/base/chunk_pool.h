/* SPDX-License-Identifier: MIT
 * Memory for many objects that one thread allocates in a row and any thread releases: several
 * objects share an allocation (a chunk), which is freed with the last of them.
 *
 * An object keeps its whole chunk alive. So chunks are small, and grow with the amount allocated in
 * the row: the first objects of a row have separate allocations. */
#ifndef BASE_CHUNK_POOL_H
#define BASE_CHUNK_POOL_H

#include <stddef.h>

#define SLAB_CHUNK_MAX ((size_t)4 << 10) /* largest chunk; objects should be much smaller */

struct pool_chunk;

/* The allocating side; a struct of zeros is valid and empty. */
struct chunk_pool {
    struct pool_chunk *chunk; /* the current chunk, or NULL */
    char *at;                 /* its free space, and the number of bytes left */
    size_t room;
    size_t made;  /* objects in it */
    size_t taken; /* bytes allocated in the row */
};

/* Uninitialised bytes, aligned for any type; *chunk: the chunk that contains them. */
void *chunk_pool_alloc(struct chunk_pool *s, size_t n, struct pool_chunk **chunk);
/* The row has ended: releases the current chunk. */
void chunk_pool_finish(struct chunk_pool *s);
/* Releases one allocation of the chunk. Any thread. */
void chunk_pool_release(struct pool_chunk *chunk);

#endif
