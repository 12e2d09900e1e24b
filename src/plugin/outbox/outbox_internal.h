/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the outbox.
 *
 * A request becomes an item when its batch is committed; it waits in the sender, its attempt is
 * recorded (if durable), it is sent, and the reply is passed to the plugin; the batch with the
 * verdict is committed, and the item is retried or ends. Results that need no plugin (a failed
 * connection, a turn that is gone) take the same path: the outbox creates the batch itself. */
#ifndef PLUGIN_OUTBOX_OUTBOX_INTERNAL_H
#define PLUGIN_OUTBOX_OUTBOX_INTERNAL_H

#include <sys/queue.h>

#include "io/journal/journal_async.h"
#include "plugin/outbox/outbox.h"
#include "plugin/outbox/outbox_state.h"
#include "plugin/runtime_secrets.h"

/* A turn as named to the instance. */
struct outbox_turn {
    struct outbox_turn *next;
    char *id;
    void *handle;
    size_t items;
    bool is_resumed; /* opened for requests from before a restart */
    bool is_over;    /* freed with its last item */
};

struct outbox_entry {
    struct outbox *outbox;
    LIST_ENTRY(outbox_entry) next; /* outbox->items */
    enum outbox_state state;
    struct outbound_request *request;
    struct outbox_turn *turn;           /* NULL: unknown, so that on_reply is not called */
    struct send_item *send_item;        /* from its start until the verdict */
    struct outbox_recording *recording; /* its attempt is being recorded */
    int64_t seq;                        /* number of its row; 0: none */
    int64_t since_ms;                   /* clock_mono_ms at its creation */
    int64_t left_ms, delay_ms;          /* from that time; left_ms 0: no limit */
    uint32_t attempts, doubts;          /* doubts: attempts with an unknown result */
    bool in_doubt;                      /* this or an earlier attempt, also before a restart, may
                                           have been executed */
    bool asks_first;                    /* in doubt from before a restart: the plugin decides */
    struct loop_timer *perform_timer;   /* the offer while the plugin performs it (self:); or
                                         * NULL */
    bool is_offered;                    /* the plugin got the offer, and has not answered yet */
    bool is_excess;                     /* refused: too many requests */
    bool is_on_record;  /* its row is still in flight, because the result could not be written */
    bool was_ambiguous; /* result of the last attempt */
    bool was_limited;   /* likewise: refused as one too many */
    bool was_good;      /* likewise: an HTTP success */
    char *error;        /* reason of the last attempt's failure, owned; or NULL */
};

/* A batch being written to disk. Batches take effect in the order of their arrival. */
struct outbox_commit {
    struct outbox *outbox; /* NULL: the outbox is gone */
    STAILQ_ENTRY(outbox_commit) next;
    struct callback_batch *batch;
    struct outbox_entry *answered; /* BATCH_REQUEST; or NULL */
    int64_t first;                 /* number of its first new row */
    enum journal_status status;
    bool is_pending;       /* the journal has completed it */
    uint64_t after_memory; /* pending memories that must be on disk before; 0: none */
    bool is_kept;          /* its durable requests are on disk */
    bool is_added;         /* there was no outcome row to replace */
};

/* Memory of a turn being written to disk. */
struct outbox_memory {
    struct outbox *outbox; /* NULL: the outbox is gone */
    LIST_ENTRY(outbox_memory) next;
};

/* Reachability of the service. Times are from clock_mono_ms; 0: never. */
struct outbox_reach {
    bool is_away;
    int64_t away_since_ms;
    int64_t success_ms; /* last request that the plugin regards as done */
    int64_t failure_ms; /* last one without a response, or refused for all requests */
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
    size_t loose_count, loose_bytes; /* number of items that are not durable */
    STAILQ_HEAD(, outbox_commit) commits;
    LIST_HEAD(, outbox_memory) memories; /* in progress */
    uint64_t memories_begun, memories_done;
    struct runtime_secrets secrets;
    struct loop_timer *park_timer; /* for time limits of parked items; or NULL */
    bool is_draining;
    struct outbox_reach reach;
    char *trouble;     /* reason of the plugin for a hold of all requests; or NULL */
    char *trouble_url; /* only a success of this request ends it; NULL: any success does */
    int64_t trouble_since_ms;
    int64_t pause_ends_ms; /* last logged reason */
    size_t dead;
    uint64_t attempts[HTTPC_AMBIGUOUS + 1];
};

/* ---- outbox.c */

struct outbox_turn *outbox_find_turn(struct outbox *p, const char *id);
/* Frees the turn if it has ended and has no items. */
void outbox_release_turn(struct outbox *p, struct outbox_turn *t);

/* ---- outbox_trouble.c */

/* Call it before outbox_entry_settle. */
void outbox_record_verdict(const struct outbox_entry *item, const struct tc_verdict *v);
void outbox_record_reachability(struct outbox *p, const struct httpc_reply *reply);
void outbox_add_trouble(const struct outbox *p, struct outbox_stats *stats);
void outbox_free_trouble(struct outbox *p);

/* ---- outbox_entry.c: takes ownership of the request */

struct outbox_entry *outbox_entry_add(struct outbox *p, struct outbox_turn *turn,
                                      struct outbound_request *l);
void outbox_entry_free(struct outbox_entry *item);
void outbox_entry_move(struct outbox_entry *item, enum outbox_state_event event);
/* Queues it, or (too many) returns it to the plugin. */
void outbox_entry_submit(struct outbox_entry *item, bool is_ahead);
/* Settles it without sending it. */
void outbox_entry_drop(struct outbox_entry *item, const char *why);
void outbox_entry_settle(struct outbox_entry *item, const struct tc_verdict *verdict);
/* Callbacks of the sender (sender.h). */
void outbox_entry_on_start(void *ctx, struct send_item *send_item, void *arg);
void outbox_entry_on_reply(void *ctx, struct send_item *send_item, void *arg,
                           const struct httpc_reply *reply);
void outbox_entry_on_end(void *ctx, void *arg, enum send_result end);

/* Pass the result of an attempt to the plugin. */
void outbox_entry_report_reply(struct outbox_entry *item, const struct httpc_reply *got);
void outbox_entry_report_unsent(struct outbox_entry *item, enum httpc_outcome outcome,
                                const char *error);
/* A reply for the plugin. */
struct outbound_reply *outbox_entry_new_reply(const struct outbox_entry *item,
                                              const struct tc_reply *what);

/* ---- outbox_perform.c: requests that the plugin performs itself */

bool outbox_is_performed(const struct outbox_entry *item);
/* Offers a request to the plugin (URL "self:"): it is due, and its attempt is recorded. */
void outbox_perform_offer(struct outbox_entry *item);
/* Handles a batch that answers an offer. True: it decides the request `*answered`. */
bool outbox_perform_handle_verdict(struct outbox *p, const struct callback_batch *b,
                                   struct outbox_entry **answered);
void outbox_perform_complete(struct outbox *p, const struct outbound_result *r);
void outbox_perform_end(struct outbox_entry *item);

/* ---- outbox_parking.c: requests that wait for a secret */

/* The name of a secret that the request needs and that is not set, for `*len` bytes; or NULL. */
const char *outbox_find_missing(const struct outbox_entry *item, size_t *len);
/* Keeps a request outside of the sender. */
void outbox_parking_add(struct outbox_entry *item);
/* Drops parked requests of the lane that a new request makes obsolete. */
void outbox_parking_drop_superseded(const struct outbox_entry *newer);
void outbox_parking_fini(struct outbox *p);

/* ---- outbox_recovery.c: rows from before a restart */

void outbox_recover(struct outbox *p);

#endif
