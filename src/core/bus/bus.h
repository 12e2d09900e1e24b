/* SPDX-License-Identifier: MIT
 * Bus: connects this host with others through NATS with JetStream. Publishes the turns of this
 * host, shows turns of other hosts in the turn log, and carries requests between hosts. A consumer
 * of the turn log like any other: no turn waits for it, and without servers the host works alone.
 * Loop thread only. */
#ifndef CORE_BUS_BUS_H
#define CORE_BUS_BUS_H

#include "base/attr.h"
#include "base/str.h"
#include "conf/conf.h"
#include "core/bus/bus_link.h"
#include "core/bus/bus_publisher.h"
#include "core/bus/bus_viewer.h"
#include "core/turnlog/turnlog.h"
#include "io/loop/loop.h"

struct bus;

struct bus_spec {
    struct loop *loop;
    const struct conf *conf; /* with a bus; borrowed until bus_new returns */
    struct turnlog *turnlog;
    bus_append_requests *requests;
    /* Appends members to this host's lease entry, beside name, version and instances. May be
     * NULL. */
    void (*describe)(void *ctx, struct buf *out);
    void *ctx; /* ctx of both callbacks */
    /* Another host has this host's name, which was detected at the start: this host must exit. */
    void (*name_taken)(void *ctx, const char *why);
    void *name_ctx;
};

/* Connects while the loop runs. NULL with err: libnats is missing. */
struct bus *bus_new(const struct bus_spec *spec, struct tc_err *err) MUST_CHECK;
void bus_free(struct bus *b); /* NULL is allowed */
/* Calls `done` when all events so far are published, or after at most a few seconds. */
void bus_drain(struct bus *b, void (*done)(void *ctx), void *ctx);

enum bus_state {
    BUS_DISCONNECTED,
    BUS_SETTING_UP, /* creating and checking streams */
    BUS_JOINING,    /* acquiring the lease of the host's name */
    BUS_ACTIVE,
    BUS_UNUSABLE, /* an operator must act; `why` has the reason. Setup is retried */
};
/* The members that `describe` appends have changed. */
void bus_renew(struct bus *b);
/* "disconnected", "setting up", … */
const char *bus_state_name(enum bus_state state);

struct bus_status {
    enum bus_state state;
    int64_t since_ms;   /* time in this state, monotonic */
    const char *host;   /* name of this host */
    const char *server; /* URL of the connected server; "" */
    const char *why;    /* why the bus is not active; "" */
    size_t waiting;     /* turns with unpublished events or state */
    int64_t oldest_ms;  /* longest time that a message has waited to be stored; 0: none waits */
    size_t followed;    /* turns of other hosts whose events are followed here */
    struct bus_counters counters;
};
/* Its texts are borrowed until control returns to the loop. */
struct bus_status bus_get_status(const struct bus *b);

/* ---- other uses of the connection */

/* Valid as long as the bus. */
struct nats_client *bus_get_client(struct bus *b);
/* `changed` is called when the connection is made or lost; NULL: no callback. Only one callback. */
void bus_watch_connection(struct bus *b, void (*changed)(void *ctx, bool connected), void *ctx);

/* ---- for parts that exchange work with other hosts. Free subscribers of the link before the
 * bus. */

/* As bus_viewer_set_unfinished. */
void bus_set_unfinished(struct bus *b, bus_found_unfinished *found, void *ctx);
struct bus_link *bus_get_link(struct bus *b);
struct bus_watcher;
/* Calls `active` whenever the bus becomes active (now, if it is active): messages may have been
 * missed or lost. */
struct bus_watcher *bus_watch(struct bus *b, void (*active)(void *ctx), void *ctx);
void bus_watcher_free(struct bus_watcher *w); /* NULL is allowed */
/* Publishes the events of turns of that log, which this host runs for others; `fenced`: another
 * publisher has taken over a turn. Call it once. Free the log after the bus. */
void bus_share_runs(struct bus *b, struct turnlog *runs, void (*fenced)(void *ctx, const char *run),
                    void *ctx);

/* ---- requests between hosts */

struct bus_call; /* a request of another host that waits for its reply */
typedef void bus_handler(void *ctx, struct bus_call *call, struct str body);
/* Passes requests of that kind to `handler`, which replies with bus_call_answer, now or later. The
 * verb is borrowed. */
void bus_serve(struct bus *b, const char *verb, bus_handler *handler, void *ctx);
/* Sends the reply and frees the call. */
void bus_call_answer(struct bus_call *call, struct str body);

/* result: NATS_CLIENT_NOBODY: the host is absent. NATS_CLIENT_UNKNOWN: no reply.
 * NATS_CLIENT_UNSENT: this host is not connected. */
typedef void bus_on_answer(void *ctx, enum nats_client_result result, struct str body);
/* on_answer is called once, never before this returns; also when the bus is freed. */
void bus_ask(struct bus *b, const char *host, const char *verb, struct str body,
             bus_on_answer *on_answer, void *ctx);
/* Appends a sentence for people on why a host did not reply. */
void bus_describe_failure(struct buf *out, enum nats_client_result result, const char *host);

/* A host that is present. */
struct bus_host {
    const char *name, *version;
    const char *leads;  /* JSON array: names of the instances that it leads */
    const char *roles;  /* JSON array; "[]" from an older host, which does not report them */
    const char *agents; /* JSON object: agents that it runs for others, with "free" and "max" */
    bool is_own;
    bool is_draining;
    int64_t since_ms; /* Unix time of its start */
};
/* Calls `each` for every present host, then `done`; failed: the servers did not reply. */
void bus_list_hosts(struct bus *b, void (*each)(void *ctx, const struct bus_host *host),
                    void (*done)(void *ctx, bool failed), void *ctx);

#endif
