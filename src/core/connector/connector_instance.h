/* SPDX-License-Identifier: MIT
 * One running instance, and what serves it: the post of its requests, its routes, its sockets.
 * Loop thread only. */
#ifndef CORE_CONNECTOR_CONNECTOR_INSTANCE_H
#define CORE_CONNECTOR_CONNECTOR_INSTANCE_H

#include "base/attr.h"
#include "conf/conf.h"
#include "plugin/abi/loader.h"
#include "plugin/channel.h"
#include "plugin/outbox/outbox.h"

struct httpc;
struct httpd;
struct ledger;
struct websocket;
struct runner;
struct turnlog;

/* What instances may use beside being cast to. Without a loop nothing of it; each other may be
 * NULL: what needs it is refused then. */
struct services {
    struct loop *loop;
    struct httpc *httpc;
    struct ledger *ledger;
    struct httpd *httpd;
    struct websocket *websocket;
    struct turnlog *turnlog; /* gets what is cast, too; of dispatch alone */
    const char *instances;   /* directory with one for each instance, its own */
    /* Whose standard output is forwarded to that of the host, where they have processes. */
    enum prints { PRINTS_NONE, PRINTS_OURS, PRINTS_ALL } prints;
    /* Answers with ask_answer, now or later. */
    void (*ask)(void *ctx, struct ask *a);
    void *ctx;
};

/* Does not start it yet. NULL with err: it is disabled. Takes over loaded either way; borrows the
 * rest, but for the services, which are copied. */
struct runner *runner_new(const struct conf *conf, const struct conf_instance *spec,
                          struct loaded *loaded, const struct services *services,
                          struct tc_err *err);
/* `changed` is called, from the loop, when runner_state may return something else. Before launch.
 */
void runner_on_change(struct runner *r, void (*changed)(void *ctx), void *ctx);
/* Begins to start it: channel_ops.launch. Where an earlier instance of that name has ended, turns
 * that were opened before get what that one remembered of them. */
void runner_launch(struct runner *r);
/* See channel.h. */
enum channel_state runner_state(struct runner *r, struct tc_err *err);
/* Without the loop: starts it and waits until it runs. -1 with err: it is disabled, and the runner
 * is gone. */
int runner_await(struct runner *r, struct tc_err *err) MUST_CHECK;
/* Its process has died and is not started again yet. */
bool runner_is_down(struct runner *r);
/* Then begins to start it at once: see channel_ops.revive. */
int runner_revive(struct runner *r, struct tc_err *err) MUST_CHECK;
const char *runner_name(const struct runner *r);
struct channel *runner_channel(struct runner *r);
/* As channel_ops.open. */
void *runner_open(struct runner *r, const struct channel_turn *turn);
/* The same of a turn that runs, and that its predecessor knew: start (resumed) is cast. Before
 * launch, which adds what that one remembered. */
void *runner_reopen(struct runner *r, const struct channel_turn *turn);
/* It runs with these, and a secret elsewhere has not changed. */
bool runner_has_options(struct runner *r, const struct conf_pair *pairs);
/* Of its requests; nothing when it cannot make any. */
struct post_stats runner_post_stats(const struct runner *r);
/* Once, when it runs: what it says is heard from now on (channel_ops.release); what the ledger
 * still holds for it is sent, and outcomes that it has not dealt with are cast again:
 * start{resumed}, final or error, done. Not those of turns that were opened before: it is told them
 * anyway. */
void runner_resume(struct runner *r);
/* A row of the ledger was laid for it by somebody else: it is dealt with like those of an earlier
 * host. */
void runner_take_row(struct runner *r, int64_t seq);
/* It has something to do that it did not end: turns that it has not seen to their end, requests. */
bool runner_is_busy(const struct runner *r);
/* Begins its end, see channel_ops.stop. */
void runner_stop(struct runner *r);
/* See channel_ops.kill. */
bool runner_kill(struct runner *r);
/* Waits for its end (see channel_ops.join) and frees it. False: it had to be abandoned. */
bool runner_free(struct runner *r, int64_t deadline_ms);

#endif
