/* SPDX-License-Identifier: MIT
 * A seeded stream of a coding agent, as Claude Code prints it: the same bytes for the same seed. */
#ifndef BENCH_CORPUS_H
#define BENCH_CORPUS_H

#include <stdint.h>

#include "base/buf.h"

/* Appends one turn of about `bytes` bytes: by count mostly small deltas, by volume whole
 * assistant lines and tool results of 0.5 to 50 KB. */
void corpus_make(struct buf *out, size_t bytes, uint64_t seed);

#endif
