/* SPDX-License-Identifier: MIT
 * Turns of other hosts, for the routes of this host: requests about such a turn are sent to its
 * host and answered with its reply. Serves the same requests of other hosts. Loop thread only. */
#ifndef API_TURNS_REMOTE_TURNS_H
#define API_TURNS_REMOTE_TURNS_H

#include <jansson.h>

#include "api/shared/auth.h"
#include "api/turns/request_api.h"
#include "core/turnlog/turnlog.h"
#include "io/http/server/httpd.h"

struct api_context;
struct bus;

/* Serves requests of other hosts about turns of this host. No effect without a bus. */
void remote_turns_serve(struct api_context *a);
/* Cancels the turn t on its host, and answers r. */
void remote_turns_cancel(const struct api_context *a, struct httpd_request *r,
                         const struct turnlog_turn *t, const struct auth_principal *p);
/* Answers r with the ended turn t, when its events have been fetched. */
void remote_turns_fetch(struct api_context *a, struct httpd_request *r,
                        const struct turnlog_turn *t, const struct auth_principal *p);
/* Sends the result of a decision to its client. */
typedef void remote_turns_answer(struct httpd_request *r, const struct request_api_result *out);
/* Sends a decision to the host of the turn t. user: the operator's name; NULL: p decides. */
void remote_turns_decide(struct bus *bus, struct httpd_request *r, const struct turnlog_turn *t,
                         const char *request, const struct auth_principal *p, const char *user,
                         const struct request_api_decision *d, remote_turns_answer *answer);
/* Appends the open requests of a remote turn as list elements, without choices that p may not make;
 * begins with a comma if n > 0. Returns n plus the number of appended requests. */
size_t remote_turns_append_requests(struct buf *out, const struct turnlog_turn *t,
                                    const struct auth_principal *p, size_t n);

#endif
