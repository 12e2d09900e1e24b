/* SPDX-License-Identifier: MIT
 * Informs the hosts of turns that clients of this host wait for them, so that a turn whose client
 * has moved to another host is not cancelled as abandoned. Loop thread only. */
#ifndef API_SHARED_REMOTE_WAITS_H
#define API_SHARED_REMOTE_WAITS_H

struct api_context;
struct remote_waits;

/* Also receives these requests from other hosts. NULL: no bus. */
struct remote_waits *remote_waits_new(struct api_context *a);
void remote_waits_free(struct remote_waits *w); /* NULL is allowed */
/* A client starts to wait for the turn: informs the host of the turn now, and repeatedly while
 * event_stream_visit_awaited reports the turn. No effect for a turn of this host. */
void remote_waits_send_update(struct remote_waits *w, const char *turn);

#endif
