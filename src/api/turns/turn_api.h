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

/* Appends {"id", "agent", …} and the open requests. */
void turn_api_append_json(struct buf *out, const struct turnlog_turn *t,
                          const struct request_registry *requests, const struct auth_principal *p);
/* Answers with the turn, and with its outcome if it has ended. */
void turn_api_answer(const struct api_context *a, struct httpd_request *r, int status,
                     const struct turnlog_turn *t, const struct auth_principal *p);
/* Answers the httpd_request ctx with a turn of the journal; NULL: unknown turn. */
void turn_api_answer_past(void *ctx, const struct journal_turn *turn);
/* Cancels the turn of this host, or the background work of its agent. False: nothing to cancel. */
bool turn_api_stop(struct turn_scheduler *all, const struct turnlog_turn *t);
/* Whether the client may see the turn: its own turn, or any with the grant. */
bool turn_api_can_see(const struct auth_principal *p, const struct turnlog_turn *t);
/* The turn of a path "/turns/ID[/tail]"; NULL: unknown or not visible to the principal, and an
 * error was sent. */
const struct turnlog_turn *turn_api_find_turn(const struct turnlog *log, struct httpd_request *r,
                                              const struct auth_principal *p);
/* Answers with the reason why turn_scheduler_submit refused the turn. */
void turn_api_send_refusal(struct httpd_request *r, const struct conversations_result *why);
/* Whether a queued turn was removed because the host shuts down; the client may send it again. */
bool turn_api_is_cancelled_by_shutdown(const struct api_context *a, const struct turnlog_turn *t);
#define TURNS_DISMISSED                                                                            \
    "turncast is shutting down and did not start this turn; send the request again after the "     \
    "restart."

#endif
