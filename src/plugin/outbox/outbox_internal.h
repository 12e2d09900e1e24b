/* SPDX-License-Identifier: MIT
 * What the files of the post share.
 *
 * A letter becomes an item when its batch is committed, waits in the courier for its turn, is put
 * on record (durable), goes out, and its reply goes to the plugin; the batch with the verdict is
 * committed, and the item goes again or ends. What comes of it without a plugin to ask (a failed
 * connection, a turn that is gone) takes the same way: the post answers itself. */
#ifndef PLUGIN_OUTBOX_OUTBOX_INTERNAL_H
#define PLUGIN_OUTBOX_OUTBOX_INTERNAL_H

#include "io/journal/journal_async.h"
#include "plugin/outbox/outbox.h"

/* A turn as far as it has been named to the instance. */
struct post_turn {
    struct post_turn *next;
    char *id;
    void *handle;
    size_t items;
    bool is_resumed; /* opened for letters of an earlier run */
    bool is_over;    /* gone with its last item */
};

struct post_item {
    struct post *post;
    struct post_item *next, **at; /* post->items */
    struct letter *letter;
    struct post_turn *turn;           /* NULL: not known, so nobody is asked */
    struct parcel *parcel;            /* from its turn until it is decided */
    struct post_recording *recording; /* its attempt is being put on record */
    int64_t seq;                      /* of its row; 0: none */
    int64_t since_ms;                 /* clock_mono_ms of its beginning */
    int64_t left_ms, delay_ms;        /* from then */
    uint32_t attempts, doubts;        /* doubts: attempts whose answer is not known */
    bool in_doubt;                    /* one of them, or of an earlier run */
    bool asks_first;                  /* in doubt from an earlier run: the plugin decides */
    bool is_excess;                   /* there were too many already */
    bool is_on_record;  /* its row is still in flight: what came of it could not be written */
    bool has_left;      /* its lane: there is nothing to decide any more */
    bool is_asked;      /* a reply is out; its batch will come */
    bool was_ambiguous; /* the last attempt */
    bool was_limited;   /* the same: it was one too many */
    bool was_good;      /* the same: a success, as far as HTTP goes */
    char *error;        /* of the last attempt, owned; or NULL */
};

/* A batch on its way to the disk. They take effect in the order in which they came. */
struct post_commit {
    struct post *post; /* NULL: it is gone */
    struct post_commit *next;
    struct batch *batch;
    struct post_item *answered; /* BATCH_LETTER; or NULL */
    int64_t first;              /* number of the first row it lays */
    enum record_status status;
    bool is_pending; /* the ledger has it */
    bool is_kept;    /* its durable letters are on disk */
    bool is_added;   /* there was no outcome row to take the place of */
};

struct post {
    struct post_spec spec;
    char *instance, *files;
    struct courier *courier;
    struct channel *channel;
    struct post_turn lobby, *turns;
    struct post_item *items;
    size_t item_count, poll_count;
    size_t loose_count, loose_bytes;  /* of items that are not durable */
    struct post_commit *first, **end; /* batches */
    bool is_draining;
    bool is_away;          /* its service was not reached */
    int64_t away_since_ms; /* clock_mono_ms */
    char *trouble;         /* what the plugin says keeps all of its requests; or NULL */
    char *trouble_url;     /* only a success of this request ends it; NULL: any does */
    int64_t trouble_since_ms;
    int64_t pause_ends_ms; /* the one that was told last */
    size_t dead;
    uint64_t attempts[HTTPC_AMBIGUOUS + 1];
};

/* ---- outbox.c */

struct post_turn *post_find_turn(struct post *p, const char *id);
/* When it is over and nothing of it is under way. */
void post_release_turn(struct post *p, struct post_turn *t);

/* ---- outbox_trouble.c */

/* Before post_decide_item. */
void post_note_verdict(const struct post_item *item, const struct tc_verdict *v);
void post_note_reach(struct post *p, const struct httpc_reply *reply);
void post_add_trouble(const struct post *p, struct post_stats *stats);
void post_free_trouble(struct post *p);

/* ---- outbox_entry.c: takes over the letter */

struct post_item *post_add_item(struct post *p, struct post_turn *turn, struct letter *l);
void post_free_item(struct post_item *item);
/* Into its lane, or (too many) back to the plugin. */
void post_submit_item(struct post_item *item, bool is_ahead);
/* Instead of sending it. */
void post_drop_item(struct post_item *item, const char *why);
void post_decide_item(struct post_item *item, const struct tc_verdict *verdict);
/* What the courier asks (sender.h). */
void post_start_item(void *ctx, struct parcel *parcel, void *arg);
void post_judge_item(void *ctx, struct parcel *parcel, void *arg, const struct httpc_reply *reply);
void post_end_item(void *ctx, void *arg, enum lanes_end end);

/* ---- outbox_recovery.c: what an earlier run left */

void post_load(struct post *p);

#endif
