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

/* A request as the principal is told it: the event with what it may choose. False: it is that of
 * everybody, or no request; *told is not set. Borrows from the event. */
bool request_api_tell(const struct request_registry *r, const struct auth_principal *p,
                      const char *turn, const struct event *ev, struct event *told);
/* Appends the member "requests", when the turn waits for people, as the principal may see it. */
void request_api_append_turn(struct buf *out, const struct request_registry *r,
                             const struct turnlog_turn *t, const struct auth_principal *p);
/* The open request of a turn; false: there is none. Borrowed until the loop goes on. */
bool request_api_find(const struct request_registry *r, const char *turn, const char *request,
                      struct request_view *found);

/* A decision of a client; all members but the choice may be NULL. */
struct request_api_decision {
    const char *choice, *text; /* borrowed from what it was read from */
    char *answers, *args;      /* JSON objects */
};
/* {"choice", "reason", "answers", "input"}. NULL, or why it is none. To be freed either way. */
const char *request_api_parse_decision(struct request_api_decision *d, const json_t *body);
void request_api_decision_fini(struct request_api_decision *d);

enum request_api_status {
    ASKED_DONE, /* it counts; or the same one decided the same before */
    ASKED_LATE, /* decision and by tell what was decided, when that is known */
    ASKED_UNKNOWN,
    ASKED_WRONG,  /* no valid decision */
    ASKED_BARRED, /* it is asked elsewhere (`to`), or who asked for the turn may not allow it */
};
struct request_api_result {
    enum request_api_status came;
    struct buf decision, by; /* allow deny answered cancelled timeout; who */
    struct buf text;         /* for people */
};
void request_api_outcome_fini(struct request_api_result *out);

/* Decides; checks: only says whether it would count (ASKED_DONE). */
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
