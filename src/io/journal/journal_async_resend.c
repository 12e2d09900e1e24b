/* SPDX-License-Identifier: MIT
 * Moves the dead letters of a turn to the outbox: an order to the journal's thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "io/journal/journal_async_internal.h"

struct journal_resend {
    struct journal_async *journal;
    char *conn, *turn, *lane;
    int64_t first, count;
    enum journal_status status;
    journal_done_fn *done;
    void *ctx;
};

static void journal_resend_run(void *arg)
{
    struct journal_resend *const o = arg;
    const struct journal_dead which = {.conn = o->conn, .turn = o->turn, .lane = o->lane};
    o->status = journal_dead_retry_turn(o->journal->journal, &which, o->first, JOURNAL_RETRY_MAX,
                                        &o->count);
}

static void journal_resend_complete(void *arg)
{
    struct journal_resend *const o = arg;
    char count[24];
    snprintf(count, sizeof count, "%" PRId64, o->count);
    o->done(o->ctx, o->status, count);
    free(o->conn);
    free(o->turn);
    free(o->lane);
    free(o);
}

int64_t journal_async_retry_turn(struct journal_async *l, const char *conn, const char *turn,
                                 const char *lane, journal_done_fn *done, void *ctx)
{
    struct journal_resend *const o = xmalloc(sizeof *o);
    const int64_t first = l->next_seq;
    *o = (struct journal_resend){.journal = l,
                                 .conn = xstrdup(conn),
                                 .turn = xstrdup(turn),
                                 .lane = xstrdup(lane),
                                 .first = first,
                                 .done = done,
                                 .ctx = ctx};
    l->next_seq += JOURNAL_RETRY_MAX;
    worker_submit(l->worker, journal_resend_run, journal_resend_complete, o);
    return first;
}
