/* SPDX-License-Identifier: MIT
 * Notifications to a service manager (sd_notify(3)): one datagram each to $NOTIFY_SOCKET, and
 * a watchdog ping while the loop runs ($WATCHDOG_USEC). Without these variables it does nothing.
 * Loop thread only. */
#ifndef IO_LOOP_SERVICE_NOTIFY_H
#define IO_LOOP_SERVICE_NOTIFY_H

#include <stdint.h>

#include "io/loop/loop.h"

struct service_notify;

struct service_notify *service_notify_new(struct loop *l);
void service_notify_free(struct service_notify *n); /* NULL is allowed; free it before the loop */
/* Reports that the host is ready; `status` is a text for people. */
void service_notify_ready(struct service_notify *n, const char *status);
/* Reports a reload, until service_notify_ready. */
void service_notify_reloading(struct service_notify *n);
/* Reports the shutdown, which may take `ms` milliseconds. */
void service_notify_stopping(struct service_notify *n, int64_t ms);

#endif
