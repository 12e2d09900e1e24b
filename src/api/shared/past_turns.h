/* SPDX-License-Identifier: MIT
 * Turns that are over and that the turn log no longer has, because the host was restarted or
 * because there were too many: looked up in the journal. Loop thread only. */
#ifndef API_SHARED_PAST_TURNS_H
#define API_SHARED_PAST_TURNS_H

#include "api/shared/auth.h"
#include "base/bytes/buf.h"
#include "event/event.h"
#include "io/journal/journal_types.h"

struct api_context;
struct past;

/* Borrows the api until past_turns_free. */
struct past *past_turns_new(struct api_context *a);
/* Before the server is freed; lookups that are under way find nothing. NULL is fine. */
void past_turns_free(struct past *p);

/* Called once, from the loop, never within past_turns_find. `turn` is valid for the call; NULL:
 * there is no such turn, `who` may not see it, or it has not ended. */
typedef void past_found(void *ctx, const struct journal_turn *turn);
void past_turns_find(struct past *p, const char *turn, const struct auth_principal *who,
                     past_found *found, void *ctx);

/* Appends the turn as turn_api_append_json does, with its answer or error, and its usage. */
void past_turns_add(struct buf *out, const struct journal_turn *t);

/* Tells the turn as the events that it consists of for a client that only wants to know how it
 * ended: start{resumed}, usage, then final or error, and done. */
void past_turns_tell(const struct journal_turn *t, void (*tell)(void *ctx, const struct event *ev),
                     void *ctx);

#endif
