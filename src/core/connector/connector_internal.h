/* SPDX-License-Identifier: MIT
 * A runner between its files: connector_instance.c (its life, its post), connector_route.c
 * (routes), connector_socket.c, redelivery.c (outcomes of an earlier host). */
#ifndef CORE_CONNECTOR_CONNECTOR_INTERNAL_H
#define CORE_CONNECTOR_CONNECTOR_INTERNAL_H

#include "base/bytes/buf.h"
#include "core/connector/connector_instance.h"
#include "plugin/outbox/outbox.h"

/* A turn that was opened before runner_resume. */
struct runner_early {
    struct runner_early *next;
    void *handle; /* of the channel */
    char id[];
};

struct runner {
    char *name;
    bool delivers; /* TC_DELIVERS: it says itself when it has dealt with an outcome */
    struct channel *channel;
    char *dir;         /* its own; NULL: there is none */
    struct post *post; /* NULL: there is no HTTP client */
    struct services services;
    struct conf_pair *options; /* resolved, for requests; ends with a NULL key */
    struct arena arena;        /* of the options and the paths */
    size_t turns;              /* that it has not seen to their end */
    bool resumed;              /* runner_resume was called */
    struct runner_early *early;
    void (*changed)(void *ctx); /* or NULL */
    void *changed_ctx;
    struct route *routes;
    struct socket *sockets;
    struct recast *recasts;
};

/* The text of an option, or NULL. */
const char *runner_option(void *runner, const char *name);

/* connector_route.c: of channel_host, with the runner as ctx. */
void web_route(void *runner, const char *path);
/* The runner ends: nothing comes to it any more. */
void web_fini(struct runner *r);

/* connector_socket.c: the same. */
void socket_open(void *runner, int64_t number, const struct tc_socket *spec);
void socket_send(void *runner, int64_t number, struct str text);
void socket_close(void *runner, int64_t number);
void socket_fini(struct runner *r);

/* connector_instance.c: it was opened before runner_resume. */
bool runner_is_early(const struct runner *r, const char *turn);

/* redelivery.c: finds what is to be cast again (that row alone, if it is not 0); then the post may
 * begin; then it is cast. */
void recast_load(struct runner *r, int64_t only);
void recast_begin(struct runner *r);
/* Opens a turn of an earlier host, with what the ledger knows of it. */
void *recast_open(void *runner, const struct channel_turn *turn);
void recast_fini(struct runner *r);
/* Appends what the ledger has of the turn for this instance. */
void recast_recall(const struct runner *r, const char *turn, struct buf *memory);

#endif
