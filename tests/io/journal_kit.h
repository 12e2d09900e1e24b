/* SPDX-License-Identifier: MIT
 * Helpers for the tests of the journal: one journal, a fake clock, and rows as text. */
#ifndef TESTS_IO_JOURNAL_KIT_H
#define TESTS_IO_JOURNAL_KIT_H

#include "io/journal/journal.h"

#define SECOND ((int64_t)1000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

extern char kit_dir[600]; /* the folder of the journal */

/* Opens a journal in a new folder, with the clock at its start; kit_reopen uses the same folder. */
struct journal *kit_fresh(void);
struct journal *kit_fresh_with(const struct journal_limits *limits);
struct journal *kit_reopen(const struct journal_limits *limits);

/* Admits a running turn of the message msg or NULL. */
enum journal_status kit_admit(struct journal *j, const char *id, const char *msg);
/* Admits a waiting turn. */
enum journal_status kit_wait(struct journal *j, const char *id);
/* Ends a turn whose outcome goes to tg and slack in the lane. */
enum journal_status kit_end(struct journal *j, const char *turn, const char *error,
                            const char *lane);
/* Begins and ends a turn. */
void kit_ended(struct journal *j, const char *turn, const char *lane);

/* Adds requests of turn t, lane c, with these bodies: "one two" are two requests. The functions
 * below interpret bodies in the same way. */
enum journal_status kit_add(struct journal *j, const char *bodies);
enum journal_status kit_expand(struct journal *j, const char *turn, const char *bodies);
/* Returns seq of the row of tg with this body; 0: none. */
int64_t kit_seq(struct journal *j, const char *body);
/* Starts an attempt of the row with this body. */
enum journal_status kit_start(struct journal *j, const char *body);
enum journal_status kit_settle(struct journal *j, const char *body, enum journal_result v,
                               const char *bodies);

/* Returns "body body…" in the order of the rows, each with the number of its attempts unless it is
 * 0, and with "?" when it is in doubt. */
const char *kit_rows_of(struct journal *j, const char *conn);
const char *kit_rows(struct journal *j); /* those of tg */

struct journal_stats kit_stats(struct journal *j);
/* Adds "id conn/lane turn kind reason attempts [body]", one line for each dead letter. */
void kit_on_dead(void *ctx, const struct journal_dead *d);
const char *kit_dead_of(struct journal *j, const char *conn);
void kit_prune(struct journal *j);

#endif
