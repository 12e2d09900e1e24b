/* SPDX-License-Identifier: MIT
 * Owns outcomes that an earlier host kept, and that the instance has not dealt with. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/connector/connector_internal.h"
#include "event/codec.h"
#include "io/journal/journal_async.h"

struct recast {
    struct recast *next;
    struct runner *runner; /* NULL: it has ended */
    int64_t seq;
    char *turn;
    struct buf line; /* the outcome */
    void *handle;    /* NULL: it is not open */
    bool begun;      /* the ledger has been asked */
};

/* ---- what there is ---- */

struct loading {
    struct runner *runner;
    int64_t only; /* this row; 0: all */
};

static void add_row(void *ctx, const struct record_row *row)
{
    const struct loading *const l = ctx;
    struct runner *const r = l->runner;
    if (row->kind != RECORD_OUTCOME || (l->only && row->seq != l->only) ||
        runner_is_early(r, row->turn))
        return;
    struct recast *const o = xcalloc(1, sizeof *o);
    o->runner = r;
    o->seq = row->seq;
    o->turn = xstrdup(row->turn);
    buf_add(&o->line, row->body.p, row->body.len);
    struct recast **at = &r->recasts;
    while (*at)
        at = &(*at)->next;
    *at = o;
}

void recast_load(struct runner *r, int64_t only)
{
    struct loading l = {r, only};
    if (ledger_load(r->services.ledger, r->name, add_row, &l) == RECORD_FAILED)
        log_line(LOG_ERR, "host", "instance %s: what it has still to be told cannot be read",
                 r->name);
}

static void free_recast(struct recast *o)
{
    for (struct recast **at = o->runner ? &o->runner->recasts : NULL; at && *at; at = &(*at)->next)
        if (*at == o) {
            *at = o->next;
            break;
        }
    buf_fini(&o->line);
    free(o->turn);
    free(o);
}

void recast_fini(struct runner *r)
{
    for (struct recast *o = r->recasts; o; o = o->next)
        o->runner = NULL; /* it is freed when the ledger has answered */
    r->recasts = NULL;
}

/* ---- turns of an earlier host ---- */

struct known {
    struct arena arena;
    const char *instance;
    struct channel_turn turn;
};

static void read_turn(void *ctx, const struct record_turn *t)
{
    struct known *const k = ctx;
    k->turn.agent = arena_strdup(&k->arena, t->agent);
    if (*t->conv)
        k->turn.conversation = arena_strdup(&k->arena, t->conv);
    if (t->route && strcmp(t->source, k->instance) == 0)
        k->turn.route = arena_strdup(&k->arena, t->route);
}

static struct recast *find(const struct runner *r, const char *turn)
{
    struct recast *o = r->recasts;
    while (o && strcmp(o->turn, turn) != 0)
        o = o->next;
    return o;
}

void recast_recall(const struct runner *r, const char *turn, struct buf *memory)
{
    if (r->services.ledger &&
        ledger_recall(r->services.ledger, r->name, turn, memory) == RECORD_FAILED)
        log_line(LOG_ERR, "host", "what instance %s remembers of turn %s cannot be read", r->name,
                 turn);
}

static void *open_known(struct runner *r, const struct channel_turn *turn)
{
    struct known k = {.instance = r->name, .turn = *turn};
    CLEANUP_BUF struct buf memory = {0};
    if (r->services.ledger) {
        if (ledger_find_turn(r->services.ledger, turn->id, read_turn, &k) == RECORD_FAILED ||
            ledger_recall(r->services.ledger, r->name, turn->id, &memory) == RECORD_FAILED)
            log_line(LOG_ERR, "host", "what is known of turn %s cannot be read", turn->id);
        if (memory.len)
            k.turn.memory = memory.p;
    }
    if (!k.turn.agent)
        k.turn.agent = "";
    void *const handle = r->channel->ops->open(r->channel, &k.turn);
    r->turns += handle != NULL;
    arena_fini(&k.arena);
    return handle;
}

/* One that has an outcome, too, is opened once. */
void *recast_open(void *runner, const struct channel_turn *turn)
{
    struct runner *const r = runner;
    struct recast *const o = find(r, turn->id);
    struct channel_turn opened = *turn;
    opened.over = !o;
    void *const handle = open_known(r, &opened);
    if (o)
        o->handle = handle;
    return handle;
}

/* ---- casting ---- */

static void send(const struct runner *r, void *handle, const struct event *ev)
{
    r->channel->ops->send(r->channel, handle, event_box_new(ev));
}

/* What is told around an outcome comes from where that does. */
static void take_origin(struct event *ev, const struct event *outcome)
{
    ev->meta.src = outcome ? outcome->meta.src : "turncast";
    ev->meta.session_id = outcome ? outcome->meta.session_id : "";
}

static void send_start(const struct runner *r, void *handle, const char *turn,
                       const struct event *outcome)
{
    struct event start;
    event_init_resumed(&start, turn, clock_wall());
    take_origin(&start, outcome);
    send(r, handle, &start);
}

void *runner_reopen(struct runner *r, const struct channel_turn *turn)
{
    void *const handle = runner_open(r, turn);
    if (handle)
        send_start(r, handle, turn->id, NULL);
    return handle;
}

/* outcome NULL: the ledger has given it up. */
static void cast(const struct recast *o, struct event *outcome)
{
    send_start(o->runner, o->handle, o->turn, outcome);
    if (outcome) {
        outcome->u.meta = &outcome->meta;
        send(o->runner, o->handle, outcome);
    }
    struct event done;
    event_init(&done, TC_DONE);
    take_origin(&done, outcome);
    done.meta.ts = clock_wall();
    done.meta.correlation_id = o->turn;
    done.meta.seq = outcome ? outcome->meta.seq + 1 : 2;
    done.u.done.reason = !outcome ? "lost" : outcome->kind == TC_FINAL ? "completed" : "error";
    send(o->runner, o->handle, &done);
}

static void give_up(const struct recast *o, const char *why)
{
    const struct record_settlement failed = {.verdict = RECORD_FAIL, .reason = "damaged"};
    log_line(LOG_ERR, "host", "the outcome of turn %s is damaged: %s", o->turn, why);
    ledger_settle(o->runner->services.ledger, o->seq, &failed, NULL, NULL);
    cast(o, NULL);
}

static void on_started(void *ctx, enum record_status status, const char *text)
{
    struct recast *const o = ctx;
    struct arena arena = {0};
    struct event ev;
    const char *why = "";
    (void)text;
    if (!o->runner || !o->handle) {
        free_recast(o);
        return;
    }
    if (status != RECORD_DONE)
        cast(o, NULL);
    else if (codec_decode(&ev, &arena, o->line.p ? o->line.p : "", o->line.len, &why) == 0)
        cast(o, &ev);
    else
        give_up(o, why);
    arena_fini(&arena);
    free_recast(o);
}

void recast_begin(struct runner *r)
{
    for (struct recast *o = r->recasts, *next; o; o = next) {
        next = o->next;
        if (o->begun)
            continue;
        o->begun = true;
        if (!o->handle && (o->handle = open_known(r, &(struct channel_turn){.id = o->turn})) &&
            r->post)
            post_open_turn(r->post, o->turn, o->handle);
        ledger_start(r->services.ledger, o->seq, on_started, o);
    }
}
