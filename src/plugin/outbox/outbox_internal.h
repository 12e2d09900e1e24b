/* SPDX-License-Identifier: MIT
 * What the files of the outbox share.
 *
 * A request becomes an item when its batch is committed, waits in the sender for its turn, is put
 * on record (durable), goes out, and its reply goes to the plugin; the batch with the verdict is
 * committed, and the item goes again or ends. What comes of it without a plugin to ask (a failed
 * connection, a turn that is gone) takes the same way: the outbox answers itself. */
#ifndef PLUGIN_OUTBOX_OUTBOX_INTERNAL_H
#define PLUGIN_OUTBOX_OUTBOX_INTERNAL_H

#include <sys/queue.h>

#include "io/journal/journal_async.h"
#include "plugin/outbox/outbox.h"
#include "plugin/outbox/outbox_state.h"
#include "plugin/runtime_secrets.h"

/* A turn as far as it has been named to the instance. */
struct outbox_turn {
    struct outbox_turn *next;
    char *id;
    void *handle;
    size_t items;
    bool is_resumed; /* opened for requests of an earlier run */
    bool is_over;    /* gone with its last item */
};

struct outbox_entry {
    struct outbox *outbox;
    LIST_ENTRY(outbox_entry) next; /* outbox->items */
    enum outbox_state state;
    struct outbound_request *request;
    struct outbox_turn *turn;           /* NULL: not known, so nobody is asked */
    struct send_item *send_item;        /* from its turn until it is decided */
    struct outbox_recording *recording; /* its attempt is being put on record */
    int64_t seq;                        /* of its row; 0: none */
    int64_t since_ms;                   /* clock_mono_ms of its beginning */
    int64_t left_ms, delay_ms;          /* from then; left_ms 0: no limit */
    uint32_t attempts, doubts;          /* doubts: attempts whose answer is not known */
    bool in_doubt;                      /* one of them, or of an earlier run */
    bool asks_first;                    /* in doubt from an earlier run: the plugin decides */
    struct loop_timer *perform_timer;   /* while the plugin performs it (self:); or NULL */
    bool is_offered;                    /* it was told so, and has not answered yet */
    bool is_excess;                     /* there were too many already */
    bool is_on_record;  /* its row is still in flight: what came of it could not be written */
    bool was_ambiguous; /* the last attempt */
    bool was_limited;   /* the same: it was one too many */
    bool was_good;      /* the same: a success, as far as HTTP goes */
    char *error;        /* of the last attempt, owned; or NULL */
};

/* A batch on its way to the disk. They take effect in the order in which they came. */
struct outbox_commit {
    struct outbox *outbox; /* NULL: it is gone */
    STAILQ_ENTRY(outbox_commit) next;
    struct callback_batch *batch;
    struct outbox_entry *answered; /* BATCH_REQUEST; or NULL */
    int64_t first;                 /* number of the first row it lays */
    enum journal_status status;
    bool is_pending;       /* the journal has it */
    uint64_t after_memory; /* memories that have to be on disk before; 0: none */
    bool is_kept;          /* its durable requests are on disk */
    bool is_added;         /* there was no outcome row to take the place of */
};

/* Memory of a turn that is being written to the disk. */
struct outbox_memory {
    struct outbox *outbox; /* NULL: it is gone */
    LIST_ENTRY(outbox_memory) next;
};

/* Whether the service of the instance was reached. Times are those of clock_mono_ms; 0: never. */
struct outbox_reach {
    bool is_away;
    int64_t away_since_ms;
    int64_t success_ms; /* the last request that the plugin calls done */
    int64_t failure_ms; /* the last one without an answer, or that the service refuses for all */
    char *failure;      /* its reason, without secrets; or NULL */
};

struct outbox {
    struct outbox_spec spec;
    char *instance, *files;
    struct sender *sender;
    struct channel *channel;
    struct outbox_turn context, *turns;
    LIST_HEAD(, outbox_entry) items;
    size_t item_count, poll_count;
    size_t loose_count, loose_bytes; /* of items that are not durable */
    STAILQ_HEAD(, outbox_commit) commits;
    LIST_HEAD(, outbox_memory) memories; /* under way */
    uint64_t memories_begun, memories_done;
    struct runtime_secrets secrets;
    struct loop_timer *park_timer; /* for the time limits of what is parked; or NULL */
    bool is_draining;
    struct outbox_reach reach;
    char *trouble;     /* what the plugin says keeps all of its requests; or NULL */
    char *trouble_url; /* only a success of this request ends it; NULL: any does */
    int64_t trouble_since_ms;
    int64_t pause_ends_ms; /* the one that was told last */
    size_t dead;
    uint64_t attempts[HTTPC_AMBIGUOUS + 1];
};

/* ---- outbox.c */

struct outbox_turn *outbox_find_turn(struct outbox *p, const char *id);
/* When it is over and nothing of it is under way. */
void outbox_release_turn(struct outbox *p, struct outbox_turn *t);

/* ---- outbox_trouble.c */

/* Before outbox_entry_settle. */
void outbox_note_verdict(const struct outbox_entry *item, const struct tc_verdict *v);
void outbox_note_reach(struct outbox *p, const struct httpc_reply *reply);
void outbox_add_trouble(const struct outbox *p, struct outbox_stats *stats);
void outbox_free_trouble(struct outbox *p);

/* ---- outbox_entry.c: takes over the request */

struct outbox_entry *outbox_entry_add(struct outbox *p, struct outbox_turn *turn,
                                      struct outbound_request *l);
void outbox_entry_free(struct outbox_entry *item);
void outbox_entry_move(struct outbox_entry *item, enum outbox_state_event event);
/* Into its conversation, or (too many) back to the plugin. */
void outbox_entry_submit(struct outbox_entry *item, bool is_ahead);
/* Instead of sending it. */
void outbox_entry_drop(struct outbox_entry *item, const char *why);
void outbox_entry_settle(struct outbox_entry *item, const struct tc_verdict *verdict);
/* Callbacks of the sender (sender.h). */
void outbox_entry_on_start(void *ctx, struct send_item *send_item, void *arg);
void outbox_entry_on_reply(void *ctx, struct send_item *send_item, void *arg,
                           const struct httpc_reply *reply);
void outbox_entry_on_end(void *ctx, void *arg, enum send_result end);

/* Tell the plugin the result of an attempt. */
void outbox_entry_tell_answer(struct outbox_entry *item, const struct httpc_reply *got);
void outbox_entry_tell_unsent(struct outbox_entry *item, enum httpc_outcome outcome,
                              const char *error);
/* A reply as the plugin gets it. */
struct outbound_reply *outbox_entry_new_reply(const struct outbox_entry *item,
                                              const struct tc_reply *what);

/* ---- outbox_perform.c: requests that the plugin performs itself */

bool outbox_is_performed(const struct outbox_entry *item);
/* Offers a request to the plugin (URL "self:"): it may be sent, and its attempt is recorded. */
void outbox_perform_offer(struct outbox_entry *item);
/* Handles a batch that answers an offer. True: it decides the request `*answered`. */
bool outbox_perform_take_answer(struct outbox *p, const struct callback_batch *b,
                                struct outbox_entry **answered);
void outbox_perform_complete(struct outbox *p, const struct outbound_result *r);
void outbox_perform_end(struct outbox_entry *item);

/* ---- outbox_parking.c: requests that wait for a secret */

/* The name of a secret that the request needs and that is not set, for `*len` bytes; or NULL. */
const char *outbox_find_missing(const struct outbox_entry *item, size_t *len);
/* Keeps a request outside of the sender. */
void outbox_park(struct outbox_entry *item);
/* Drops parked requests of the lane that a new request makes obsolete. */
void outbox_park_drop_pointless(const struct outbox_entry *newer);
void outbox_park_fini(struct outbox *p);

/* ---- outbox_recovery.c: what an earlier run left */

void outbox_recover(struct outbox *p);

#endif
