/* SPDX-License-Identifier: MIT
 * A run that was requested over NATS: publishes the events of its route to the reply subject of its
 * client, in order, and no faster than the connection accepts them. Loop thread only.
 *
 * A run ends after the last event; when the server reports that nobody listens to the reply subject
 * (the equivalent of an HTTP client that disconnects); or when the connection is lost. The last
 * messages may then be lost, too, so the run sends only an error when the connection is back. */
#ifndef API_BUS_RUNS_BUS_RUN_H
#define API_BUS_RUNS_BUS_RUN_H

#include <sys/queue.h>

#include "api/bus_runs/bus_run_message.h"
#include "io/http/server/httpd.h"
#include "io/loop/loop.h"
#include "io/nats/nats_client.h"

#define BUS_RUN_LOST_MS 200 /* interval of checks for a restored connection */

struct bus_run;
LIST_HEAD(bus_run_list, bus_run);

struct bus_run_spec {
    const struct bus_run_protocol *protocol;
    struct nats_client *client;
    struct httpd *httpd;
    struct bus_run_list *list; /* list of runs; contains the run until it is freed or abandoned */
    struct loop_timer *lost; /* set when a run has lost the connection: call bus_run_report_lost */
    const char *reply;       /* subject of the events */
    const char *inbox;       /* prefix of the reply subjects of its events; the id follows */
    const char *host;        /* name of this host; outlives the run */
    const char *key;         /* principal of the run */
    const char *path;        /* path and body of the request to the route */
    struct str body;
    uint64_t id;
};

/* Starts a run, which frees itself. Copies the texts, except the name of the host. */
void bus_run_begin(const struct bus_run_spec *spec);
/* NULL: no such run. */
struct bus_run *bus_run_find(const struct bus_run_list *list, uint64_t id);
/* Number of unfinished runs. */
size_t bus_run_count(const struct bus_run_list *list);
/* To be called when the client of the run has left. */
void bus_run_detach(struct bus_run *run);
/* The connection was lost. */
void bus_run_mark_all_lost(struct bus_run_list *list);
/* Sends an error to the clients of runs that lost the connection, when it is back. */
void bus_run_report_lost(struct bus_run_list *list);
bool bus_run_has_any_lost(const struct bus_run_list *list);
/* The API shuts down: ends the runs; messages already given to the connection are still sent. */
void bus_run_abandon_all(struct bus_run_list *list);

/* Publishes an error to the client of a refused run. Errors of the connection are ignored. */
void bus_run_refuse(struct nats_client *client, const struct bus_run_protocol *protocol,
                    const char *reply, const char *code, const char *message);

#endif
