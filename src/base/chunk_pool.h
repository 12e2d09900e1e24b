/* SPDX-License-Identifier: MIT
 * Memory for many things that one thread makes in a row and any thread lets go: several in one
 * allocation, a chunk, which is freed with the last of them.
 *
 * Who keeps one thing keeps its chunk. So chunks are small, grow with what was made in the row, and
 * are never larger than that: a row of a few things has an allocation for each. */
#ifndef BASE_CHUNK_POOL_H
#define BASE_CHUNK_POOL_H

#include <stddef.h>

#define SLAB_CHUNK_MAX ((size_t)4 << 10) /* of things that are much smaller than that */

struct pool_chunk;

/* The side that makes; an all-zero one is valid and holds nothing. */
struct chunk_pool {
    struct pool_chunk *chunk; /* the one being filled, or NULL */
    char *at;                 /* its room, and how many bytes of it are left */
    size_t room;
    size_t made;  /* in it */
    size_t taken; /* bytes, in the row */
};

/* Uninitialised bytes, aligned for any type; *chunk: what they are in. */
void *chunk_pool_alloc(struct chunk_pool *s, size_t n, struct pool_chunk **chunk);
/* The row is over: nothing more is held for what comes next. */
void chunk_pool_finish(struct chunk_pool *s);
/* Releases one allocation of the chunk. Any thread. */
void chunk_pool_release(struct pool_chunk *chunk);

#endif
