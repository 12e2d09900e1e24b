/* SPDX-License-Identifier: MIT
 * Routes for open requests: list them, and answer one once; a late answer gets the earlier
 * decision and who made it. Loop thread only. */
#ifndef API_TURNS_REQUEST_API_H
#define API_TURNS_REQUEST_API_H

#include <jansson.h>

#include "api/shared/auth.h"
#include "base/bytes/buf.h"
#include "core/request/request_registry.h"
#include "core/turnlog/turnlog.h"
#include "event/event.h"

struct api_context;

/* Adapts a request event to the principal: *told has only the choices that it may make. False: the
 * event needs no change, and *told is not set. Borrows from the event. */
bool request_api_adapt_event(const struct request_registry *r, const struct auth_principal *p,
                             const char *turn, const struct event *ev, struct event *told);
/* Appends the member "requests" with the open requests that the principal may see, if any. */
void request_api_append_turn(struct buf *out, const struct request_registry *r,
                             const struct turnlog_turn *t, const struct auth_principal *p);
/* The open request of a turn; false: not open. Borrowed until control returns to the loop. */
bool request_api_find(const struct request_registry *r, const char *turn, const char *request,
                      struct request_view *found);

/* A decision of a client; each member except the choice may be NULL. */
struct request_api_decision {
    const char *choice, *text; /* borrowed from the parsed body */
    char *answers, *args;      /* JSON objects */
};
/* Parses {"choice", "reason", "answers", "input"}. NULL, or why it is invalid. Free it in both
 * cases. */
const char *request_api_parse_decision(struct request_api_decision *d, const json_t *body);
void request_api_decision_fini(struct request_api_decision *d);

enum request_api_status {
    ASKED_DONE, /* the decision counts, or repeats an earlier one */
    ASKED_LATE, /* `decision` and `by` have the earlier decision, if known */
    ASKED_UNKNOWN,
    ASKED_WRONG,  /* the decision is invalid */
    ASKED_BARRED, /* not permitted here (`to`), or not for the person who asked for the turn
                   * (four_eyes) */
};
struct request_api_result {
    enum request_api_status came;
    struct buf decision, by; /* decision: allow deny answered cancelled timeout; by: its author */
    struct buf text;         /* for people */
};
void request_api_outcome_fini(struct request_api_result *out);

/* request_api_decide decides; request_api_check only reports whether the decision would count
 * (ASKED_DONE). */
void request_api_decide(const struct api_context *a, const struct auth_principal *p,
                        const char *turn, const char *request, const struct request_api_decision *d,
                        struct request_api_result *out);
void request_api_check(const struct api_context *a, const struct auth_principal *p,
                       const char *turn, const char *request, const struct request_api_decision *d,
                       struct request_api_result *out);

/* POST /turns/ID/requests/REQUEST */
void request_api_handle_answer(struct api_context *a, struct httpd_request *r);
/* GET /requests */
void request_api_add_routes(struct api_context *a);

#endif
