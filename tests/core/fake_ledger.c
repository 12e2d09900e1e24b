/* SPDX-License-Identifier: MIT
 * Owns what the fake ledger keeps. */
#include "core/fake_ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct answer {
    ledger_done *done;
    void *ctx;
    enum record_status status;
    char *text;
};

static void tell(void *arg)
{
    struct answer *const a = arg;
    a->done(a->ctx, a->status, a->text);
    free(a->text);
    free(a);
}

static void answer(struct ledger *l, ledger_done *done, void *ctx, enum record_status status,
                   const char *text)
{
    if (!done)
        return;
    struct answer *const a = xmalloc(sizeof *a);
    *a = (struct answer){done, ctx, status, xstrdup(text)};
    loop_post(l->loop, tell, a);
}

static struct fake_turn *find(struct ledger *l, const char *id)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->turns[i].id, id) == 0)
            return &l->turns[i];
    return NULL;
}

static const struct fake_turn *find_message(const struct ledger *l, const struct record_turn *t)
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

void ledger_admit(struct ledger *l, const struct record_turn *t, ledger_done *done, void *ctx)
{
    const struct fake_turn *const known = find_message(l, t);
    if (known || l->admits != RECORD_DONE) {
        answer(l, done, ctx, known ? RECORD_UNCHANGED : l->admits, known ? known->id : NULL);
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
    answer(l, done, ctx, RECORD_DONE, NULL);
}

static enum record_status change(struct ledger *l, const char *id, const char *from, const char *to)
{
    struct fake_turn *const f = find(l, id);
    if (!f || strcmp(f->state, from) != 0)
        return RECORD_UNCHANGED;
    COPY(f->state, to);
    return RECORD_DONE;
}

void ledger_begin(struct ledger *l, const char *turn, const char *seen, const char *const *merged,
                  size_t n, ledger_done *done, void *ctx)
{
    const enum record_status status = change(l, turn, "waiting", "running");
    if (status == RECORD_DONE)
        COPY(find(l, turn)->seen, seen);
    for (size_t i = 0; i < n; i++)
        change(l, merged[i], "waiting", "merged");
    answer(l, done, ctx, status, NULL);
}

void ledger_merge(struct ledger *l, const char *turn, const char *into, ledger_done *done,
                  void *ctx)
{
    (void)into;
    answer(l, done, ctx, change(l, turn, "waiting", "merged"), NULL);
}

void ledger_cancel(struct ledger *l, const char *turn, ledger_done *done, void *ctx)
{
    answer(l, done, ctx, change(l, turn, "waiting", "cancelled"), NULL);
}

void ledger_forget_turn(struct ledger *l, const char *turn, ledger_done *done, void *ctx)
{
    answer(l, done, ctx, change(l, turn, "waiting", "forgotten"), NULL);
}

void ledger_note_result(struct ledger *l, const char *turn, struct str result, ledger_done *done,
                        void *ctx)
{
    (void)result;
    answer(l, done, ctx, find(l, turn) ? RECORD_DONE : RECORD_UNCHANGED, NULL);
}

void ledger_note_agent(struct ledger *l, const struct record_turn *t, ledger_done *done, void *ctx)
{
    struct fake_turn *const f = find(l, t->id);
    if (f) {
        f->pid = t->agent_pid;
        f->start = t->agent_start;
    }
    answer(l, done, ctx, f ? RECORD_DONE : RECORD_UNCHANGED, NULL);
}

void ledger_end_turn(struct ledger *l, const struct record_outcome *o, ledger_done *done, void *ctx)
{
    enum record_status status = l->ends;
    if (status == RECORD_DONE)
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

void fake_ledger_release(struct ledger *l)
{
    l->holds = false;
    answer(l, l->held, l->held_ctx, RECORD_DONE, NULL);
    l->held = NULL;
}

void ledger_put(struct ledger *l, const char *key, const char *value, ledger_done *done, void *ctx)
{
    if (strncmp(key, "process:", 8) == 0) {
        l->waiting += value ? 1 : -1;
        answer(l, done, ctx, RECORD_DONE, NULL);
        return;
    }
    COPY(l->key, value ? key : "");
    COPY(l->value, value);
    answer(l, done, ctx, RECORD_DONE, NULL);
}

void ledger_get(struct ledger *l, const char *key, ledger_done *done, void *ctx)
{
    const bool known = strcmp(l->key, key) == 0;
    answer(l, done, ctx, known ? RECORD_DONE : RECORD_UNCHANGED, known ? l->value : NULL);
}

enum record_status ledger_each_value(struct ledger *l, const char *prefix,
                                     void (*each)(void *ctx, const char *key, const char *value),
                                     void *ctx)
{
    (void)l, (void)prefix, (void)each, (void)ctx;
    return RECORD_DONE;
}

enum record_status ledger_approvals(struct ledger *l,
                                    void (*each)(void *ctx, const struct record_approval *a),
                                    void *ctx)
{
    (void)l;
    (void)each;
    (void)ctx;
    return RECORD_DONE;
}

void ledger_keep_approval(struct ledger *l, const struct record_approval *a, ledger_done *done,
                          void *ctx)
{
    (void)a;
    answer(l, done, ctx, RECORD_DONE, NULL);
}

void ledger_note_question(struct ledger *l, const struct record_question *q, ledger_done *done,
                          void *ctx)
{
    (void)q;
    answer(l, done, ctx, RECORD_DONE, NULL);
}

void ledger_forget_approvals(struct ledger *l, const struct record_approvals *which,
                             ledger_done *done, void *ctx)
{
    (void)which;
    answer(l, done, ctx, RECORD_DONE, NULL);
}

void fake_ledger_fini(struct ledger *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->turns[i].prompt);
        free(l->turns[i].route);
    }
    l->n = 0;
}

const char *fake_ledger_states(const struct ledger *l)
{
    static char out[FAKE_TURNS * 12];
    size_t len = 0;
    out[0] = 0;
    for (size_t i = 0; i < l->n; i++)
        len +=
            (size_t)snprintf(out + len, sizeof out - len, "%s%s", i ? " " : "", l->turns[i].state);
    return out;
}
