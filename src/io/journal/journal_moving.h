/* SPDX-License-Identifier: MIT
 * Requests of the outbox that go from the journal of one host to that of another. The receiver
 * stores a request under the id of its offer, once for each id. */
#ifndef IO_JOURNAL_JOURNAL_MOVING_H
#define IO_JOURNAL_JOURNAL_MOVING_H

#include "base/attr.h"
#include "io/journal/journal_types.h"

struct journal;
struct journal_async;

/* The place of a row among those of its connector. */
struct journal_place {
    int64_t pos, sub;
};
#define JOURNAL_BEFORE_ALL ((struct journal_place){INT64_MIN, INT64_MIN})

/* A request with all that another host needs to send it. Texts are borrowed for the call. */
struct journal_moving {
    const char *conn, *lane, *turn;
    int64_t priority, attempts, crashes;
    bool in_doubt;
    int64_t age_ms, left_ms; /* left_ms: as journal_row */
    struct str body;
    const char *memory; /* of the connector for this turn; or NULL */
    /* The record of a turn that has ended; agent NULL: unknown, or it is not to be stored. */
    const char *agent, *conversation, *source, *route;
    /* Set when it is read from the journal. */
    int64_t seq;
    struct journal_place place;
    bool is_open;     /* its turn has not ended */
    bool has_outcome; /* the outcome of its turn waits for this connector, too */
};

/* Before the name of the instance, in the place of a boot's id: of a turn that another host has
 * given for that instance. */
#define JOURNAL_GIVEN "given:"

/* Calls `each` for the next queued request of the connector behind `after`; with seq, for that one
 * instead. UNCHANGED: there is none. */
enum journal_status journal_find_moving(struct journal *j, const char *conn,
                                        struct journal_place after, int64_t seq,
                                        void (*each)(void *ctx, const struct journal_moving *m),
                                        void *ctx) MUST_CHECK;
/* Stores the request behind all others, with the number seq; also its memory and the record of its
 * turn, unless the journal has one. Durable. UNCHANGED: the offer with this id was stored before,
 * or the turn began here through the same connector, so this host sends its requests itself. */
enum journal_status journal_store_moving(struct journal *j, const char *id,
                                         const struct journal_moving *m, int64_t seq) MUST_CHECK;
/* UNCHANGED: no offer with this id was stored. */
enum journal_status journal_find_offer(struct journal *j, const char *conn,
                                       const char *id) MUST_CHECK;

/* ---- the same through journal_async.h; `moving` is NULL unless the status is DONE */

typedef void journal_found_moving(void *ctx, enum journal_status status,
                                  const struct journal_moving *moving);
void journal_async_find_moving(struct journal_async *l, const char *conn,
                               struct journal_place after, int64_t seq, journal_found_moving *found,
                               void *ctx);
typedef void journal_stored_moving(void *ctx, enum journal_status status);
/* Returns the number of the row, as journal_async_add_requests. */
int64_t journal_async_store_moving(struct journal_async *l, const char *id,
                                   const struct journal_moving *m, journal_stored_moving *done,
                                   void *ctx);
void journal_async_find_offer(struct journal_async *l, const char *conn, const char *id,
                              journal_stored_moving *done, void *ctx);

#endif
