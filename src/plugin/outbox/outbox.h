/* SPDX-License-Identifier: MIT
 * Outbox of one instance: its requests from their batch to their last reply. Stores durable
 * requests in the journal, sends all requests through a sender, and lets the plugin interpret the
 * responses. If the disk fails, requests are sent without durability, which is logged. Loop thread
 * only. */
#ifndef PLUGIN_OUTBOX_OUTBOX_H
#define PLUGIN_OUTBOX_OUTBOX_H

#include "io/send/sender.h"
#include "plugin/channel.h"

struct journal_async;
struct outbox;
struct runtime_secrets;

struct outbox_spec {
    const char *instance; /* name of the instance */
    struct loop *loop;
    struct httpc *http;
    struct journal_async *journal; /* or NULL: durable requests live as long as the process */
    const struct tc_rate *rates;   /* rate limits of the plugin; or NULL */
    const char *files;             /* directory for TC_SAVE; or NULL: refused */
    /* The text of an option, for {option:NAME}; NULL: unknown option; "": no value. */
    const char *(*option)(void *ctx, const char *name);
    /* Opens a turn with requests from before a restart, before their replies arrive. Returns the
     * handle for channel_ops.reply, or NULL. */
    void *(*open)(void *ctx, const struct channel_turn *turn);
    /* Called before each attempt; false: it must not be sent, and this outbox is about to be freed.
     * NULL: always true. */
    bool (*may_send)(void *ctx);
    /* Called with the memory of a turn before it is on disk; NULL: no memory. Or NULL. */
    void (*remembered)(void *ctx, const char *turn, const char *text);
    /* The requests for the outcome of a turn are about to be made. True: they are in doubt, because
     * somebody else may have made them. Or NULL. */
    bool (*tells)(void *ctx, const char *turn);
    void *ctx;
};

struct outbox *outbox_new(const struct outbox_spec *spec);
/* Sets the channel for replies; call it once, before all others. From now on, requests in the
 * journal are sent. The caller must have called journal_async_take_over. */
void outbox_start(struct outbox *p, struct channel *c);
/* Also sends a row that another part of the host has added for this instance. */
void outbox_adopt_row(struct outbox *p, int64_t seq);
/* Opens a turn, which ends with its last batch. */
void outbox_open_turn(struct outbox *p, const char *id, void *handle);
/* Takes ownership. */
void outbox_commit_batch(struct outbox *p, struct callback_batch *b);
/* tc_secret; value NULL: deletes it. Requests that waited for the secret continue. */
void outbox_set_secret(struct outbox *p, const char *name, const char *value);
const struct runtime_secrets *outbox_secrets(const struct outbox *p);
/* Batches being committed, and requests that end by themselves: all except TC_LONG_POLL. */
size_t outbox_count_pending(const struct outbox *p);

struct outbox_stats {
    size_t waiting;                         /* in the sender's queues */
    size_t in_flight;                       /* from their start until the verdict */
    size_t dead;                            /* durable requests that failed since the start */
    uint64_t attempts[HTTPC_AMBIGUOUS + 1]; /* by result, except TC_LONG_POLL */
    int64_t oldest_ms;   /* age of the oldest one except TC_LONG_POLL, in this process; 0: none */
    const char *trouble; /* why the service refuses all requests, and since when; or NULL;
                          * borrowed */
    int64_t trouble_ms;
    bool is_away; /* time for which the service has been unreachable */
    int64_t away_ms;
    int64_t success_ms, failure_ms; /* age of the last success and failure; -1: never */
    const char *failure;            /* reason of the last failure; or NULL; borrowed */
};
struct outbox_stats outbox_read_stats(const struct outbox *p);

/* Keeps durable requests in the journal, drops others. Call it before journal_async_close, before
 * or after the end of the channel. NULL is allowed. */
void outbox_free(struct outbox *p);

#endif
