/* SPDX-License-Identifier: MIT
 * Short words for the tests of the journal: one journal, one row in flight, a fake clock. */
#ifndef TESTS_IO_JOURNAL_KIT_H
#define TESTS_IO_JOURNAL_KIT_H

#include "io/journal.h"

#define SECOND ((int64_t)1000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

extern char kit_dir[600];          /* where the journal is */
extern struct journal_row kit_row; /* claimed last */

/* A new folder, the clock at its start; and the same folder again. */
struct journal *kit_fresh(void);
struct journal *kit_fresh_with(const struct journal_limits *limits);
struct journal *kit_reopen(const struct journal_limits *limits);

enum journal_status kit_admit(struct journal *j, const char *id, const char *msg);
struct journal_target kit_target(const char *conn, const char *conv, const char *body);
/* Ends a turn for tg/conv and slack/conv. */
enum journal_status kit_end(struct journal *j, const char *turn, const char *error,
                            const char *conv);
/* A turn that began and ended. */
void kit_ended(struct journal *j, const char *turn, const char *conv);
/* A live row for tg/c1. */
enum journal_status kit_live(struct journal *j, const char *turn, const char *body);

/* Claims into kit_row; "turn slot gen attempts" of the row, with " doubt" and " id=…",
 * " live=…"; "-" when nothing is due, and kit_row is as it was. kit_claim: any lane of tg. */
const char *kit_claim_of(struct journal *j, const char *conn, const char *conv);
const char *kit_claim(struct journal *j);
/* Answers of kit_row. */
enum journal_status kit_sent(struct journal *j, const char *remote_id);
enum journal_status kit_later(struct journal *j, int64_t delay_ms, enum journal_hold hold);
enum journal_status kit_verdict(struct journal *j, enum journal_verdict v);

struct journal_stats kit_stats(struct journal *j);
/* "id conn/conv turn slot reason attempts [body]", one line each. */
void kit_on_dead(void *ctx, const struct journal_dead *d);
const char *kit_dead_of(struct journal *j, const char *conn);
void kit_prune(struct journal *j);

#endif
