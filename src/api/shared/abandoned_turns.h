/* SPDX-License-Identifier: MIT
 * Turns whose last client has disconnected. Each is cancelled when http.disconnect_grace_s have
 * passed and no client waits for it again, unless http.on_disconnect is "continue". A client with a
 * short timeout that repeats its request thus rejoins the running turn. Loop thread only. */
#ifndef API_SHARED_ABANDONED_TURNS_H
#define API_SHARED_ABANDONED_TURNS_H

#include <stdint.h>

struct api_context;
struct abandoned;

struct abandoned *abandoned_turns_new(struct api_context *a);
/* Turns in their grace period are not cancelled. NULL is allowed. */
void abandoned_turns_free(struct abandoned *list);
/* Starts the grace period if no client waits for the turn any more. */
void abandoned_turns_record(struct abandoned *list, const char *turn);

/* A client of another host waits for the turn for this time; the other host may extend it. */
void abandoned_turns_extend(struct abandoned *list, const char *turn, int64_t ms);

#endif
