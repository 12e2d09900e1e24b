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
/* Now, and from time to time while a turn of another host is awaited. */
void remote_waits_tell(struct remote_waits *w);

#endif
