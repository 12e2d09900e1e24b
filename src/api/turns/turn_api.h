/* SPDX-License-Identifier: MIT
 * Routes /turns: list, show, start and cancel turns, and who may see one. */
#ifndef API_TURNS_TURN_API_H
#define API_TURNS_TURN_API_H

#include "api/shared/auth.h"
#include "base/bytes/buf.h"
#include "core/conversation/turn_scheduler.h"
#include "core/request/request_registry.h"
#include "core/turnlog/turnlog.h"

struct api_context;
struct journal_turn;

/* Appends {"id", "agent", …}, with what it asks people. */
void turn_api_append_json(struct buf *out, const struct turnlog_turn *t,
                          const struct request_registry *requests, const struct auth_principal *p);
/* Answers with the turn, and with its outcome when it is over. */
void turn_api_answer(const struct api_context *a, struct httpd_request *r, int status,
                     const struct turnlog_turn *t, const struct auth_principal *p);
/* Answers the httpd_request ctx with a turn of the journal; NULL: it is not known. */
void turn_api_answer_past(void *ctx, const struct journal_turn *turn);
/* Ends the turn of this host, or the work of its agent behind it. False: there is nothing to end.
 */
bool turn_api_stop(struct turn_scheduler *all, const struct turnlog_turn *t);
/* Whether the client may see the turn: its own, or any with the grant. */
bool turn_api_can_see(const struct auth_principal *p, const struct turnlog_turn *t);
/* The turn of a path "/turns/ID[/tail]" for that principal; NULL: there is none it may see, and
 * that was answered. */
const struct turnlog_turn *turn_api_find_turn(const struct turnlog *log, struct httpd_request *r,
                                              const struct auth_principal *p);
/* Answers that no turn was begun, which turn_scheduler_submit told so. */
void turn_api_send_refusal(struct httpd_request *r, const struct conversations_result *why);
/* Whether the turn waited and was removed because the host ends; its client may send it again. */
bool turn_api_is_dismissed(const struct api_context *a, const struct turnlog_turn *t);
#define TURNS_DISMISSED                                                                            \
    "turncast is shutting down and did not start this turn; send the request again after the "     \
    "restart."

#endif
