/* SPDX-License-Identifier: MIT
 * Short words for the tests of the journal: one journal, a fake clock, rows as text. */
#ifndef TESTS_IO_JOURNAL_KIT_H
#define TESTS_IO_JOURNAL_KIT_H

#include "io/journal/journal.h"

#define SECOND ((int64_t)1000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

extern char kit_dir[600]; /* where the journal is */

/* A new folder, the clock at its start; and the same folder again. */
struct journal *kit_fresh(void);
struct journal *kit_fresh_with(const struct journal_limits *limits);
struct journal *kit_reopen(const struct journal_limits *limits);

/* A turn that runs, of the message msg or NULL. */
enum journal_status kit_admit(struct journal *j, const char *id, const char *msg);
/* One that waits. */
enum journal_status kit_wait(struct journal *j, const char *id);
/* Ends a turn for tg and slack in the lane. */
enum journal_status kit_end(struct journal *j, const char *turn, const char *error,
                            const char *lane);
/* A turn that began and ended. */
void kit_ended(struct journal *j, const char *turn, const char *lane);

/* Requests of turn t, lane c, by their bodies: "one two" are two. The rest of the words: */
enum journal_status kit_add(struct journal *j, const char *bodies);
enum journal_status kit_expand(struct journal *j, const char *turn, const char *bodies);
/* seq of the row of tg with that body; 0: none. */
int64_t kit_seq(struct journal *j, const char *body);
/* Of that row. */
enum journal_status kit_start(struct journal *j, const char *body);
enum journal_status kit_settle(struct journal *j, const char *body, enum journal_result v,
                               const char *bodies);

/* "body body…" in their order, each with its attempts when there were any, and "?" when it is in
 * doubt. */
const char *kit_rows_of(struct journal *j, const char *conn);
const char *kit_rows(struct journal *j); /* of tg */

struct journal_stats kit_stats(struct journal *j);
/* "id conn/lane turn kind reason attempts [body]", one line each. */
void kit_on_dead(void *ctx, const struct journal_dead *d);
const char *kit_dead_of(struct journal *j, const char *conn);
void kit_prune(struct journal *j);

#endif
