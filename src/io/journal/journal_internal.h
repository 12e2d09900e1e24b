/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the journal. */
#ifndef IO_JOURNAL_JOURNAL_INTERNAL_H
#define IO_JOURNAL_JOURNAL_INTERNAL_H

#include "io/journal/journal.h"
#include "io/store/store.h"

struct journal {
    struct store *store;
    struct journal_limits limits;
    bool more_to_prune;
    int64_t anchor_ms; /* wall minus monotonic clock at the start */
};

extern const char *const journal_schema[]; /* store_spec.schema */

/* Unix milliseconds for ages: not affected by steps of the wall clock while the host runs. */
int64_t journal_now_ms(const struct journal *j);

/* store_transact, with a status: `changed` chooses between DONE and UNCHANGED. */
enum journal_status journal_transact(struct journal *j, enum store_commit how,
                                     int (*body)(struct sql *db, void *ctx), void *ctx,
                                     const bool *changed);
/* Ends a read outside of a transaction: `status`, or FAILED (logged). */
enum journal_status journal_finish_read(struct journal *j, struct sql_rows *rows,
                                        enum journal_status status);
bool journal_is_key_valid(const char *key);

/* Expiry time of a new row; max_age_ms 0: default of the limits. */
int64_t journal_expiry_ms(const struct journal *j, int64_t max_age_ms);
/* Moves a row to the dead letters and logs it. */
int journal_move_to_dead(struct sql *db, int64_t seq, const char *reason, int64_t now);
/* Applies the limits to some rows, in a transaction. */
int journal_apply_limits(struct journal *j, struct sql *db);

/* journal_spent.c: adds to the sums of the turn's payers, in the transaction that ends it. */
int journal_spent_add(struct sql *db, const char *turn, const struct journal_spent *spent);

/* journal_question.c: cancels open requests, because their agents have ended. */
int journal_cancel_questions(struct sql *db, int64_t now);

#endif
