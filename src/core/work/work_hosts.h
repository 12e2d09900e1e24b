/* SPDX-License-Identifier: MIT
 * Which hosts are there, and for how long one has not been: looks at their leases every few seconds
 * while this host is connected. A break of the own connection begins all counts anew, so no host is
 * taken for gone by one that is gone itself. Loop thread only. */
#ifndef CORE_WORK_WORK_HOSTS_H
#define CORE_WORK_WORK_HOSTS_H

#include "core/bus/bus.h"

struct work_hosts;

/* Looks for as long as it has listeners. Ends before the bus, and after its listeners. */
struct work_hosts *work_hosts_new(struct bus *b);
void work_hosts_free(struct work_hosts *h); /* NULL is fine */

struct work_hosts_listener;

/* `looked` is called after each look, in the order of the calls of this function. */
struct work_hosts_listener *work_hosts_listen(struct work_hosts *h, void (*looked)(void *ctx),
                                              void *ctx);
void work_hosts_listener_free(struct work_hosts_listener *l); /* NULL is fine */

/* Other hosts that have been there since. */
size_t work_hosts_count_others(const struct work_hosts *h);
/* How long it has not been there, in milliseconds of the own connection; 0: it is there, or it is
 * not known yet. */
int64_t work_hosts_absent_ms(const struct work_hosts *h, const char *host);
/* It has begun another life than `boot`, as a look has found that began after since_ms
 * (monotonic). */
bool work_hosts_has_restarted(const struct work_hosts *h, const char *host, const char *boot,
                              int64_t since_ms);
/* It takes no turns now, as the last look at it has found. */
bool work_hosts_is_draining(const struct work_hosts *h, const char *host);
/* That look began before since_ms (monotonic). */
bool work_hosts_is_older(const struct work_hosts *h, const char *host, int64_t since_ms);
/* Looks now, or as soon as the look that is under way is complete. */
void work_hosts_look_again(struct work_hosts *h);

#endif
