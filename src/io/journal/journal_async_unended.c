/* SPDX-License-Identifier: MIT
 * Turns whose outcome could not be written, but was delivered: their end is written when the disk
 * has room again; otherwise the host would deliver a different outcome after a restart. */
#include <stdlib.h>

#include "base/alloc.h"
#include "io/journal/journal_async_internal.h"

struct unrecorded_end {
    struct unrecorded_end *next;
    char *turn, *error;         /* error: or NULL */
    struct journal_spent spent; /* a struct of zeros is empty */
};

void journal_async_add_unrecorded_end(struct journal_async *l, const struct journal_outcome *what)
{
    struct unrecorded_end *const u = xmalloc(sizeof *u);
    *u = (struct unrecorded_end){l->unended, xstrdup(what->turn),
                                 what->error ? xstrndup(what->error, JOURNAL_MAX_KEY) : NULL,
                                 what->spent ? *what->spent : (struct journal_spent){0}};
    l->unended = u;
}

static void free_unended(struct journal_async *l)
{
    struct unrecorded_end *const u = l->unended;
    l->unended = u->next;
    free(u->turn);
    free(u->error);
    free(u);
}

/* Writes the ends of all such turns. */
void journal_async_end_again(void *journal)
{
    struct journal_async *const l = journal;
    while (l->unended) {
        const struct journal_spent *const spent = &l->unended->spent;
        const struct journal_outcome o = {.turn = l->unended->turn,
                                          .error = l->unended->error,
                                          .spent = spent->day ? spent : NULL};
        if (!journal_async_is_done(journal_end_turn(l->journal, &o, 0)))
            return;
        free_unended(l);
    }
}

void journal_async_free_unended(struct journal_async *l)
{
    while (l->unended)
        free_unended(l);
}
