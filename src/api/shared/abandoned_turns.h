/* SPDX-License-Identifier: MIT
 * Turns whose last client has left: each is cancelled when http.disconnect_grace_s have passed and
 * nobody awaits it again, unless http.on_disconnect is "continue". A client that waited too short
 * and sends its request again so joins the turn that runs. Loop thread only. */
#ifndef API_SHARED_ABANDONED_TURNS_H
#define API_SHARED_ABANDONED_TURNS_H

#include <stdint.h>

struct api_context;
struct abandoned;

struct abandoned *abandoned_turns_new(struct api_context *a);
/* Turns that are in their time of grace are left alone. NULL is fine. */
void abandoned_turns_free(struct abandoned *list);
/* The last client that awaits the turn may have left just now. */
void abandoned_turns_note(struct abandoned *list, const char *turn);

/* A client of another host of the bus awaits it for so long, and may say so again. */
void abandoned_turns_hold(struct abandoned *list, const char *turn, int64_t ms);

#endif
