/* SPDX-License-Identifier: MIT
 * What agents ask people, over HTTP: the open requests as the API tells them, and what somebody who
 * may decides on one. Loop thread only. */
#ifndef API_TURNS_REQUEST_API_H
#define API_TURNS_REQUEST_API_H

#include <jansson.h>

#include "api/shared/auth.h"
#include "base/bytes/buf.h"
#include "core/request/request_registry.h"
#include "core/turnlog/turnlog.h"
#include "event/event.h"

struct api;

/* What somebody may choose: a JSON array, or NULL: nothing. It is no leave: each decision is
 * checked when it comes. `choices` is what the request offers (or NULL). */
const char *asked_choices(const struct requests *r, const struct principal *p, const char *turn,
                          const char *request, const char *choices);
/* A request as the principal is told it: the event with what it may choose. False: it is that of
 * everybody, or no request; *told is not set. Borrows from the event. */
bool asked_tell(const struct requests *r, const struct principal *p, const char *turn,
                const struct event *ev, struct event *told);
/* Appends one as an object, with these choices (or NULL). */
void asked_add_one(struct buf *out, const struct requests_view *v, const char *choices);
/* Appends the member "requests", when the turn waits for people, as the principal may see it. */
void asked_add(struct buf *out, const struct requests *r, const char *turn,
               const struct principal *p);
/* The open request of a turn; false: there is none. Borrowed until the loop goes on. */
bool asked_find(const struct requests *r, const char *turn, const char *request,
                struct requests_view *found);

/* What somebody decides; all but the choice may be NULL. */
struct asked_decision {
    const char *choice, *text; /* borrowed from what it was read from */
    char *answers, *args;      /* JSON objects */
};
/* {"choice", "reason", "answers", "input"}. NULL, or why it is none. To be freed either way. */
const char *asked_read(struct asked_decision *d, const json_t *body);
void asked_decision_fini(struct asked_decision *d);

enum asked_came {
    ASKED_DONE, /* it counts; or the same one decided the same before */
    ASKED_LATE, /* decision and by tell what was decided, when that is known */
    ASKED_UNKNOWN,
    ASKED_WRONG,  /* no valid decision */
    ASKED_BARRED, /* it is asked elsewhere (`to`), or who asked for the turn may not allow it */
};
struct asked_outcome {
    enum asked_came came;
    struct buf decision, by; /* allow deny answered cancelled timeout; who */
    struct buf text;         /* for people */
};
void asked_outcome_fini(struct asked_outcome *out);

/* Has it been decided already, and is that the decision? ASKED_DONE, ASKED_LATE, ASKED_UNKNOWN.
 * d NULL: no decision is the same. */
void asked_look(const struct api *a, const struct principal *p, const char *turn,
                const char *request, const struct asked_decision *d, struct asked_outcome *out);
/* Decides; checks: only says whether it would count (ASKED_DONE). */
void asked_decide(const struct api *a, const struct principal *p, const char *turn,
                  const char *request, const struct asked_decision *d, struct asked_outcome *out);
void asked_check(const struct api *a, const struct principal *p, const char *turn,
                 const char *request, const struct asked_decision *d, struct asked_outcome *out);

/* POST /turns/ID/requests/REQUEST */
void asked_answer(struct api *a, struct httpd_request *r);
/* GET /requests */
void asked_route(struct api *a);

#endif
