/* SPDX-License-Identifier: MIT
 * Compares the journal with the servers when this host leads an instance again: other hosts may
 * have adopted or delivered turns whose rows this host still has. Loop thread only. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/work/work_turn.h"

#define LOOK_MS 20 /* between two looks whether all turns have been read */

struct work_check {
    LIST_ENTRY(work_check) next;
    struct work_share *share;
    char *source;
    struct buf ids;  /* what the journal has of it */
    bool is_listing; /* the journal is listed */
    bool is_begun;   /* it was listed once, so all turns are known … */
    bool is_listed; /* … and once more when all of them had been read: some may have ended since */
    void (*done)(void *ctx, const char *instance); /* NULL: no caller waits for the check */
    void *ctx;
};

static void work_check_on_list(void *ctx, enum journal_status status, const char *text);

static void work_check_free(struct work_check *c)
{
    LIST_REMOVE(c, next);
    buf_fini(&c->ids);
    free(c->source);
    free(c);
}

static bool work_check_is_ready(const struct work_check *c)
{
    const struct work_turn *t;
    LIST_FOREACH (t, &c->share->turns, next)
        if (strcmp(t->source, c->source) == 0 && !work_turn_is_checked(t))
            return false;
    return c->is_begun && !c->is_listing;
}

static void work_check_list(struct work_check *c)
{
    c->is_listing = true;
    buf_reset(&c->ids);
    journal_async_list_untold(c->share->spec.journal, c->source, work_check_on_list, c);
}

/* A turn that runs here goes on, without the instance (work_share_is_adopted); what would be
 * delivered of one that has ended is removed. */
static void work_check_finish(struct work_check *c)
{
    struct work_share *const s = c->share;
    const struct work_turn *t;
    LIST_FOREACH (t, &s->turns, next) {
        const char left = work_look_find(c->ids.p, t->id);
        if (strcmp(t->source, c->source) == 0 && t->state == TURN_ELSEWHERE && !t->done && left &&
            left != 'b')
            journal_async_remove_turn(s->spec.journal, t->id, NULL, NULL);
    }
    c->done(c->ctx, c->source);
    work_check_free(c);
}

void work_check_on_timer(void *arg)
{
    struct work_share *const s = arg;
    struct work_check *c, *next;
    for (c = LIST_FIRST(&s->checks); c; c = next) {
        next = LIST_NEXT(c, next);
        if (!c->done || !work_check_is_ready(c))
            continue;
        if (c->is_listed)
            work_check_finish(c);
        else
            work_check_list(c);
    }
    if (!LIST_EMPTY(&s->checks))
        loop_timer_set(s->check_timer, LOOK_MS);
}

static void work_check_turns(const struct work_check *c)
{
    struct work_turn *t, *next;
    for (t = LIST_FIRST(&c->share->turns); t; t = next) {
        next = LIST_NEXT(t, next);
        if (strcmp(t->source, c->source) != 0)
            continue;
        t->left = work_look_find(c->ids.p, t->id);
        work_turn_check(t);
    }
}

static void work_check_on_list(void *ctx, enum journal_status status, const char *text)
{
    struct work_check *const c = ctx;
    (void)status; /* what cannot be read is not delivered either */
    c->is_listing = false;
    if (!c->done) {
        work_check_free(c);
        return;
    }
    c->is_listed = c->is_begun;
    c->is_begun = true;
    buf_add_str(&c->ids, text ? text : "");
    work_look_add_new(c->share, c->source, c->ids.p ? c->ids.p : "");
    if (!c->is_listed)
        work_check_turns(c);
    loop_timer_set(c->share->check_timer, 0);
}

/* The answer of the journal may still come. */
static void work_check_forget(struct work_check *c)
{
    c->done = NULL;
    if (!c->is_listing)
        work_check_free(c);
}

void work_check_close(struct work_share *s)
{
    struct work_check *c, *next;
    for (c = LIST_FIRST(&s->checks); c; c = next) {
        next = LIST_NEXT(c, next);
        work_check_forget(c);
    }
    loop_timer_free(s->check_timer);
}

void work_share_check(struct work *w, const char *instance,
                      void (*done)(void *ctx, const char *instance), void *ctx)
{
    struct work_share *const s = w->share;
    struct work_check *c, *next;
    for (c = LIST_FIRST(&s->checks); c; c = next) {
        next = LIST_NEXT(c, next);
        if (strcmp(c->source, instance) == 0)
            work_check_forget(c);
    }
    c = xcalloc(1, sizeof *c);
    *c = (struct work_check){.share = s, .source = xstrdup(instance), .done = done, .ctx = ctx};
    LIST_INSERT_HEAD(&s->checks, c, next);
    work_check_list(c);
}
