/* SPDX-License-Identifier: MIT
 * Messages of tirea's protocol for runs over NATS: what a client asks with, and what it is told.
 * Pure. */
#ifndef API_BUS_RUNS_BUS_RUN_MESSAGE_H
#define API_BUS_RUNS_BUS_RUN_MESSAGE_H

#include <jansson.h>

#include "base/bytes/buf.h"
#include "conf/conf.h"

/* One encoding of runs. */
struct bus_run_protocol {
    const char *subject; /* where they are asked for */
    /* Fills the path and the body of the request to the route of the HTTP API that takes such runs.
     * NULL, or why the message cannot be taken. */
    const char *(*read)(const json_t *message, struct buf *path, struct buf *body);
    /* Appends the event that says that a run has failed. */
    void (*error)(struct buf *out, const char *code, const char *message);
};

extern const struct bus_run_protocol bus_run_ag_ui, bus_run_ai_sdk;

/* The message as an object, owned; NULL with why. */
json_t *bus_run_message_parse(struct str data, struct buf *why);
/* Where the client wants the events: the message's own reply subject, else its replySubject; NULL:
 * it does not say. Borrowed. */
const char *bus_run_message_reply(const json_t *message, const char *reply);
/* Whether the configuration permits replies to that subject. */
bool bus_run_message_may_reply(const struct conf_bus_runs *conf, const char *subject);

/* The next event of server-sent events, which are complete, without its frame; comments are passed
 * over, and so is the mark [DONE]. False: there is none. */
bool bus_run_message_next(struct str *frames, struct str *event);
/* The event that tells an HTTP error response. */
void bus_run_message_error(struct buf *out, const struct bus_run_protocol *protocol,
                           struct str body);

#endif
