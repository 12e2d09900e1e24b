/* SPDX-License-Identifier: MIT
 * Ended turns that are no longer in the turn log (after a restart of the host, or dropped because
 * of their number): looked up in the journal. Loop thread only. */
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
/* Call it before the server is freed; pending lookups then find nothing. NULL is allowed. */
void past_turns_free(struct past *p);

/* Called once, from the loop, never from within past_turns_find. `turn` is valid during the call;
 * NULL: unknown, not permitted for `who`, or not ended. */
typedef void past_found(void *ctx, const struct journal_turn *turn);
void past_turns_find(struct past *p, const char *turn, const struct auth_principal *who,
                     past_found *found, void *ctx);

/* Appends the turn as turn_api_append_json does, with its answer or error, and its usage. */
void past_turns_add(struct buf *out, const struct journal_turn *t);

/* Writes the turn as events for a client that needs only the outcome: start{resumed}, usage, final
 * or error, done. */
void past_turns_emit_events(const struct journal_turn *t,
                            void (*tell)(void *ctx, const struct event *ev), void *ctx);

#endif
