/* SPDX-License-Identifier: MIT
 * Turns of other hosts of the bus, for the routes of this one: what is asked of such a turn goes to
 * its host and is answered from there. Serves the same to other hosts. Loop thread only. */
#ifndef API_TURNS_REMOTE_TURNS_H
#define API_TURNS_REMOTE_TURNS_H

#include <jansson.h>

#include "api/shared/auth.h"
#include "api/turns/request_api.h"
#include "core/turnlog/turnlog.h"
#include "io/http/server/httpd.h"

struct api_context;
struct bus;

/* Answers requests of other hosts for turns of this one. Nothing without a bus. */
void remote_turns_serve(struct api_context *a);
/* Cancels the turn t on its host, and answers r. */
void remote_turns_cancel(const struct api_context *a, struct httpd_request *r,
                         const struct turnlog_turn *t, const struct auth_principal *p);
/* Answers r with the turn t, which is over, when its events have been fetched. */
void remote_turns_fetch(struct api_context *a, struct httpd_request *r,
                        const struct turnlog_turn *t, const struct auth_principal *p);
/* Sends the result of a decision to its client. */
typedef void remote_turns_answer(struct httpd_request *r, const struct request_api_result *out);
/* Takes a decision to the host of the turn t. user: the operator's name; NULL: p decides. */
void remote_turns_decide(struct bus *bus, struct httpd_request *r, const struct turnlog_turn *t,
                         const char *request, const struct auth_principal *p, const char *user,
                         const struct request_api_decision *d, remote_turns_answer *answer);
/* Appends the open requests of such a turn as members of a list, without choices that p may not
 * make; begins with a comma if n > 0. Returns n with those that were appended. */
size_t remote_turns_append_requests(struct buf *out, const struct turnlog_turn *t,
                                    const struct auth_principal *p, size_t n);

#endif
