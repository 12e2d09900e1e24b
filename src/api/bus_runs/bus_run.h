/* SPDX-License-Identifier: MIT
 * One run that was asked for through the bus: carries the events of its route to the reply subject
 * of its client, in order, and no faster than the connection takes them. Loop thread only.
 *
 * It ends with the last event; when the server says that nobody listens to the reply subject, which
 * is the same as a client of the HTTP API that leaves; or when the connection is lost: what was
 * sent last may then not have arrived, so it tells nothing more but an error, once the connection
 * is back. */
#ifndef API_BUS_RUNS_BUS_RUN_H
#define API_BUS_RUNS_BUS_RUN_H

#include <sys/queue.h>

#include "api/bus_runs/bus_run_message.h"
#include "io/http/server/httpd.h"
#include "io/loop/loop.h"
#include "io/nats/nats_client.h"

#define BUS_RUN_LOST_MS 200 /* how often it is looked whether there is a connection again */

struct bus_run;
LIST_HEAD(bus_run_list, bus_run);

struct bus_run_spec {
    const struct bus_run_protocol *protocol;
    struct nats_client *client;
    struct httpd *httpd;
    struct bus_run_list *list; /* that it is in until it is freed or abandoned */
    struct loop_timer *lost;   /* set when a run has lost the connection: bus_run_tell_lost */
    const char *reply;         /* subject of the events */
    const char *inbox;         /* what stands before the id in the reply subject of its events */
    const char *host;          /* name of this host; outlives the run */
    const char *key;           /* on whose behalf */
    const char *path;          /* of the route, and what it is asked with */
    struct str body;
    uint64_t id;
};

/* Begins a run, which frees itself. Copies the texts, except the name of the host. */
void bus_run_begin(const struct bus_run_spec *spec);
/* NULL: there is none. */
struct bus_run *bus_run_find(const struct bus_run_list *list, uint64_t id);
/* Number of runs that are not over. */
size_t bus_run_count(const struct bus_run_list *list);
/* To be called when the client of the run has left. */
void bus_run_leave(struct bus_run *run);
/* The connection was lost. */
void bus_run_lose_all(struct bus_run_list *list);
/* Tells those that have lost the connection, when it is back. */
void bus_run_tell_lost(struct bus_run_list *list);
bool bus_run_is_any_lost(const struct bus_run_list *list);
/* The API ends: what was given to the connection is still sent. */
void bus_run_abandon_all(struct bus_run_list *list);

/* Publishes an error to the client of a run that was not begun. Errors of the connection are
 * ignored. */
void bus_run_refuse(struct nats_client *client, const struct bus_run_protocol *protocol,
                    const char *reply, const char *code, const char *message);

#endif
