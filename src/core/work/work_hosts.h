/* SPDX-License-Identifier: MIT
 * The hosts on the bus, and for how long one has been absent: reads their leases every few seconds
 * while this host is connected. A break of this host's connection restarts all counts, so a host
 * that was cut off does not count the others as absent. Loop thread only. */
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

/* Number of other hosts seen since the start. */
size_t work_hosts_count_others(const struct work_hosts *h);
/* Time for which the host has been absent while this host was connected; 0: it is present, or not
 * known yet. */
int64_t work_hosts_absent_ms(const struct work_hosts *h, const char *host);
/* A look that began after since_ms (monotonic) has found another boot of the host than `boot`. */
bool work_hosts_has_restarted(const struct work_hosts *h, const char *host, const char *boot,
                              int64_t since_ms);
/* The host began no new turns when its lease was read last. */
bool work_hosts_is_draining(const struct work_hosts *h, const char *host);
/* Its lease was read last by a look that began before since_ms (monotonic). */
bool work_hosts_is_older(const struct work_hosts *h, const char *host, int64_t since_ms);
/* Looks now, or as soon as the look that is under way is complete. */
void work_hosts_look_again(struct work_hosts *h);

#endif
