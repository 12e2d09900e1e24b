/* SPDX-License-Identifier: MIT
 * Recovery: re-creates entries from journal rows from before a restart. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/log.h"
#include "plugin/outbox/outbox_internal.h"

#define MAX_LEFT_MS ((int64_t)10 * 366 * 24 * 3600 * 1000) /* minimal remaining time */

/* A row whose record is invalid. */
struct unreadable_row {
    struct unreadable_row *next;
    int64_t seq;
    const char *why; /* static text */
};

struct outbox_recovery {
    struct outbox *outbox;
    struct outbox_entry **items; /* in sending order */
    size_t count, room;
    struct unreadable_row *broken;
    int64_t only; /* this row; 0: all */
};

static void add_item(struct outbox_recovery *l, struct outbound_request *request,
                     const struct journal_row *row)
{
    l->items = alloc_grow(l->items, l->count, &l->room, sizeof *l->items);
    const int64_t delay = request->http.delay_ms - row->age_ms;
    struct outbox_entry *const item = outbox_entry_add(l->outbox, NULL, request);
    item->seq = row->seq;
    /* 0 would mean no limit, so an expired request gets a minimal remaining time. */
    item->left_ms = row->left_ms < 0 ? 1 : row->left_ms < MAX_LEFT_MS ? row->left_ms : 0;
    item->delay_ms = delay > 0 ? delay : 0;
    item->attempts = (uint32_t)row->attempts;
    item->in_doubt = row->in_doubt;
    item->asks_first = row->in_doubt;
    l->items[l->count++] = item;
}

/* Runs while the loop waits. Outcomes are delivered again by their owner. */
static void outbox_recovery_add_row(void *ctx, const struct journal_row *row)
{
    struct outbox_recovery *const l = ctx;
    if (row->kind != JOURNAL_REQUEST || (l->only && row->seq != l->only))
        return;
    const char *why;
    struct outbound_request *const request =
        outbound_unpack((uint64_t)row->seq * 2, row->turn, row->body, &why);
    if (request) {
        add_item(l, request, row);
        return;
    }
    struct unreadable_row *const b = xmalloc(sizeof *b);
    *b = (struct unreadable_row){.next = l->broken, .seq = row->seq, .why = why};
    l->broken = b;
}

static void outbox_recovery_give_up_unreadable(struct outbox_recovery *l)
{
    while (l->broken) {
        struct unreadable_row *const b = l->broken;
        const struct journal_settlement settlement = {.verdict = JOURNAL_FAIL, .reason = b->why};
        journal_async_settle_row(l->outbox->spec.journal, b->seq, &settlement, NULL, NULL);
        l->outbox->dead++;
        l->broken = b->next;
        free(b);
    }
}

static size_t outbox_recovery_count_requests(const struct outbox_recovery *l, const char *turn)
{
    size_t n = 0;
    for (size_t i = 0; i < l->count; i++)
        n += l->items[i] && strcmp(l->items[i]->request->turn, turn) == 0;
    return n;
}

static struct outbox_turn *find_resumed(const struct outbox *p, const char *id)
{
    struct outbox_turn *t = p->turns;
    while (t && !(t->is_resumed && strcmp(t->id, id) == 0))
        t = t->next;
    return t;
}

/* Copy of the journal's data of a turn. */
struct recovered_turn {
    const char *instance;
    struct channel_turn turn;
    struct arena arena;
};

static const char *outbox_recovery_copy_text(struct recovered_turn *k, const char *text)
{
    return arena_strdup(&k->arena, text);
}

static void outbox_recovery_read_turn(void *ctx, const struct journal_turn *t)
{
    struct recovered_turn *const k = ctx;
    k->turn.agent = outbox_recovery_copy_text(k, t->agent);
    k->turn.conversation = outbox_recovery_copy_text(k, t->conv);
    if (strcmp(t->source, k->instance) == 0)
        k->turn.route = outbox_recovery_copy_text(k, t->route);
}

/* NULL: the instance is gone. */
static struct outbox_turn *resume_turn(struct outbox_recovery *l, const char *id)
{
    struct outbox *const p = l->outbox;
    struct recovered_turn known = {
        .instance = p->instance,
        .turn = {.id = id,
                 .agent = "",
                 .requests = outbox_recovery_count_requests(l, id),
                 .over = true},
    };
    CLEANUP_BUF struct buf memory = {0};
    /* Unknown data is missing; the requests are sent all the same. */
    journal_async_list_open_find_turn(p->spec.journal, id, outbox_recovery_read_turn, &known);
    if (journal_async_get(p->spec.journal, p->instance, id, &memory) == JOURNAL_DONE)
        known.turn.memory = memory.p;
    void *const handle = p->spec.open ? p->spec.open(p->spec.ctx, &known.turn) : NULL;
    arena_fini(&known.arena);
    if (!handle)
        return NULL;
    outbox_open_turn(p, id, handle);
    p->turns->is_resumed = true;
    return p->turns;
}

/* Opens its turn with the first request; false: it stays in the journal. */
static bool outbox_recovery_assign_turn(struct outbox_recovery *l, struct outbox_entry *item)
{
    struct outbox *const p = l->outbox;
    const char *const id = item->request->turn;
    /* The connector has received the number of requests of a turn: a request that is added later
     * gets a separate turn. */
    struct outbox_turn *t = !*id ? &p->context : l->only ? NULL : find_resumed(p, id);
    if (!t)
        t = resume_turn(l, id);
    if (!t)
        return false;
    item->turn = t;
    t->items++;
    return true;
}

static void outbox_recovery_load(struct outbox *p, int64_t only)
{
    struct outbox_recovery l = {.outbox = p, .only = only};
    if (journal_async_list_open_list_rows(p->spec.journal, p->instance, outbox_recovery_add_row,
                                          &l) != JOURNAL_DONE)
        log_write(LOG_ERR, p->instance, "cannot read pending outbound requests from the journal");
    outbox_recovery_give_up_unreadable(&l);
    for (size_t i = 0; i < l.count; i++)
        if (!outbox_recovery_assign_turn(&l, l.items[i])) {
            outbox_entry_free(l.items[i]);
            l.items[i] = NULL;
        }
    for (size_t i = 0; i < l.count; i++)
        if (l.items[i])
            outbox_entry_submit(l.items[i], false);
    free(l.items);
}

void outbox_recover(struct outbox *p)
{
    outbox_recovery_load(p, 0);
}

void outbox_adopt_row(struct outbox *p, int64_t seq)
{
    outbox_recovery_load(p, seq);
}
