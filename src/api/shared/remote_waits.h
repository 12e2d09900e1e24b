/* SPDX-License-Identifier: MIT
 * Tells the hosts of turns that clients of this host await them, so that a turn whose client has
 * come back to another host is not cancelled as abandoned. Loop thread only. */
#ifndef API_SHARED_REMOTE_WAITS_H
#define API_SHARED_REMOTE_WAITS_H

struct api_context;
struct remote_waits;

/* Also takes what other hosts tell. NULL: there is no bus. */
struct remote_waits *remote_waits_new(struct api_context *a);
void remote_waits_free(struct remote_waits *w); /* NULL is fine */
/* A client awaits that turn from now on: its host is told now, and from time to time for as long as
 * event_stream_each_awaited has it. Nothing for a turn of this host. */
void remote_waits_tell(struct remote_waits *w, const char *turn);

#endif
