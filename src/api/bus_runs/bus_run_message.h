/* SPDX-License-Identifier: MIT
 * Messages of tirea's protocol for runs over NATS: requests of clients, and events for them.
 * Pure. */
#ifndef API_BUS_RUNS_BUS_RUN_MESSAGE_H
#define API_BUS_RUNS_BUS_RUN_MESSAGE_H

#include <jansson.h>

#include "base/bytes/buf.h"
#include "conf/conf.h"

/* One encoding of runs (AG-UI or AI SDK). */
struct bus_run_protocol {
    const char *subject; /* subject of requests */
    /* Builds path and body of the corresponding request to the HTTP API. NULL; otherwise why the
     * message is refused. */
    const char *(*read)(const json_t *message, struct buf *path, struct buf *body);
    /* Appends the event that reports a failed run. */
    void (*error)(struct buf *out, const char *code, const char *message);
};

extern const struct bus_run_protocol bus_run_ag_ui, bus_run_ai_sdk;

/* Parses the message as a JSON object, owned; NULL with why. */
json_t *bus_run_message_parse(struct str data, struct buf *why);
/* Subject for the events: the message's own reply subject, otherwise its member replySubject; NULL:
 * neither. Borrowed. */
const char *bus_run_message_reply(const json_t *message, const char *reply);
/* Whether the configuration permits replies to the subject. */
bool bus_run_message_may_reply(const struct conf_bus_runs *conf, const char *subject);

/* Returns the data of the next server-sent event, without its framing; skips comments and the mark
 * [DONE]. The events must be complete. False: no more events. */
bool bus_run_message_next(struct str *frames, struct str *event);
/* Appends the event for an HTTP error response. */
void bus_run_message_error(struct buf *out, const struct bus_run_protocol *protocol,
                           struct str body);

#endif
