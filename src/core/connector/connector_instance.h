/* SPDX-License-Identifier: MIT
 * Connector instance on the host side: its channel, outbox, HTTP routes, websockets and unfinished
 * deliveries. Starts, restarts and stops it. Loop thread only. */
#ifndef CORE_CONNECTOR_CONNECTOR_INSTANCE_H
#define CORE_CONNECTOR_CONNECTOR_INSTANCE_H

#include "base/attr.h"
#include "conf/conf.h"
#include "plugin/abi/loader.h"
#include "plugin/channel.h"
#include "plugin/outbox/outbox.h"

struct httpc;
struct httpd;
struct journal_async;
struct websocket_client;
struct connector_instance;
struct turnlog;

/* Services for instances, besides events. Without a loop, none works; each other member may be
 * NULL: requests that need it are refused. */
struct connector_services {
    struct loop *loop;
    struct httpc *httpc;
    struct journal_async *journal;
    struct httpd *httpd;
    struct websocket_client *websocket;
    struct turnlog *turnlog; /* also receives all events; used by dispatch only */
    const char *instances;   /* directory with a subdirectory for each instance */
    /* Name of the instance whose process may write to the host's standard output. */
    enum prints { PRINTS_NONE, PRINTS_OURS, PRINTS_ALL } prints;
    /* Processes a call; answers with host_call_complete, now or later. */
    void (*ask)(void *ctx, struct host_call *a);
    /* Whether this host may act now for an instance that only one of several hosts runs
     * (connector_instance_is_led). NULL: there is no other host. */
    bool (*leads)(void *ctx, const char *instance);
    /* Called before an outcome is stored in the journal for an instance that stands by. Or NULL. */
    void (*kept)(void *ctx, const char *instance, const char *turn, struct str line);
    /* Called when an instance that only one of several hosts runs has stored a text (tc_store);
     * NULL: removed it. Its write to the journal was queued before. Or NULL. */
    void (*stored)(void *ctx, const char *instance, const char *key, const char *text);
    /* Called when such an instance has changed the memory of a turn; NULL: no memory. Or NULL. */
    void (*remembered)(void *ctx, const char *instance, const char *turn, const char *text);
    /* Called when such an instance begins to deliver the outcome of a turn. True: another host had
     * already begun. Or NULL. */
    bool (*tells)(void *ctx, const char *instance, const char *turn);
    /* Whether another host has adopted the turn: then that host alone delivers it to such an
     * instance. Or NULL. */
    bool (*is_adopted)(void *ctx, const char *instance, const char *turn);
    void *ctx;
};

/* Begins the keys of stored texts in the journal: stored:INSTANCE:KEY. */
#define CONNECTOR_STORED_ROW "stored:"

/* Whether only one of several hosts on a bus runs such an instance: the leader. */
bool connector_instance_is_led(const struct connector_services *services,
                               const struct conf_instance *spec,
                               const struct loaded_plugin *loaded);
/* Creates the instance without starting it. NULL with err: it is disabled. Takes over `loaded` in
 * both cases; borrows the rest, except the services, which are copied. */
struct connector_instance *connector_start(const struct conf *conf,
                                           const struct conf_instance *spec,
                                           struct loaded_plugin *loaded,
                                           const struct connector_services *services,
                                           struct tc_err *err);
/* `changed` is called, from the loop, when the result of connector_instance_state may have changed.
 * Call it before launch. */
void connector_instance_on_change(struct connector_instance *r, void (*changed)(void *ctx),
                                  void *ctx);
/* Starts the instance: channel_ops.launch. Turns that were opened before get the memory of an
 * earlier instance of that name, once that has ended. */
void connector_instance_launch(struct connector_instance *r);
/* See channel.h. */
enum channel_state connector_instance_state(struct connector_instance *r, struct tc_err *err);
/* For callers without a loop: starts the instance and waits until it runs. -1 with err: disabled,
 * and the instance is freed. */
int connector_await_start(struct connector_instance *r, struct tc_err *err) MUST_CHECK;
/* Whether its process has died and not been restarted yet. */
bool connector_is_down(struct connector_instance *r);
/* Restarts such an instance at once: see channel_ops.restart_now. */
int connector_restart_now(struct connector_instance *r, struct tc_err *err) MUST_CHECK;
const char *connector_instance_name(const struct connector_instance *r);
struct channel *connector_instance_channel(struct connector_instance *r);
/* See channel_ops.open. */
void *connector_open_turn(struct connector_instance *r, const struct channel_turn *turn);
/* Sends one event of an open turn, like channel_ops.send; but the outcome of a turn that was opened
 * before connector_resume_deliveries waits until outcomes of earlier turns have been delivered
 * again. */
void connector_send_event(struct connector_instance *r, void *handle, struct shared_event *shared);
/* Opens a turn that this instance has already received, before a restart or on another host: adds
 * its memory. */
void *connector_open_known_turn(struct connector_instance *r, const struct channel_turn *turn);
/* Opens a running turn again: emits start (resumed). Call it before launch if the predecessor
 * received the turn: launch adds the predecessor's memory. */
void *connector_reopen_turn(struct connector_instance *r, const struct channel_turn *turn);
/* Whether it runs with these options (rows: of its plugin), and no referenced secret has
 * changed. */
bool connector_options_equal(struct connector_instance *r, const struct tc_option *rows,
                             const struct conf_option *pairs);
/* Counters of its requests; zeros if it cannot make any. */
struct outbox_stats connector_outbox_stats(const struct connector_instance *r);
/* Call it once, when the instance runs: processes its output (channel_ops.release); sends requests
 * from the journal, and delivers unprocessed outcomes again: start{resumed}, final or error, done;
 * except for turns that were opened before, which it receives anyway. */
void connector_resume_deliveries(struct connector_instance *r);
/* A request was added to its journal by another part of the host: processed like those from before
 * a restart. */
void connector_deliver_row(struct connector_instance *r, int64_t seq);
/* An outcome was added for it by another part of the host, for a turn that it has not received. */
void connector_deliver_outcome(struct connector_instance *r, const char *turn);
/* Whether it has unfinished work: turns, or requests. */
bool connector_instance_is_busy(const struct connector_instance *r);
/* This host is no longer the leader: stops all external activity at once, and drops its requests.
 * The journal is unchanged. The instance is to be ended. */
void connector_instance_silence(struct connector_instance *r);
bool connector_instance_is_silent(const struct connector_instance *r);
/* Starts its end, see channel_ops.stop. */
void connector_instance_stop(struct connector_instance *r);
/* See channel_ops.kill; a silenced instance gets no time to end, so it is not late. */
bool connector_instance_kill(struct connector_instance *r);
/* Waits for its end (see channel_ops.join) and frees it. False: it had to be abandoned. */
bool connector_instance_free(struct connector_instance *r, int64_t deadline_ms);

#endif
