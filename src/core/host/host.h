/* SPDX-License-Identifier: MIT
 * The serving host: creates loop, journal, HTTP server and client, dispatch and scheduler in
 * order, runs them, and shuts them down in reverse. One per state directory. Loop thread only. */
#ifndef CORE_HOST_HOST_H
#define CORE_HOST_HOST_H

#include "conf/conf.h"
#include "core/host/instance_changes.h"

struct host;

/* What others serve people with beside it; borrowed. */
struct host_parts {
    struct loop *loop;
    struct httpd *httpd; /* NULL: none is configured */
    struct journal_async *journal;
    struct dispatch *dispatch;
    struct turn_scheduler *conversations;
    struct visibility_cache *switches;
    struct turnlog *turnlog;
    struct request_registry *requests;
    struct approvals *approvals;
    struct pairing *pairing;
    struct budgets *budgets;
    struct bus *bus;                    /* NULL: this host is alone */
    struct instance_leaders *leaders;   /* the same */
    const struct instance_texts *texts; /* the same */
    struct work *work;           /* turns that other hosts run for this one; NULL without a bus */
    struct runner *runner;       /* turns that this host runs for others; or NULL */
    struct fleet_member *member; /* what it tells other hosts of itself; NULL without a bus */
};

/* What its owner wants to know; each function may be NULL. */
struct server_watch {
    /* Once: every instance runs, or has failed, which has been logged. err: the host has nothing to
     * do, for no instance runs, and nobody can ask by HTTP; host_stop was called. */
    void (*started)(void *ctx, const struct tc_err *err);
    /* Once at most: the host cannot go on; host_stop was called. */
    void (*failed)(void *ctx, const struct tc_err *err);
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
struct host *host_open(const struct conf *conf, struct tc_err *err);
/* Before host_run. */
void host_set_watch(struct host *s, const struct server_watch *watch);
/* Asks for a change of the instances (instance_changes.h), which are made one after the other while
 * the loop runs. `done` is called once, and never before these return, unless the host is about to
 * end. The outcome is logged. */
/* Reads the configuration's file anew and takes it as a whole, or leaves all as it was. */
void host_reload(struct host *s, changes_done *done, void *ctx);
/* The same without an answer; one that waits for its turn already is enough. */
void host_reload_soon(struct host *s);
/* Ends that instance and starts it again. */
void host_restart_instance(struct host *s, const char *instance, changes_done *done, void *ctx);
/* host_stop was called. */
bool host_is_stopping(const struct host *s);
/* As it is now. */
const struct conf *host_conf(const struct host *s);
/* The port that is listened on; 0: none. */
unsigned host_port(const struct host *s);
/* Runs until host_stop was called and all has been done. */
void host_run(struct host *s);
/* Asks for the end: running turns get their time; again: no more of it; a third time: they are
 * killed. May be called from the loop only, and host_loop is what to watch signals with. */
void host_stop(struct host *s);
struct loop *host_loop(struct host *s);
struct host_parts host_get_parts(struct host *s);
/* What is not delivered stays on disk. NULL is fine. */
void host_close(struct host *s);

#endif
