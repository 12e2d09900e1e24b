/* SPDX-License-Identifier: MIT
 * Owns what the fake ledger keeps. */
#include "core/fake_ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"

struct answer {
    struct journal_async *ledger;
    journal_done_fn *done;
    void *ctx;
    enum journal_status status;
    char *text;
};

static void tell(void *arg)
{
    struct answer *const a = arg;
    a->done(a->ctx, a->status, a->text);
    a->ledger->pending--;
    free(a->text);
    free(a);
}

static void answer(struct journal_async *l, journal_done_fn *done, void *ctx,
                   enum journal_status status, const char *text)
{
    if (!done)
        return;
    struct answer *const a = xmalloc(sizeof *a);
    *a = (struct answer){l, done, ctx, status, xstrdup(text)};
    l->pending++;
    loop_post(l->loop, tell, a);
}

static struct fake_turn *find(struct journal_async *l, const char *id)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->turns[i].id, id) == 0)
            return &l->turns[i];
    return NULL;
}

static const struct fake_turn *find_message(const struct journal_async *l,
                                            const struct journal_turn *t)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct fake_turn *const f = &l->turns[i];
        if (strcmp(f->source, t->source) == 0 &&
            ((t->msg_id && strcmp(f->msg_id, t->msg_id) == 0) ||
             (t->also && strcmp(f->also, t->also) == 0)))
            return f;
    }
    return NULL;
}

#define COPY(to, from) snprintf(to, sizeof(to), "%s", (from) ? (from) : "")

void journal_async_admit_turn(struct journal_async *l, const struct journal_turn *t,
                              journal_done_fn *done, void *ctx)
{
    const struct fake_turn *const known = find_message(l, t);
    if (known || l->admits != JOURNAL_DONE) {
        answer(l, done, ctx, known ? JOURNAL_NO_CHANGE : l->admits, known ? known->id : NULL);
        return;
    }
    struct fake_turn *const f = &l->turns[l->n++];
    COPY(f->id, t->id);
    COPY(f->conv, t->conv);
    COPY(f->source, t->source);
    COPY(f->msg_id, t->msg_id);
    COPY(f->also, t->also);
    COPY(f->state, t->waiting ? "waiting" : "running");
    f->prompt = xstrdup(t->prompt);
    f->route = xstrdup(t->route);
    f->instances = xstrdup(t->instances);
    answer(l, done, ctx, JOURNAL_DONE, NULL);
}

static enum journal_status change(struct journal_async *l, const char *id, const char *from,
                                  const char *to)
{
    struct fake_turn *const f = find(l, id);
    if (!f || strcmp(f->state, from) != 0)
        return JOURNAL_NO_CHANGE;
    COPY(f->state, to);
    return JOURNAL_DONE;
}

void journal_async_begin(struct journal_async *l, const char *turn, const char *seen,
                         const char *const *merged, size_t n, journal_done_fn *done, void *ctx)
{
    const enum journal_status status = change(l, turn, "waiting", "running");
    if (status == JOURNAL_DONE)
        COPY(find(l, turn)->seen, seen);
    for (size_t i = 0; i < n; i++)
        change(l, merged[i], "waiting", "merged");
    answer(l, done, ctx, status, NULL);
}

void journal_async_merge(struct journal_async *l, const char *turn, const char *into,
                         journal_done_fn *done, void *ctx)
{
    (void)into;
    answer(l, done, ctx, change(l, turn, "waiting", "merged"), NULL);
}

void journal_async_cancel(struct journal_async *l, const char *turn, journal_done_fn *done,
                          void *ctx)
{
    answer(l, done, ctx, change(l, turn, "waiting", "cancelled"), NULL);
}

void journal_async_delete_waiting_turn(struct journal_async *l, const char *turn,
                                       journal_done_fn *done, void *ctx)
{
    answer(l, done, ctx, change(l, turn, "waiting", "forgotten"), NULL);
}

void journal_async_list_untold(struct journal_async *l, const char *source, journal_done_fn *done,
                               void *ctx)
{
    CLEANUP_BUF struct buf ids = {0};
    for (size_t i = 0; i < l->n; i++) {
        const struct fake_turn *const t = &l->turns[i];
        if (strcmp(t->source, source) == 0 &&
            (strcmp(t->state, "waiting") == 0 || strcmp(t->state, "running") == 0))
            buf_printf(&ids, "b%s\n", t->id);
    }
    answer(l, done, ctx, JOURNAL_DONE, ids.p);
}

void journal_async_remove_turn(struct journal_async *l, const char *turn, journal_done_fn *done,
                               void *ctx)
{
    struct fake_turn *const t = find(l, turn);
    if (t)
        COPY(t->state, "removed");
    answer(l, done, ctx, t ? JOURNAL_DONE : JOURNAL_NO_CHANGE, NULL);
}

void journal_async_set_late_result(struct journal_async *l, const char *turn, struct str result,
                                   journal_done_fn *done, void *ctx)
{
    (void)result;
    answer(l, done, ctx, find(l, turn) ? JOURNAL_DONE : JOURNAL_NO_CHANGE, NULL);
}

int64_t journal_async_retry_turn(struct journal_async *l, const char *conn, const char *turn,
                                 const char *lane, journal_done_fn *done, void *ctx)
{
    char count[20];
    snprintf(l->resent, sizeof l->resent, "%s %s %s", conn, turn, lane);
    snprintf(count, sizeof count, "%u", l->letters);
    answer(l, done, ctx, l->letters ? JOURNAL_DONE : JOURNAL_NO_CHANGE, count);
    return 500;
}

void journal_async_set_agent_process(struct journal_async *l, const struct journal_turn *t,
                                     journal_done_fn *done, void *ctx)
{
    struct fake_turn *const f = find(l, t->id);
    if (f) {
        f->pid = t->agent_pid;
        f->start = t->agent_start;
    }
    answer(l, done, ctx, f ? JOURNAL_DONE : JOURNAL_NO_CHANGE, NULL);
}

void journal_async_end_turn(struct journal_async *l, const struct journal_outcome *o,
                            journal_done_fn *done, void *ctx)
{
    enum journal_status status = l->ends;
    if (status == JOURNAL_DONE)
        status = change(l, o->turn, "running", "ended");
    struct fake_turn *const f = find(l, o->turn);
    if (f) {
        COPY(f->error, o->error);
        f->targets = (unsigned)o->n;
    }
    if (!l->holds) {
        answer(l, done, ctx, status, NULL);
        return;
    }
    l->held = done;
    l->held_ctx = ctx;
}

void fake_ledger_release(struct journal_async *l)
{
    l->holds = false;
    answer(l, l->held, l->held_ctx, JOURNAL_DONE, NULL);
    l->held = NULL;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_session(const char *key)
{
    return begins(key, "session:") || begins(key, "spent:");
}

static struct fake_pair *find_pair(struct journal_async *l, const char *key)
{
    struct fake_pair *free_one = NULL;
    for (size_t i = 0; i < FAKE_PAIRS; i++) {
        if (l->pairs[i].key && strcmp(l->pairs[i].key, key) == 0)
            return &l->pairs[i];
        if (!l->pairs[i].key && !free_one)
            free_one = &l->pairs[i];
    }
    return free_one;
}

static void put_pair(struct fake_pair *p, const char *key, const char *value)
{
    free(p->key);
    free(p->value);
    *p = (struct fake_pair){value ? xstrdup(key) : NULL, xstrdup(value)};
}

void journal_async_add_spent(struct journal_async *l, const char *turn,
                             const struct journal_spent *spent)
{
    (void)l;
    (void)turn;
    (void)spent;
}

enum journal_status
journal_async_list_spent(struct journal_async *l, int64_t day,
                         void (*each)(void *ctx, const struct journal_spent_row *row), void *ctx)
{
    (void)l;
    (void)day;
    (void)each;
    (void)ctx;
    return JOURNAL_DONE;
}

void journal_async_kv_put(struct journal_async *l, const char *key, const char *value,
                          journal_done_fn *done, void *ctx)
{
    if (strncmp(key, "process:", 8) == 0) {
        l->waiting += value ? 1 : -1;
        answer(l, done, ctx, JOURNAL_DONE, NULL);
        return;
    }
    if (!is_session(key)) {
        put_pair(find_pair(l, key), key, value);
    } else {
        COPY(l->key, value ? key : "");
        COPY(l->value, value);
    }
    answer(l, done, ctx, JOURNAL_DONE, NULL);
}

void journal_async_kv_get(struct journal_async *l, const char *key, journal_done_fn *done,
                          void *ctx)
{
    const struct fake_pair *const p = find_pair(l, key);
    const char *const value = is_session(key) ? (strcmp(l->key, key) == 0 ? l->value : NULL)
                              : p             ? p->value
                                              : NULL;
    answer(l, done, ctx, value ? JOURNAL_DONE : JOURNAL_NO_CHANGE, value);
}

void journal_async_memory_put(struct journal_async *l, const char *conn, const char *turn,
                              const char *text, journal_done_fn *done, void *ctx)
{
    (void)conn;
    put_pair(find_pair(l, turn), turn, text);
    answer(l, done, ctx, JOURNAL_DONE, NULL);
}

enum journal_status
journal_async_kv_each(struct journal_async *l, const char *prefix,
                      void (*each)(void *ctx, const char *key, const char *value), void *ctx)
{
    for (size_t i = 0; i < FAKE_PAIRS; i++)
        if (l->pairs[i].key && begins(l->pairs[i].key, prefix))
            each(ctx, l->pairs[i].key, l->pairs[i].value);
    return JOURNAL_DONE;
}

enum journal_status journal_async_list_open_list_approvals(
    struct journal_async *l, void (*each)(void *ctx, const struct journal_approval *a), void *ctx)
{
    (void)l;
    (void)each;
    (void)ctx;
    return JOURNAL_DONE;
}

void journal_async_put_approval(struct journal_async *l, const struct journal_approval *a,
                                journal_done_fn *done, void *ctx)
{
    (void)a;
    answer(l, done, ctx, JOURNAL_DONE, NULL);
}

void journal_async_put_question(struct journal_async *l, const struct journal_question *q,
                                journal_done_fn *done, void *ctx)
{
    (void)q;
    answer(l, done, ctx, JOURNAL_DONE, NULL);
}

void journal_async_delete_approvals(struct journal_async *l,
                                    const struct journal_approval_filter *which,
                                    journal_done_fn *done, void *ctx)
{
    (void)which;
    answer(l, done, ctx, JOURNAL_DONE, NULL);
}

void fake_ledger_fini(struct journal_async *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->turns[i].prompt);
        free(l->turns[i].route);
        free(l->turns[i].instances);
    }
    l->n = 0;
    for (size_t i = 0; i < FAKE_PAIRS; i++)
        put_pair(&l->pairs[i], NULL, NULL);
}

const char *fake_ledger_states(const struct journal_async *l)
{
    static char out[FAKE_TURNS * 12];
    size_t len = 0;
    out[0] = 0;
    for (size_t i = 0; i < l->n; i++)
        len +=
            (size_t)snprintf(out + len, sizeof out - len, "%s%s", i ? " " : "", l->turns[i].state);
    return out;
}
