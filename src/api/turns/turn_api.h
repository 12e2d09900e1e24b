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

/* Appends {"id", "agent", …}, with what it asks people. */
void turn_api_append_json(struct buf *out, const struct turnlog_turn *t,
                          const struct request_registry *requests, const struct auth_principal *p);
/* Its own, or any with the grant. */
bool turn_api_can_see(const struct auth_principal *p, const struct turnlog_turn *t);
/* The turn of a path "/turns/ID[/tail]" for that principal; NULL: there is none it may see, and
 * that was answered. */
const struct turnlog_turn *turn_api_find_turn(const struct turnlog *log, struct httpd_request *r,
                                              const struct auth_principal *p);
/* Answers that no turn was begun, which turn_scheduler_submit told so. */
void turn_api_send_refusal(struct httpd_request *r, const struct conversations_result *why);
/* It waited, and was removed because the host ends; its client may send it again. */
bool turn_api_is_dismissed(const struct api_context *a, const struct turnlog_turn *t);
#define TURNS_DISMISSED                                                                            \
    "turncast is shutting down and did not start this turn; send the request again after the "     \
    "restart."

#endif
