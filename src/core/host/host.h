/* SPDX-License-Identifier: MIT
 * The host that serves people: ledger, HTTP, instances and conversations joined, from the first
 * look at what an earlier host left to the last request. Loop thread only. */
#ifndef CORE_HOST_HOST_H
#define CORE_HOST_HOST_H

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "conf/conf.h"
#include "core/host/instance_changes.h"

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

/* What its owner wants to know; each function may be NULL. */
struct server_watch {
    /* Once: every instance runs, or has failed, which has been logged. err: the host has nothing to
     * do, for no instance runs, and nobody can ask by HTTP; server_stop was called. */
    void (*started)(void *ctx, const struct tc_err *err);
    /* A reload begins, by whomever it was asked for, and has ended. */
    void (*reloading)(void *ctx, bool begins);
    /* The configuration that was taken, before the old one is given back. */
    void (*reloaded)(void *ctx, const struct conf *conf);
    /* Once, from the loop, when the host ends and no turn runs any more, before the HTTP server
     * closes: what still has to be told to HTTP clients is written then. */
    void (*drained)(void *ctx);
    void *ctx;
};

/* Opens the state directory (one host at a time), listens, and takes over what an earlier host
 * left. The instances are started when the loop runs, which answers HTTP meanwhile; turns begin
 * when every plugin's file has been tried. Keeps conf. NULL with err. */
struct server *server_new(const struct conf *conf, struct tc_err *err);
/* Before server_run. */
void server_set_watch(struct server *s, const struct server_watch *watch);
/* Asks for a change of the instances (instance_changes.h), which are made one after the other while
 * the loop runs. `done` is called once, and never before these return, unless the host is about to
 * end. The outcome is logged. */
/* Reads the configuration's file anew and takes it as a whole, or leaves all as it was. */
void server_reload(struct server *s, changes_done *done, void *ctx);
/* The same without an answer; one that waits for its turn already is enough. */
void server_reload_soon(struct server *s);
/* Ends that instance and starts it again. */
void server_restart(struct server *s, const char *instance, changes_done *done, void *ctx);
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
