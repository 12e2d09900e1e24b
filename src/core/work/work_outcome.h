/* SPDX-License-Identifier: MIT
 * Stores the outcome of a turn on the bus, once for all hosts: the first one counts, and whoever
 * comes later learns it. Goes on trying until the servers have answered. Loop thread only. */
#ifndef CORE_WORK_WORK_OUTCOME_H
#define CORE_WORK_WORK_OUTCOME_H

#include "core/bus/bus_link.h"

struct work_outcome;

/* is_own: it is the one that was to be stored; else another one was there, and body is that one.
 * Borrowed. May free it. */
typedef void work_outcome_done(void *ctx, bool is_own, struct str body);

/* body: work_outcome_write, with `from`; copied. */
struct work_outcome *work_outcome_store(struct bus_link *link, const char *source, const char *turn,
                                        const struct bus_origin *from, struct str body,
                                        work_outcome_done *done, void *ctx);
/* The same for a message of another kind. */
struct work_outcome *work_outcome_store_as(struct bus_link *link, const char *kind,
                                           const char *source, const char *turn,
                                           const struct bus_origin *from, struct str body,
                                           work_outcome_done *done, void *ctx);
/* The link has become active. */
void work_outcome_resume(struct work_outcome *o);
/* Before the client; an answer that is awaited is ignored. NULL is fine. */
void work_outcome_free(struct work_outcome *o);

/* Removes the turn's message of that kind, without acknowledgement. */
void work_outcome_remove(const struct bus_link *link, const char *kind, const char *source,
                         const char *turn);

/* Appends the subject of a turn's message of that kind: "new", "out", "told", "mem", "tell"; or
 * "own", where `source` is the host that is to continue the turn. */
void work_outcome_subject(struct buf *out, const struct bus_names *names, const char *kind,
                          const char *source, const char *turn);

#endif
