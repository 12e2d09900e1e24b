/* SPDX-License-Identifier: MIT
 * Internal interface between the files of a connector instance. Loop thread only. */
#ifndef CORE_CONNECTOR_CONNECTOR_INTERNAL_H
#define CORE_CONNECTOR_CONNECTOR_INTERNAL_H

#include <sys/queue.h>

#include "base/bytes/buf.h"
#include "core/connector/connector_instance.h"
#include "plugin/outbox/outbox.h"

/* A turn that was opened before connector_resume_deliveries. */
struct connector_early_turn {
    struct connector_early_turn *next;
    void *handle;    /* handle of the channel */
    bool is_decided; /* its outcome is held back */
    char id[];
};

struct connector_instance {
    char *name;
    bool delivers; /* TC_DELIVERS: it reports itself when an outcome is processed */
    struct channel *channel;
    char *dir;             /* own directory; NULL: none */
    struct outbox *outbox; /* NULL: there is no HTTP client */
    struct connector_services services;
    struct conf_option *options; /* resolved, for requests; ends with a NULL key */
    struct arena arena;          /* owns the options and the paths */
    size_t turns;                /* unfinished turns */
    bool resumed;                /* connector_resume_deliveries was called */
    bool is_led;                 /* connector_instance_is_led */
    bool is_silent;              /* connector_instance_silence was called */
    struct connector_early_turn *early;
    bool holds_outcomes;            /* outcomes of early turns are held back */
    STAILQ_HEAD(, held_event) held; /* events that are held back */
    size_t held_bytes;
    size_t owed;                /* redeliveries that precede the events held back */
    void (*changed)(void *ctx); /* or NULL */
    void *changed_ctx;
    struct connector_route *routes;
    struct connector_socket *sockets;
    struct redelivery *redeliveries;
};

/* The text of an option, or of the element NAME=… of a list as LIST.NAME; or NULL. */
const char *connector_find_option(void *instance, const char *name);

/* connector_route.c: functions of channel_host, with the instance as ctx. */
void connector_route_add(void *instance, const char *path);
/* The instance ends: forwards nothing more. */
void connector_routes_fini(struct connector_instance *r);

/* connector_socket.c: the same for websockets. */
void connector_socket_open(void *instance, int64_t number, const struct tc_socket *spec);
void connector_socket_send(void *instance, int64_t number, struct str message, bool is_binary);
void connector_socket_close(void *instance, int64_t number);
void connector_sockets_fini(struct connector_instance *r);

/* connector_instance.c: whether it may contact its service now. */
bool connector_may_act(void *instance);

/* early_turns.c: call init before all others. */
void early_turns_init(struct connector_instance *r);
void early_turns_fini(struct connector_instance *r);
void early_turns_add(struct connector_instance *r, const char *id, void *handle);
/* Whether the turn was opened before connector_resume_deliveries. */
bool early_turns_have(const struct connector_instance *r, const char *turn);
/* Sends what was held back, and holds nothing back any more. */
void early_turns_release(struct connector_instance *r);

/* redelivery.c: finds outcomes to deliver again (only that row, if not 0; only that turn, if not
 * NULL); then calls the outbox's start; then delivers them. */
void redelivery_load(struct connector_instance *r, int64_t only, const char *turn);
void redelivery_start(struct connector_instance *r);
/* Opens a turn from before a restart, with the journal's data. */
void *redelivery_open_turn(void *instance, const struct channel_turn *turn);
void redelivery_fini(struct connector_instance *r);
/* Appends the journal's data of the turn for this instance. */
void redelivery_recall(const struct connector_instance *r, const char *turn, struct buf *memory);

#endif
