/* SPDX-License-Identifier: MIT
 * One connector instance as the host sees it: its channel, outbox, HTTP routes, websockets and
 * unfinished deliveries. Starts, restarts and stops it. Loop thread only. */
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

/* What instances may use beside being cast to. Without a loop nothing of it; each other may be
 * NULL: what needs it is refused then. */
struct connector_services {
    struct loop *loop;
    struct httpc *httpc;
    struct journal_async *journal;
    struct httpd *httpd;
    struct websocket_client *websocket;
    struct turnlog *turnlog; /* gets what is cast, too; of dispatch alone */
    const char *instances;   /* directory with one for each instance, its own */
    /* Whose standard output is forwarded to that of the host, where they have processes. */
    enum prints { PRINTS_NONE, PRINTS_OURS, PRINTS_ALL } prints;
    /* Answers with host_call_complete, now or later. */
    void (*ask)(void *ctx, struct host_call *a);
    /* This host may act now for an instance that one of several hosts runs
     * (connector_instance_is_led). NULL: this host is alone, and runs all. */
    bool (*leads)(void *ctx, const char *instance);
    /* An outcome is about to be laid in the journal for an instance that stands by. Or NULL. */
    void (*kept)(void *ctx, const char *instance, const char *turn, struct str line);
    void *ctx;
};

/* Of several hosts on a bus, one runs such an instance: the host that leads it. */
bool connector_instance_is_led(const struct connector_services *services,
                               const struct conf_instance *spec,
                               const struct loaded_plugin *loaded);
/* Does not start it yet. NULL with err: it is disabled. Takes over loaded either way; borrows the
 * rest, but for the services, which are copied. */
struct connector_instance *connector_start(const struct conf *conf,
                                           const struct conf_instance *spec,
                                           struct loaded_plugin *loaded,
                                           const struct connector_services *services,
                                           struct tc_err *err);
/* `changed` is called, from the loop, when connector_instance_state may return something else.
 * Before launch.
 */
void connector_instance_on_change(struct connector_instance *r, void (*changed)(void *ctx),
                                  void *ctx);
/* Begins to start it: channel_ops.launch. Where an earlier instance of that name has ended, turns
 * that were opened before get what that one remembered of them. */
void connector_instance_launch(struct connector_instance *r);
/* See channel.h. */
enum channel_state connector_instance_state(struct connector_instance *r, struct tc_err *err);
/* Without the loop: starts it and waits until it runs. -1 with err: it is disabled, and the
 * instance is gone. */
int connector_await_start(struct connector_instance *r, struct tc_err *err) MUST_CHECK;
/* Its process has died and is not started again yet. */
bool connector_is_down(struct connector_instance *r);
/* Then begins to start it at once: see channel_ops.revive. */
int connector_restart_now(struct connector_instance *r, struct tc_err *err) MUST_CHECK;
const char *connector_instance_name(const struct connector_instance *r);
struct channel *connector_instance_channel(struct connector_instance *r);
/* As channel_ops.open. */
void *connector_open_turn(struct connector_instance *r, const struct channel_turn *turn);
/* The same of a turn that runs: start (resumed) is cast. If its predecessor knew the turn, before
 * launch, which adds what that one remembered. */
void *connector_reopen_turn(struct connector_instance *r, const struct channel_turn *turn);
/* It runs with these (rows: of its plugin), and a secret elsewhere has not changed. */
bool connector_options_equal(struct connector_instance *r, const struct tc_option *rows,
                             const struct conf_option *pairs);
/* Of its requests; nothing when it cannot make any. */
struct outbox_stats connector_outbox_stats(const struct connector_instance *r);
/* Once, when it runs: what it says is heard from now on (channel_ops.release); what the journal
 * still holds for it is sent, and outcomes that it has not dealt with are cast again:
 * start{resumed}, final or error, done. Not those of turns that were opened before: it is told them
 * anyway. */
void connector_resume_deliveries(struct connector_instance *r);
/* A row of the journal was laid for it by somebody else: it is dealt with like those of an earlier
 * host. */
void connector_deliver_row(struct connector_instance *r, int64_t seq);
/* An outcome of that turn, which it has not been told of, was laid for it by somebody else. */
void connector_deliver_outcome(struct connector_instance *r, const char *turn);
/* It has something to do that it did not end: turns that it has not seen to their end, requests. */
bool connector_instance_is_busy(const struct connector_instance *r);
/* This host does not lead it any more: ends at once what it does outside of the host, and drops
 * what it still asks and hands over. What is in the journal stays. It is to be ended. */
void connector_instance_silence(struct connector_instance *r);
bool connector_instance_is_silent(const struct connector_instance *r);
/* Begins its end, see channel_ops.stop. */
void connector_instance_stop(struct connector_instance *r);
/* See channel_ops.kill. */
bool connector_instance_kill(struct connector_instance *r);
/* Waits for its end (see channel_ops.join) and frees it. False: it had to be abandoned. */
bool connector_instance_free(struct connector_instance *r, int64_t deadline_ms);

#endif
