/* SPDX-License-Identifier: MIT
 * Owns the way back of what an earlier run left in the ledger. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/log.h"
#include "plugin/outbox/outbox_internal.h"

#define MAX_LEFT_MS ((int64_t)10 * 366 * 24 * 3600 * 1000) /* as good as none */

/* A row whose record cannot be read. */
struct broken {
    struct broken *next;
    int64_t seq;
    const char *why; /* static */
};

struct loading {
    struct post *post;
    struct post_item **items; /* in the order in which they are to go */
    size_t count, room;
    struct broken *broken;
    int64_t only; /* this row; 0: all */
};

static void add_item(struct loading *l, struct letter *letter, const struct record_row *row)
{
    if (l->count == l->room) {
        l->room = l->room ? l->room * 2 : 64;
        l->items = xrealloc(l->items, l->room * sizeof *l->items);
    }
    const int64_t delay = letter->http.delay_ms - row->age_ms;
    struct post_item *const item = post_add_item(l->post, NULL, letter);
    item->seq = row->seq;
    /* 0 is no bound, so what is too old just now has a moment left. */
    item->left_ms = row->left_ms < 0 ? 1 : row->left_ms < MAX_LEFT_MS ? row->left_ms : 0;
    item->delay_ms = delay > 0 ? delay : 0;
    item->attempts = (uint32_t)row->attempts;
    item->in_doubt = row->in_doubt;
    item->asks_first = row->in_doubt;
    l->items[l->count++] = item;
}

/* While the loop stands still. Outcomes are cast again by who cast them. */
static void each_row(void *ctx, const struct record_row *row)
{
    struct loading *const l = ctx;
    if (row->kind != RECORD_REQUEST || (l->only && row->seq != l->only))
        return;
    const char *why;
    struct letter *const letter = letter_unpack((uint64_t)row->seq * 2, row->turn, row->body, &why);
    if (letter) {
        add_item(l, letter, row);
        return;
    }
    struct broken *const b = xmalloc(sizeof *b);
    *b = (struct broken){.next = l->broken, .seq = row->seq, .why = why};
    l->broken = b;
}

static void bury_broken(struct loading *l)
{
    while (l->broken) {
        struct broken *const b = l->broken;
        const struct record_settlement settlement = {.verdict = RECORD_FAIL, .reason = b->why};
        ledger_settle(l->post->spec.ledger, b->seq, &settlement, NULL, NULL);
        l->post->dead++;
        l->broken = b->next;
        free(b);
    }
}

static size_t count_letters(const struct loading *l, const char *turn)
{
    size_t n = 0;
    for (size_t i = 0; i < l->count; i++)
        n += l->items[i] && strcmp(l->items[i]->letter->turn, turn) == 0;
    return n;
}

static struct post_turn *find_resumed(const struct post *p, const char *id)
{
    struct post_turn *t = p->turns;
    while (t && !(t->is_resumed && strcmp(t->id, id) == 0))
        t = t->next;
    return t;
}

/* What the ledger knows of a turn, copied. */
struct known {
    const char *instance;
    struct channel_turn turn;
    struct arena arena;
};

static const char *copy(struct known *k, const char *text)
{
    return arena_strdup(&k->arena, text);
}

static void each_turn(void *ctx, const struct record_turn *t)
{
    struct known *const k = ctx;
    k->turn.agent = copy(k, t->agent);
    k->turn.conversation = copy(k, t->conv);
    if (strcmp(t->source, k->instance) == 0)
        k->turn.route = copy(k, t->route);
}

/* NULL: the instance is gone. */
static struct post_turn *resume_turn(struct loading *l, const char *id)
{
    struct post *const p = l->post;
    struct known known = {
        .instance = p->instance,
        .turn = {.id = id, .agent = "", .letters = count_letters(l, id), .over = true},
    };
    CLEANUP_BUF struct buf memory = {0};
    /* What is not known any more is missing; the requests go all the same. */
    ledger_find_turn(p->spec.ledger, id, each_turn, &known);
    if (ledger_recall(p->spec.ledger, p->instance, id, &memory) == RECORD_DONE)
        known.turn.memory = memory.p;
    void *const handle = p->spec.open ? p->spec.open(p->spec.ctx, &known.turn) : NULL;
    arena_fini(&known.arena);
    if (!handle)
        return NULL;
    post_open_turn(p, id, handle);
    p->turns->is_resumed = true;
    return p->turns;
}

/* Its turn, opened with the first letter of it; false: it stays in the ledger. */
static bool join_turn(struct loading *l, struct post_item *item)
{
    struct post *const p = l->post;
    const char *const id = item->letter->turn;
    struct post_turn *t = *id ? find_resumed(p, id) : &p->lobby;
    if (!t)
        t = resume_turn(l, id);
    if (!t)
        return false;
    item->turn = t;
    t->items++;
    return true;
}

static void load(struct post *p, int64_t only)
{
    struct loading l = {.post = p, .only = only};
    if (ledger_load(p->spec.ledger, p->instance, each_row, &l) != RECORD_DONE)
        log_line(LOG_ERR, p->instance, "what an earlier run left cannot be read");
    bury_broken(&l);
    for (size_t i = 0; i < l.count; i++)
        if (!join_turn(&l, l.items[i])) {
            post_free_item(l.items[i]);
            l.items[i] = NULL;
        }
    for (size_t i = 0; i < l.count; i++)
        if (l.items[i])
            post_submit_item(l.items[i], false);
    free(l.items);
}

void post_load(struct post *p)
{
    load(p, 0);
}

void post_take_row(struct post *p, int64_t seq)
{
    load(p, seq);
}
