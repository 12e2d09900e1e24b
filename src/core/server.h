/* SPDX-License-Identifier: MIT
 * The host that serves people: ledger, HTTP, instances and conversations joined, from the first
 * look at what an earlier host left to the last request. Loop thread only. */
#ifndef CORE_SERVER_H
#define CORE_SERVER_H

#include "base/attr.h"
#include "base/buf.h"
#include "conf/conf.h"

struct server;

/* What others serve people with beside it; borrowed. */
struct server_parts {
    struct loop *loop;
    struct httpd *httpd; /* NULL: none is configured */
    struct ledger *ledger;
    struct dispatch *dispatch;
    struct conversations *conversations;
    struct switches *switches;
    struct turnlog *turnlog;
    struct requests *requests;
    struct approvals *approvals;
};

/* Opens the state directory (one host at a time), listens, starts the instances, takes over what
 * an earlier host left. Keeps conf. NULL with err; an instance that cannot be started is logged
 * and left out, unless it is the last. */
struct server *server_new(const struct conf *conf, struct tc_err *err);
/* Reads the configuration's file anew and takes it as a whole: *report is what reload_conf makes.
 * -1 with err: all is as it was. Logs either. The loop waits for instances that end or begin. */
int server_reload(struct server *s, struct buf *report, struct tc_err *err) MUST_CHECK;
/* Ends that instance and starts it again: dispatch_restart. -1 with err. Logs either. */
int server_restart(struct server *s, const char *instance, struct tc_err *err) MUST_CHECK;
/* Called with the configuration that was taken, before the old one is given back. One at a time. */
void server_on_reload(struct server *s, void (*fn)(void *ctx, const struct conf *conf), void *ctx);
/* server_stop was called. */
bool server_is_ending(const struct server *s);
/* As it is now. */
const struct conf *server_conf(const struct server *s);
/* The port that is listened on; 0: none. */
unsigned server_port(const struct server *s);
/* Runs until server_stop was called and all has been done. */
void server_run(struct server *s);
/* Asks for the end: running turns get their time; again: no more of it; a third time: they are
 * killed. May be called from the loop only, and server_loop is what to watch signals with. */
void server_stop(struct server *s);
struct loop *server_loop(struct server *s);
struct server_parts server_parts(struct server *s);
/* What is not delivered stays on disk. NULL is fine. */
void server_free(struct server *s);

#endif
