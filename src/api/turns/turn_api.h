/* SPDX-License-Identifier: MIT
 * A turn as the API tells it, and who may see it. */
#ifndef API_TURNS_TURN_API_H
#define API_TURNS_TURN_API_H

#include "api/shared/auth.h"
#include "base/bytes/buf.h"
#include "core/conversation/turn_scheduler.h"
#include "core/request/request_registry.h"
#include "core/turnlog/turnlog.h"

struct api;

/* Appends {"id", "agent", …}, with what it asks people. */
void turns_add(struct buf *out, const struct turnlog_turn *t, const struct requests *requests,
               const struct principal *p);
/* Its own, or any with the grant. */
bool turns_may_see(const struct principal *p, const struct turnlog_turn *t);
/* The turn of a path "/turns/ID[/tail]" for that principal; NULL: there is none it may see, and
 * that was answered. */
const struct turnlog_turn *turns_take(const struct turnlog *log, struct httpd_request *r,
                                      const struct principal *p);
/* Answers that no turn was begun, which conversations_submit told so. */
void turns_refuse(struct httpd_request *r, const struct conversations_result *why);
/* It waited, and was removed because the host ends; its client may send it again. */
bool turns_is_dismissed(const struct api *a, const struct turnlog_turn *t);
#define TURNS_DISMISSED                                                                            \
    "The host is shutting down and did not begin this turn; send the request again when it has "   \
    "restarted."

#endif
