/* SPDX-License-Identifier: MIT
 * This host among several, through NATS with JetStream: shares the turns that it runs, shows those
 * of the others in the turn log, and carries requests between hosts. A consumer of the turn log
 * like any other: no turn waits for it, and without servers the host works on alone. Loop thread
 * only. */
#ifndef CORE_BUS_BUS_H
#define CORE_BUS_BUS_H

#include "base/attr.h"
#include "base/str.h"
#include "conf/conf.h"
#include "core/bus/bus_link.h"
#include "core/bus/bus_publisher.h"
#include "core/turnlog/turnlog.h"
#include "io/loop/loop.h"

struct bus;

struct bus_spec {
    struct loop *loop;
    const struct conf *conf; /* with a bus; borrowed until bus_new returns */
    struct turnlog *turnlog;
    bus_append_requests *requests;
    /* Appends members to what is told of this host among the hosts, beside its name, version and
     * instances. May be NULL. */
    void (*describe)(void *ctx, struct buf *out);
    void *ctx; /* of both */
    /* Another host has this one's name, which is found out at the start: this host must end. */
    void (*name_taken)(void *ctx, const char *why);
    void *name_ctx;
};

/* Connects while the loop runs. NULL with err: libnats is missing. */
struct bus *bus_new(const struct bus_spec *spec, struct tc_err *err) MUST_CHECK;
void bus_free(struct bus *b); /* NULL is fine */
/* Calls `done` when all that turns have told is published, or after at most a few seconds. */
void bus_drain(struct bus *b, void (*done)(void *ctx), void *ctx);

enum bus_state {
    BUS_DISCONNECTED,
    BUS_SETTING_UP, /* streams are created and checked */
    BUS_JOINING,    /* the host's name is asked for */
    BUS_ACTIVE,
    BUS_UNUSABLE, /* an operator has to change something; `why` says what. It is tried again */
};
/* What `describe` appends has changed. */
void bus_renew(struct bus *b);
/* "disconnected", "setting up", … */
const char *bus_state_name(enum bus_state state);

struct bus_status {
    enum bus_state state;
    int64_t since_ms;   /* in this state, monotonic */
    const char *host;   /* of this one */
    const char *server; /* that it is connected to; "" */
    const char *why;    /* it is not active; "" */
    size_t waiting;     /* turns of which something is not published yet */
    int64_t oldest_ms;  /* the longest time that something waits to be stored; 0: nothing does */
    size_t followed;    /* turns of other hosts whose events are followed here */
    struct bus_counters counters;
};
/* Its texts are borrowed until the loop goes on. */
struct bus_status bus_get_status(const struct bus *b);

/* ---- what else uses the connection */

/* For as long as the bus. */
struct nats_client *bus_get_client(struct bus *b);
/* `changed` is called when there is a connection, and when there is none any more; NULL: nobody is.
 * One at a time. */
void bus_watch_connection(struct bus *b, void (*changed)(void *ctx, bool connected), void *ctx);

/* ---- for the parts that give work to other hosts and take theirs. What subscribes or asks through
 * the link ends before the bus. */

struct bus_link *bus_get_link(struct bus *b);
struct bus_watcher;
/* Calls `active` now and whenever the bus has become active, when something may have been missed or
 * lost; if it is not active now, not before it is. */
struct bus_watcher *bus_watch(struct bus *b, void (*active)(void *ctx), void *ctx);
void bus_watcher_free(struct bus_watcher *w); /* NULL is fine */
/* Publishes the events of the turns of that log, which this host runs for others; `fenced`: another
 * publisher has taken one over. Once. The log is freed behind the bus. */
void bus_share_runs(struct bus *b, struct turnlog *runs, void (*fenced)(void *ctx, const char *run),
                    void *ctx);

/* ---- requests between hosts */

struct bus_call; /* a request of another host that waits for its answer */
typedef void bus_handler(void *ctx, struct bus_call *call, struct str body);
/* Requests of that kind are given to `handler` from now on, which answers by bus_call_answer, now
 * or later. The verb is borrowed. */
void bus_serve(struct bus *b, const char *verb, bus_handler *handler, void *ctx);
/* Frees the call. */
void bus_call_answer(struct bus_call *call, struct str body);

/* result: NATS_CLIENT_NOBODY: that host is not there. NATS_CLIENT_UNKNOWN: it did not answer.
 * NATS_CLIENT_UNSENT: this host is not connected. */
typedef void bus_on_answer(void *ctx, enum nats_client_result result, struct str body);
/* on_answer is called once, never before this returns; when the bus is freed, too. */
void bus_ask(struct bus *b, const char *host, const char *verb, struct str body,
             bus_on_answer *on_answer, void *ctx);
/* Appends, as a sentence for a person, why a host did not answer. */
void bus_describe_failure(struct buf *out, enum nats_client_result result, const char *host);

/* One host that is there. */
struct bus_host {
    const char *name, *version;
    const char *leads;  /* JSON array with the names of the instances that it leads */
    const char *roles;  /* JSON array; "[]": it is an older host, which does not say */
    const char *agents; /* JSON object: agents that it runs for others, with "free" and "max" */
    bool is_own;
    bool is_draining;
    int64_t since_ms; /* Unix: its start */
};
/* Calls `each` for every host that is there, then `done`; failed: the servers did not answer. */
void bus_list_hosts(struct bus *b, void (*each)(void *ctx, const struct bus_host *host),
                    void (*done)(void *ctx, bool failed), void *ctx);

#endif
