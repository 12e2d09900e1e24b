/* SPDX-License-Identifier: MIT
 * Turns whose outcome could not be written, and was told all the same: they are over, and what is
 * known of them has to say so when there is room again, or the next host would tell another. */
#include <stdlib.h>

#include "base/alloc.h"
#include "io/journal/journal_async_internal.h"

struct unrecorded_end {
    struct unrecorded_end *next;
    char *turn, *error;         /* error: or NULL */
    struct journal_spent spent; /* all zero: nothing */
};

void journal_async_note_unended(struct journal_async *l, const struct journal_outcome *what)
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

/* Everybody has been told. */
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
