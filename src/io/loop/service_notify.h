/* SPDX-License-Identifier: MIT
 * What a service manager is told (sd_notify(3)): one datagram each to $NOTIFY_SOCKET, and, while
 * the loop goes round, that it does ($WATCHDOG_USEC). Without these nothing is. Loop thread only.
 */
#ifndef IO_LOOP_SERVICE_NOTIFY_H
#define IO_LOOP_SERVICE_NOTIFY_H

#include <stdint.h>

#include "io/loop/loop.h"

struct notify;

struct notify *notify_new(struct loop *l);
void notify_free(struct notify *n); /* NULL is fine; before the loop */
/* It serves; `status` is for people. */
void notify_ready(struct notify *n, const char *status);
/* Until notify_ready. */
void notify_reloading(struct notify *n);
/* It ends, and may take that long. */
void notify_stopping(struct notify *n, int64_t ms);

#endif
