/* SPDX-License-Identifier: MIT
 * What the files of the journal share. */
#ifndef IO_JOURNAL_IMPL_H
#define IO_JOURNAL_IMPL_H

#include "io/journal.h"
#include "io/store.h"

struct journal {
    struct store *store;
    struct journal_limits limits;
    int64_t anchor_ms; /* wall minus monotonic clock at the start */
};

/* Unix milliseconds that no step of the wall clock moves while the host runs: for deadlines. */
int64_t journal_now(const struct journal *j);

/* store_transact, as a status: `changed` says what DONE or UNCHANGED is, after it. */
enum journal_status journal_transact(struct journal *j, enum store_commit how,
                                     int (*body)(struct sql *db, void *ctx), void *ctx,
                                     const bool *changed);
/* The status of a failure outside of a transaction. */
enum journal_status journal_failed(struct journal *j);
bool journal_key_fits(const char *key);

/* Live rows of ended turns that are not on the wire; turn NULL: of all turns. A row that people
 * have seen stays, for its remote_id. */
int journal_drop_live(struct sql *db, const char *turn);
/* Moves rows into the dead letters and logs each. `where` of the row: its seq. */
int journal_bury(struct sql *db, int64_t seq, const char *reason, int64_t now);

/* The key of a pause in kv, in SQL; conv '' for the whole connector. The length keeps two pairs
 * from meeting in one key. */
#define PAUSE_KEY(conn, conv) "'pause:'||length(" conn ")||':'||" conn "||':'||" conv

#endif
