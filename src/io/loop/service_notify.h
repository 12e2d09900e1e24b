/* SPDX-License-Identifier: MIT
 * What a service manager is told (sd_notify(3)): one datagram each to $NOTIFY_SOCKET, and, while
 * the loop goes round, that it does ($WATCHDOG_USEC). Without these nothing is. Loop thread only.
 */
#ifndef IO_LOOP_SERVICE_NOTIFY_H
#define IO_LOOP_SERVICE_NOTIFY_H

#include <stdint.h>

#include "io/loop/loop.h"

struct service_notify;

struct service_notify *service_notify_new(struct loop *l);
void service_notify_free(struct service_notify *n); /* NULL is fine; before the loop */
/* It serves; `status` is for people. */
void service_notify_ready(struct service_notify *n, const char *status);
/* Until service_notify_ready. */
void service_notify_reloading(struct service_notify *n);
/* It ends, and may take that long. */
void service_notify_stopping(struct service_notify *n, int64_t ms);

#endif
