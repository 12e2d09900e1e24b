/* SPDX-License-Identifier: MIT
 * The outbox of one instance: its requests from the batch that brought them to their last reply.
 * Keeps the durable ones in the journal, sends all through a sender, asks the plugin what an answer
 * means. A disk that takes nothing costs the durability (logged), not the delivery. Loop thread
 * only. */
#ifndef PLUGIN_OUTBOX_OUTBOX_H
#define PLUGIN_OUTBOX_OUTBOX_H

#include "io/send/sender.h"
#include "plugin/channel.h"

struct journal_async;
struct outbox;
struct runtime_secrets;

struct outbox_spec {
    const char *instance; /* its name */
    struct loop *loop;
    struct httpc *http;
    struct journal_async *journal; /* or NULL: durable requests live as long as the process */
    const struct tc_rate *rates;   /* of the plugin; or NULL */
    const char *files;             /* directory for TC_SAVE; or NULL: refused */
    /* The text of an option, for {option:NAME}; NULL: there is none of
     * that name; "": it has no value. */
    const char *(*option)(void *ctx, const char *name);
    /* A turn with requests of an earlier run is opened before their replies come. Returns the
     * handle for channel_ops.reply, or NULL. */
    void *(*open)(void *ctx, const struct channel_turn *turn);
    /* Asked before each attempt; false: it must not be sent, and this outbox is about to be freed.
     * NULL: always true. */
    bool (*may_send)(void *ctx);
    void *ctx;
};

struct outbox *outbox_new(const struct outbox_spec *spec);
/* The channel that replies go to; once, before anything else. What the journal still holds for this
 * instance is sent from now on. The caller has called journal_async_take_over before. */
void outbox_start(struct outbox *p, struct channel *c);
/* A row that was laid for this instance by somebody else is sent, too. */
void outbox_adopt_row(struct outbox *p, int64_t seq);
/* A turn has been opened; it ends with the batch that says so. */
void outbox_open_turn(struct outbox *p, const char *id, void *handle);
/* Takes over. */
void outbox_commit_batch(struct outbox *p, struct callback_batch *b);
/* tc_secret; value NULL: forgotten. Requests that waited for it go on. */
void outbox_set_secret(struct outbox *p, const char *name, const char *value);
const struct runtime_secrets *outbox_secrets(const struct outbox *p);
/* Batches being committed, and requests under way that come to an end by themselves: all but
 * TC_LONG_POLL. */
size_t outbox_count_pending(const struct outbox *p);

struct outbox_stats {
    size_t waiting;                         /* for their turn */
    size_t in_flight;                       /* from their turn until the verdict */
    size_t dead;                            /* durable ones given up since the start */
    uint64_t attempts[HTTPC_AMBIGUOUS + 1]; /* by what came of them, but for TC_LONG_POLL */
    int64_t oldest_ms;   /* age of the oldest that is no TC_LONG_POLL, in this run; 0: none */
    const char *trouble; /* why the service refuses all requests, for so long; or NULL; borrowed */
    int64_t trouble_ms;
    bool is_away; /* the service has not been reached for so long */
    int64_t away_ms;
    int64_t success_ms, failure_ms; /* how long ago; -1: never */
    const char *failure;            /* why the last one failed; or NULL; borrowed */
};
struct outbox_stats outbox_read_stats(const struct outbox *p);

/* Durable requests stay in the journal, others are dropped. To be called before
 * journal_async_close, before or after the end of the channel. NULL is fine. */
void outbox_free(struct outbox *p);

#endif
