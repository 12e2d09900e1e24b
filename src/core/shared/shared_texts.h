/* SPDX-License-Identifier: MIT
 * The stored texts of an instance that one of several hosts leads (tc_store), as the value of one
 * shared entry (shared_entry.h). All texts of an instance are in one entry, so the next leader
 * never gets a position without the other texts that were stored before it. Pure. */
#ifndef CORE_SHARED_SHARED_TEXTS_H
#define CORE_SHARED_SHARED_TEXTS_H

#include "core/shared/shared_entry.h"
#include "plugin/stored_texts.h"

/* Begins the keys of these entries in the bucket of shared settings: gw.INSTANCE. */
#define SHARED_TEXTS_PREFIX "gw."
/* Limit of a value. The bucket has 8 versions of each entry in 64 MiB, which the settings need,
 * too. */
#define SHARED_TEXTS_BYTES ((size_t)256 << 10)

/* Appends the texts as a JSON object. Those that exceed the limit are left out, the longest first.
 * Returns the number of these, and the key of one of them (borrowed). */
size_t shared_texts_write(struct buf *out, const struct stored_texts *texts, const char **left_out);
/* Fills texts, which is empty. -1: invalid; nothing is in texts then. */
int shared_texts_read(struct str value, struct stored_texts *texts) MUST_CHECK;
/* Whether a new leader goes on with the entry, and not with the texts in its journal. own_n: number
 * of the changes that the journal knows. */
bool shared_texts_is_ahead(const struct shared_entry *stored, const char *own_host, int64_t own_n);

#endif
