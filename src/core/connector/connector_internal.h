/* SPDX-License-Identifier: MIT
 * Internal interface between the files of a connector instance. Loop thread only. */
#ifndef CORE_CONNECTOR_CONNECTOR_INTERNAL_H
#define CORE_CONNECTOR_CONNECTOR_INTERNAL_H

#include "base/bytes/buf.h"
#include "core/connector/connector_instance.h"
#include "plugin/outbox/outbox.h"

/* A turn that was opened before connector_resume_deliveries. */
struct connector_early_turn {
    struct connector_early_turn *next;
    void *handle; /* of the channel */
    char id[];
};

struct connector_instance {
    char *name;
    bool delivers; /* TC_DELIVERS: it says itself when it has dealt with an outcome */
    struct channel *channel;
    char *dir;             /* its own; NULL: there is none */
    struct outbox *outbox; /* NULL: there is no HTTP client */
    struct connector_services services;
    struct conf_option *options; /* resolved, for requests; ends with a NULL key */
    struct arena arena;          /* of the options and the paths */
    size_t turns;                /* that it has not seen to their end */
    bool resumed;                /* connector_resume_deliveries was called */
    bool is_led;                 /* connector_instance_is_led */
    bool is_silent;              /* connector_instance_silence was called */
    struct connector_early_turn *early;
    void (*changed)(void *ctx); /* or NULL */
    void *changed_ctx;
    struct connector_route *routes;
    struct connector_socket *sockets;
    struct redelivery *redeliveries;
};

/* The text of an option, or of the element NAME=… of a list as LIST.NAME; or NULL. */
const char *connector_find_option(void *instance, const char *name);

/* connector_route.c: of channel_host, with the instance as ctx. */
void connector_route_add(void *instance, const char *path);
/* The instance ends: nothing comes to it any more. */
void connector_routes_fini(struct connector_instance *r);

/* connector_socket.c: the same. */
void connector_socket_open(void *instance, int64_t number, const struct tc_socket *spec);
void connector_socket_send(void *instance, int64_t number, struct str message, bool is_binary);
void connector_socket_close(void *instance, int64_t number);
void connector_sockets_fini(struct connector_instance *r);

/* connector_instance.c: it may speak to its service now. */
bool connector_may_act(void *instance);

/* connector_instance.c: it was opened before connector_resume_deliveries. */
bool connector_is_early(const struct connector_instance *r, const char *turn);

/* redelivery.c: finds what is to be cast again (that row alone, if it is not 0; of that turn alone,
 * if it is not NULL); then the outbox may begin; then it is cast. */
void redelivery_load(struct connector_instance *r, int64_t only, const char *turn);
void redelivery_start(struct connector_instance *r);
/* Opens a turn of an earlier host, with what the journal knows of it. */
void *redelivery_open_turn(void *instance, const struct channel_turn *turn);
void redelivery_fini(struct connector_instance *r);
/* Appends what the journal has of the turn for this instance. */
void redelivery_recall(const struct connector_instance *r, const char *turn, struct buf *memory);

#endif
