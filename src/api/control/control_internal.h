/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the control socket. */
#ifndef API_CONTROL_CONTROL_INTERNAL_H
#define API_CONTROL_CONTROL_INTERNAL_H

#include "api/control/control.h"
#include "base/bytes/buf.h"
#include "core/bus/bus.h"
#include "io/http/server/httpd.h"

#define CONTROL_APPROVALS "/approvals/"

struct control {
    struct host *server;
    struct httpd *httpd;
    int64_t began_ms;
    unsigned asking; /* for lookups and changes in the journal */
    bool gone;       /* struct is kept until all counted requests are freed */
};

/* Call it when a counted request has been answered. */
void control_on_reply_sent(struct control *c);

/* control_status.c: GET /status, and the same request from other hosts */
void control_handle_status(void *control, struct httpd_request *r);
void control_status_serve(void *control, struct bus_call *call, struct str body);
#define CONTROL_STATUS_VERB "status"
/* `done` receives the state of this host as a JSON object, once; NULL: the host is shutting
 * down. */
typedef void control_status_done(void *ctx, struct buf *state);
void control_status_make(struct control *c, control_status_done *done, void *ctx);
/* control_approvals.c: revokes remembered approvals */
void control_handle_approvals(void *control, struct httpd_request *r);

/* control_pairing.c: GET and POST /pairing */
void control_handle_pairing(void *control, struct httpd_request *r);

/* control_hosts.c: GET /hosts, optionally with the state of each host; the member "bus" of the
 * status */
void control_handle_hosts(void *control, struct httpd_request *r);
void control_handle_status_of_all(void *control, struct httpd_request *r);
void control_append_bus(struct buf *out, const struct bus *bus);

/* control_drain.c: POST /drain */
void control_handle_drain(void *control, struct httpd_request *r);
/* Appends why a host has not replied. */
void control_describe_silence(struct buf *out, const char *host, enum nats_client_result result);

/* control_move.c: POST /move */
void control_handle_move(void *control, struct httpd_request *r);

/* control_handle_requests.c: GET and POST /requests */
void control_handle_requests(void *control, struct httpd_request *r);
/* Number of open requests. */
int64_t control_count_requests(const struct control *c);

#endif
